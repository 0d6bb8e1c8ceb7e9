import { keyFirst, keyOf } from "./keys.ts";
import { chunksForLiterals, withLiterals } from "./literals.ts";
import { ASIDE } from "./traits.ts";
import { findFiles, type FoundFile } from "./places.ts";
import type { ParsedQuery } from "./query.ts";
import type { RankedFile } from "./rerank.ts";
import type { ScoredTerm } from "./score.ts";
import type { SearchIndex } from "./search-index.ts";
import type { TextSource } from "./types.ts";
import { wantedChunks } from "./wanted-text.ts";

/** Chooses the ranked files that answer, as far as that takes their texts: those with quoted texts, and those that declare a key. */

/**
 * The files that answer, best first: with quoted texts in the query those that have all of them; for a key those first that declare it, unless
 * they are tests, examples or the like.
 */
export async function answeringFiles(
  index: SearchIndex,
  query: ParsedQuery,
  {
    ranked,
    terms,
    kinds,
    texts,
  }: { ranked: readonly RankedFile[]; terms: readonly ScoredTerm[]; kinds: ReadonlySet<string>; texts: TextSource },
): Promise<readonly FoundFile[]> {
  const { literals, title, wanted } = query;
  const textsOf = async (files: readonly FoundFile[]): Promise<string[][]> => {
    const asked = files.map(({ ranked: file, chunks }) =>
      wantedChunks(
        index,
        file,
        chunks.map(({ ordinal }) => ordinal),
      ),
    );
    return (await texts(asked)).map(({ chunks }) => chunks);
  };
  if (literals.length > 0) {
    const possible = chunksForLiterals(findFiles(ranked, kinds, { every: true }), literals, terms);
    const loaded = await textsOf(possible);
    return possible.flatMap((file, i) => withLiterals(file, loaded[i] ?? [], literals) ?? []);
  }
  const files = findFiles(ranked, kinds, { every: false });
  const key = keyOf(title);
  if (key === undefined) return files;
  return keyFirst(files, key, terms, {
    sources: findFiles(ranked, kinds, { every: true }).filter(
      ({ ranked: { file } }) => ((index.traits[file] ?? 0) & ASIDE & ~wanted) === 0,
    ),
    pathOf: ({ ranked: { file } }) => index.path(file),
    textsOf,
  });
}
