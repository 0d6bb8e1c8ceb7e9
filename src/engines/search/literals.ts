import type { FoundFile } from "./places.ts";
import type { LineRange } from "./pack.ts";
import { scanTerms } from "./scanner.ts";
import type { ScoredTerm } from "./score.ts";

/** Finds the chunks that hold quoted texts. The postings tell which may, their texts which do. */

/** Chunks read at most, those of the best files first. */
const MAX_CHUNKS_READ = 1_500;
/** Rounding of sums. */
const EPSILON = 1e-6;

/** The chunks that may hold one of the literals, by what their terms weigh; files without any are left out. */
export function chunksForLiterals(
  files: readonly FoundFile[],
  literals: readonly string[],
  terms: readonly ScoredTerm[],
): FoundFile[] {
  return chunksWith(files, Math.min(...literals.map((literal) => weightOf(literal, terms, false))));
}

/** The chunks that may hold a key, of which all words are whole. */
export function chunksForKey(files: readonly FoundFile[], key: string, terms: readonly ScoredTerm[]): FoundFile[] {
  return chunksWith(files, weightOf(key, terms, true));
}

/** The chunks whose terms weigh at least that. */
function chunksWith(files: readonly FoundFile[], weight: number): FoundFile[] {
  const needed = weight - EPSILON;
  let left = MAX_CHUNKS_READ;
  return files.flatMap((file) => {
    const chunks = file.chunks
      .filter(({ ordinal }) => (file.ranked.coverage[ordinal] ?? 0) >= needed)
      .slice(0, Math.max(0, left));
    left -= chunks.length;
    return chunks.length === 0 ? [] : [{ ...file, chunks }];
  });
}

/** What the words of the literal weigh together. Unless it `isWhole`, its first and last one may be parts of longer words in the text. */
function weightOf(literal: string, terms: readonly ScoredTerm[], isWhole: boolean): number {
  const inside = new Set<number>();
  scanTerms(literal, {
    word: (hash, start, end) => {
      if (isWhole || (start > 0 && end < literal.length)) inside.add(hash);
    },
    whole: () => undefined,
  });
  return terms.reduce((sum, { hash, weight, idf }) => sum + (inside.has(hash) ? weight * idf : 0), 0);
}

/**
 * The file with those chunks that hold a literal, those that hold more of them first; undefined if it lacks one of the literals. `texts`
 * are those of its chunks.
 */
export function withLiterals(
  file: FoundFile,
  texts: readonly string[],
  literals: readonly string[],
): FoundFile | undefined {
  if (!literals.every((literal) => texts.some((text) => text.includes(literal)))) return undefined;
  const counted = file.chunks.map((chunk, i) => ({
    chunk,
    count: literals.filter((literal) => texts[i]?.includes(literal)).length,
  }));
  const holding = counted.filter(({ count }) => count > 0).toSorted((a, b) => b.count - a.count);
  return { ...file, chunks: holding.map(({ chunk }) => chunk) };
}

/** First of the lines in the range on which a literal stands; undefined if none does. */
export function lineOfLiteral(
  lines: readonly { number: number; text: string }[],
  { startLine, endLine }: LineRange,
  literals: readonly string[],
): number | undefined {
  return lines.find(
    ({ number, text }) =>
      number >= startLine && number <= endLine && literals.some((literal) => text.includes(literal)),
  )?.number;
}
