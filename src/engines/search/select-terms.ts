import { type Bounds, postingBounds } from "./postings.ts";
import type { QueryTerm } from "./query.ts";
import type { SearchIndex } from "./search-index.ts";

/**
 * Only the strongest terms by weight × idf are scored. Scoring more did not improve results for whole issue texts, and with 80 or fewer
 * they became worse.
 */
export const MAX_SCORED_TERMS = 100;

/** Bounds are widened by this much, which is far more than the rounding error of a logarithm. */
const ROUNDING = 1e-9;

/**
 * The terms that can be among the strongest, in their order; which of them are is known when their postings are read. Most of those that
 * are left out are frequent: of an issue text with 170 terms they have two thirds of the bytes. Reads nothing.
 */
export function selectTerms(index: SearchIndex, terms: readonly QueryTerm[]): readonly QueryTerm[] {
  if (terms.length <= MAX_SCORED_TERMS) return terms;
  const strengths = terms.map(({ hash, weight }): Bounds => {
    const { least, most } = frequencyBounds(index, hash);
    const strengthOf = (count: number) => weight * inverseFrequency(count, index.documentCount);
    return { least: strengthOf(most), most: strengthOf(least) };
  });
  const sorted = strengths.map(({ least }) => least).sort((a, b) => b - a);
  const threshold = (sorted[MAX_SCORED_TERMS - 1] as number) * (1 - ROUNDING);
  return terms.filter((_, i) => (strengths[i] as Bounds).most >= threshold);
}

/** Falls as `count` rises. */
export function inverseFrequency(count: number, total: number): number {
  return Math.log(1 + (Math.max(total, count) - count + 0.5) / (count + 0.5));
}

/** Of the documents, or of the paths if these are more, as `scoreDocuments` counts them. */
function frequencyBounds(index: SearchIndex, hash: number): Bounds {
  const documents = sum(
    index.segments.map((segment, i) => index.documentBounds(i, postingBounds(segment.terms, hash))),
  );
  const paths = sum(index.tables.map((table) => postingBounds(table.terms, hash)));
  return { least: Math.max(documents.least, paths.least), most: Math.max(documents.most, paths.most) };
}

function sum(bounds: readonly Bounds[]): Bounds {
  return {
    least: bounds.reduce((total, { least }) => total + least, 0),
    most: bounds.reduce((total, { most }) => total + most, 0),
  };
}
