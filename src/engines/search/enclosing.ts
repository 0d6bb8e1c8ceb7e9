import { symbolsOf } from "./definitions.ts";
import { innermost } from "./places.ts";
import type { SearchIndex } from "./search-index.ts";

/** For each file, the qualified name of the innermost symbol around each of its lines; null where there is none. */
export async function enclosingSymbols(
  index: SearchIndex,
  wanted: readonly { revision: number; path: string; lines: readonly number[] }[],
): Promise<(string | null)[][]> {
  const files = wanted.map(({ revision, path }) => index.fileAt(revision, path));
  const known = files.flatMap((file) => (file === undefined ? [] : [{ file }]));
  const symbols = await symbolsOf(index, known);
  let next = 0;
  return wanted.map(({ lines }, i) => {
    const own = files[i] === undefined ? [] : (symbols[next++] ?? []);
    const ordinals = [...own.keys()];
    return lines.map((line) => {
      const around = innermost({ symbols: own }, ordinals, line, line);
      return around === undefined ? null : (own[around]?.qualifiedName ?? null);
    });
  });
}
