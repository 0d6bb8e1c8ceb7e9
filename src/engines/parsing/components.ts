import { MAX_WEIGHT, TARGET_WEIGHT } from "./chunks.ts";
import { layoutLevels, MAX_SYNTAX_LEVEL, syntaxLevels } from "./levels.ts";
import type { SourceText } from "./source-text.ts";
import type { SyntaxNode } from "./syntax-node.ts";

const SPACE = 32;
const NEWLINE = 10;

interface ComponentScripts {
  /** The file with everything except its scripts blanked; offsets and rows are unchanged. */
  units: Uint16Array;
  /** Cut levels: from the tree for scripts, from the layout for markup and styles. */
  levels(root: SyntaxNode): Uint8Array;
}

/** A Vue or Svelte component, as far as the script grammar can read it. */
export function scriptsOnly(source: SourceText): ComponentScripts {
  const units = source.codeUnits();
  const spans = scriptSpans(source.text);
  let from = 0;
  for (const { start, end } of [...spans, { start: units.length, end: units.length }]) {
    for (let at = from; at < start; at++) if (units[at] !== NEWLINE) units[at] = SPACE;
    from = end;
  }
  return {
    units,
    levels(root) {
      const levels = layoutLevels(source);
      const syntax = syntaxLevels(root, source, MAX_WEIGHT, TARGET_WEIGHT);
      for (const { start, end } of spans) {
        const first = source.rowAt(start) + 1;
        const last = source.rowAt(end);
        for (let row = first; row <= last; row++) {
          // Script lines are nested in their block: a level below the block's own edges.
          if (!source.isBlank(row)) levels[row] = Math.min(syntax[row]! + 2, Math.max(syntax[row]!, MAX_SYNTAX_LEVEL));
        }
      }
      return levels;
    },
  };
}

/** The text between `<script …>` and `</script`. Each search continues where the last one ended. */
function scriptSpans(text: string): { start: number; end: number }[] {
  const spans: { start: number; end: number }[] = [];
  const opening = /<script(?=[\s>])/gi;
  const closing = /<\/script(?=[\s>])/gi;
  for (let open = opening.exec(text); open !== null; open = opening.exec(text)) {
    const start = text.indexOf(">", opening.lastIndex) + 1;
    if (start === 0) break;
    closing.lastIndex = start;
    const close = closing.exec(text);
    if (close === null) break;
    spans.push({ start, end: close.index });
    opening.lastIndex = closing.lastIndex;
  }
  return spans;
}
