import { MAX_WEIGHT, TARGET_WEIGHT } from "./chunks.ts";
import { layoutLevels, MAX_SYNTAX_LEVEL, syntaxLevels } from "./levels.ts";
import type { SourceText } from "./source-text.ts";
import type { SyntaxNode } from "./syntax-node.ts";

const SCRIPT = /(<script\b[^>]*>)([\s\S]*?)<\/script\s*>/gi;
const SPACE = 32;
const NEWLINE = 10;

export interface ComponentScripts {
  /** The file with everything but its scripts blanked: offsets and rows stay as they are. */
  units: Uint16Array;
  /** Levels of the scripts from their tree, of markup and styles from their layout. */
  levels(root: SyntaxNode): Uint8Array;
}

/** A Vue or Svelte component, as far as the script grammar can read it. */
export function scriptsOnly(source: SourceText): ComponentScripts {
  const units = source.codeUnits();
  const spans: { start: number; end: number }[] = [];
  for (const match of source.text.matchAll(SCRIPT)) {
    const start = match.index + match[1]!.length;
    spans.push({ start, end: start + match[2]!.length });
  }
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
