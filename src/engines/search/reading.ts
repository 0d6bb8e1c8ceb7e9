import { parseQuery, type ParsedQuery } from "./query.ts";
import type { ScoredTerm } from "./score.ts";
import type { SearchIndex } from "./search-index.ts";
import { inverseFrequency } from "./select-terms.ts";
import type { SearchRequest, Understood } from "./types.ts";

/** Queries of more terms are taken as written. */
const MAX_TERMS = 100;

/** A query with words in other forms than the index has them, as it was understood. */
interface ReadQuery {
  query: ParsedQuery;
  /** Empty if only words of grammar were left out. */
  understood: Understood[];
}

/**
 * What a query of one line is taken for, if it has words that are nowhere in the index or letters beyond ASCII; undefined to take it as
 * written. So queries in English whose words all occur are not touched. `terms` are those that were scored for the query.
 */
export async function readQuery(
  index: SearchIndex,
  request: SearchRequest,
  query: ParsedQuery,
  terms: readonly ScoredTerm[],
): Promise<ReadQuery | undefined> {
  if (query.title === "" || query.terms.length > MAX_TERMS) return undefined;
  const neverSeen = inverseFrequency(0, index.documentCount);
  const unknown = new Set(terms.filter(({ idf, isWhole }) => !isWhole && idf === neverSeen).map(({ hash }) => hash));
  if (unknown.size === 0 && !/[^\0-\x7f]/.test(query.title)) return undefined;
  // Most queries do not need it.
  const { understand } = await import("./understand.ts");
  const reading = await understand(index, query, unknown);
  if (!reading) return undefined;
  const { understood } = reading;
  const read = parseQuery(request, (text) => reading.rewrite(text));
  return read.terms.length > 0 ? { query: read, understood } : undefined;
}
