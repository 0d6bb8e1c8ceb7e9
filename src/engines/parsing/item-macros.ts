import type { RowRange } from "./pieces.ts";
import type { SourceText } from "./source-text.ts";
import { ERROR_TYPE_ID, type SyntaxTree } from "./syntax-node.ts";

/**
 * Macros of Rust around items, as in `cfg_rt! { pub fn spawn() {} }`. A grammar leaves what is given to a macro as tokens; without the lines
 * that begin and end the macro, its items are read like those around it.
 */

const SPACE = 32;
/** Longer lines begin no macro. */
const MAX_LINE = 300;
/** Macros within each other that are looked at. */
const MAX_NESTED = 20;

const HEAD = /^(?:[A-Za-z_]\w{0,60}::){0,4}[a-z_]\w{0,60}!\s{0,20}\{$/;
/** How an item begins. */
const ITEM =
  /^(?:pub(?:\([^()]{0,100}\))?\s+)?(?:(?:unsafe|async|const|default|extern(?:\s+"[^"]{0,20}")?)\s+)*(?:fn|struct|enum|union|trait|impl|mod|use|const|static|type)\b/;
/** An item of the macro `lazy_static`, to which the word `ref` belongs. */
const STATIC_REF = /^(\s{0,100}(?:pub(?:\([^()]{0,100}\))?\s+)?static\s+)ref\s/;
const BESIDE = /^(?:$|\/\/|\/\*|\*|#)/;

/** Rows of a macro's first and last line. */
export type ItemMacro = RowRange;

interface Open {
  row: number;
  indent: number;
  /** Undefined before its first line of code. */
  hasItems: boolean | undefined;
}

/** The macros that seem to hold items, in order of their last line. Recognised by lines and their indentation, as rustfmt leaves them. */
export function itemMacros(source: SourceText): ItemMacro[] {
  const found: ItemMacro[] = [];
  const open: Open[] = [];
  for (let row = 0; row < source.lineCount; row++) {
    const line = source.line(row);
    if (line.length > MAX_LINE) continue;
    const content = line.trim();
    if (BESIDE.test(content)) continue;
    const indent = line.length - line.trimStart().length;
    while (open.length > 0 && (open.at(-1)?.indent ?? 0) > indent) open.pop();
    const current = open.at(-1);
    if (content.startsWith("}") && current?.indent === indent) {
      open.pop();
      if (current.hasItems === true && content === "}") found.push({ from: current.row, to: row });
      // What holds only such macros holds items.
      const around = open.at(-1);
      if (around) around.hasItems ??= current.hasItems;
    } else if (content.endsWith("{") && HEAD.test(content)) {
      if (open.length < MAX_NESTED) open.push({ row, indent, hasItems: undefined });
    } else if (current) current.hasItems ??= ITEM.test(content);
  }
  return found;
}

/** Blanks the first and last lines of the macros, and words that are of the macro. */
export function withoutHeads(macros: readonly ItemMacro[], source: SourceText, units: Uint16Array): Uint16Array {
  const bare = units.slice();
  for (const { from, to } of macros) {
    for (const row of [from, to]) bare.fill(SPACE, source.lineStarts[row], source.contentEnd(row));
    for (let row = from + 1; row < to; row++) {
      const before = STATIC_REF.exec(source.line(row).slice(0, MAX_LINE))?.[1];
      if (before === undefined) continue;
      const start = (source.lineStarts[row] ?? 0) + before.length;
      bare.fill(SPACE, start, start + "ref".length);
    }
  }
  return bare;
}

/** Those without an error of the tree among their rows; none if its only errors are missing tokens, which have no node of their own. */
export function readMacros(macros: readonly ItemMacro[], tree: SyntaxTree): ItemMacro[] {
  const errors = tree.nodesOf([ERROR_TYPE_ID]);
  if (errors.length === 0) return [];
  return macros.filter(({ from, to }) => !errors.some(({ row, endRow }) => row <= to && endRow >= from));
}
