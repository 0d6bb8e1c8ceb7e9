import type { SourceText } from "../source-text.ts";
import type { Outline } from "../types.ts";
import { matched, OutlineBuilder } from "./outline-builder.ts";

/** How a named part begins, with its name, and what ends it: a line, or the end of its blocks; without either it reaches to the next part. */
const PARTS: readonly (readonly [begin: RegExp, end?: RegExp | "blocks"])[] = [
  // Jinja, Twig, Nunjucks, and dbt
  [
    /^\s*\{%[-+~]?\s*(?:macro|test|snapshot|materialization)\s+(\w+)/,
    /\{%[-+~]?\s*end(?:macro|test|snapshot|materialization)\b/,
  ],
  // Go and Helm
  [/^\s*\{\{-?\s*define\s+["`]([\w./-]{1,200})["`]/, "blocks"],
  // Handlebars
  [/^\s*\{\{#\*inline\s+["']([\w-]{1,200})["']/, /\{\{\/inline\b/],
  // FreeMarker
  [/^\s*<#(?:macro|function)\s+(\w+)/, /<\/#(?:macro|function)>/],
  // Velocity
  [/^\s*#macro\s*\(\s*(\w+)/, /^#end\b/],
  // Mako
  [/^\s*<%def\s+name="(\w+)/, /<\/%def>/],
  // Pug
  [/^mixin\s+([\w-]+)/],
  // templ
  [/^templ\s+(?:\([^)]{0,200}\)\s*)?(\w+)/, /^\}/],
  // ColdFusion
  [/^\s*<cffunction\s[^>]{0,300}?\bname\s{0,9}=\s{0,9}"(\w+)"/i, /<\/cffunction>/i],
];

/** Actions of Go's templates that open a block, and the one that closes it. */
const GO_ACTION = /\{\{-?\s{0,9}(if|range|with|block|define|end)\b/g;

/** How many blocks of Go's templates are open behind a line, of those that are before it. */
function openBehind(line: string, before: number): number {
  let open = before;
  for (const [, action] of line.matchAll(GO_ACTION)) {
    open += action === "end" ? -1 : 1;
    if (open === 0) break;
  }
  return open;
}

/** Adds the parts of a template that others call by a name: macros, definitions and mixins. */
export function addParts(builder: OutlineBuilder): void {
  const { source } = builder;
  let open: { row: number; name: string; end: RegExp | "blocks" | undefined } | undefined;
  let blocks = 0;
  const close = (row: number): void => {
    if (open) builder.add({ kind: "function", name: open.name, startRow: open.row, endRow: row });
    open = undefined;
  };
  for (let row = 0; row < source.lineCount; row++) {
    const line = matched(source.line(row));
    for (const [begin, end] of PARTS) {
      const name = begin.exec(line)?.[1];
      if (name === undefined) continue;
      close(row - 1);
      open = { row, name, end };
      blocks = 0;
      break;
    }
    if (open?.end === "blocks") blocks = openBehind(line, blocks);
    if (open?.end === "blocks" ? blocks === 0 : open?.end?.test(line)) close(row);
  }
  close(source.lineCount - 1);
}

/** As `addParts`, to the outline of a language that is a template now and then. */
export function withParts(builder: OutlineBuilder): Outline {
  if (/\{%|\{\{/.test(builder.source.text)) {
    addParts(builder);
    // None has a parent, so that their order says nothing else.
    builder.symbols.sort((a, b) => a.start - b.start);
  }
  return builder.finish();
}

/** Named parts of a template. */
export function templateOutline(source: SourceText): Outline {
  const builder = new OutlineBuilder(source);
  addParts(builder);
  for (const { startRow } of builder.symbols)
    builder.levels[startRow] = startRow > 0 && source.isBlank(startRow - 1) ? 1 : 2;
  return builder.finish();
}
