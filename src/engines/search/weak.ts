import type { ParsedQuery } from "./query.ts";
import type { RankedFile } from "./rerank.ts";
import type { ScoredTerm } from "./score.ts";
import type { SearchIndex } from "./search-index.ts";
import { inverseFrequency } from "./select-terms.ts";
import type { WeakMatch } from "./types.ts";

/**
 * Least share of the query's weight × idf that the best place must have to be an answer. Chosen on queries of 15 public repositories and
 * on queries about concepts that they do not have: 2 % of the former and 75 % of the latter are below it.
 */
const TELLING_SHARE = 0.35;
/** Files that are looked at. */
const EXAMINED = 10;
/** No place has a large share of a longer query, such as an issue text. */
const LONG_TERMS = 20;
const MAX_UNKNOWN = 10;

/**
 * Set if nothing matches well: no place of the first files has a telling share of the query, and none of them is named or quoted by it.
 * `ranked` is the answer from its beginning.
 */
export function weakMatch(
  index: SearchIndex,
  { literals }: ParsedQuery,
  terms: readonly ScoredTerm[],
  ranked: readonly RankedFile[],
): WeakMatch | undefined {
  if (literals.length > 0 && ranked.length > 0) return undefined;
  if (terms.length > LONG_TERMS) return undefined;
  const first = ranked.slice(0, EXAMINED);
  if (first.some(({ definition, isMentioned }) => definition !== undefined || isMentioned)) return undefined;
  const total = terms.reduce((sum, { weight, idf }) => sum + weight * idf, 0);
  const best = Math.max(0, ...first.map(({ coverage }) => coverage.reduce((a, b) => Math.max(a, b), 0)));
  if (total > 0 && best / total >= TELLING_SHARE) return undefined;
  const neverSeen = inverseFrequency(0, index.documentCount);
  const unknown = terms.filter(({ idf, isWhole }) => !isWhole && idf === neverSeen).map(({ shown }) => shown);
  return { unknown: unknown.slice(0, MAX_UNKNOWN), files: index.fileCount };
}
