/** Measures of rankings. */

/** A place that should be found: a file, with or without lines. */
export interface Target {
  path: string;
  startLine?: number;
  endLine?: number;
}

export interface Ranked {
  path: string;
  startLine: number;
  endLine: number;
  tokens: number;
}

/** Ranks (from 0) at which each target's file is first shown; -1 where it is not. */
export function ranksOf(targets: readonly Target[], results: readonly Pick<Ranked, "path">[]): number[] {
  return targets.map((target) => results.findIndex(({ path }) => path === target.path));
}

/** NDCG over the first ten results, every target worth 1 at the rank where its file is first shown. */
export function ndcg10(targets: readonly Target[], results: readonly Pick<Ranked, "path">[]): number {
  const files = [...new Set(targets.map(({ path }) => path))].map((path) => ({ path }));
  let sum = 0;
  for (const rank of ranksOf(files, results)) if (rank >= 0 && rank < 10) sum += 1 / Math.log2(rank + 2);
  let best = 0;
  for (let rank = 0; rank < Math.min(10, files.length); rank++) best += 1 / Math.log2(rank + 2);
  return best === 0 ? 0 : sum / best;
}

/** Whether all target files are among the first `k` distinct files. */
export function allWithin(targets: readonly Target[], results: readonly Pick<Ranked, "path">[], k: number): boolean {
  const files = new Set([...new Set(results.map(({ path }) => path))].slice(0, k));
  return targets.every(({ path }) => files.has(path));
}

/** Reciprocal of the rank of the first target among the distinct files. */
export function reciprocalRank(targets: readonly Target[], results: readonly Pick<Ranked, "path">[]): number {
  const wanted = new Set(targets.map(({ path }) => path));
  const rank = [...new Set(results.map(({ path }) => path))].findIndex((path) => wanted.has(path));
  return rank < 0 ? 0 : 1 / (rank + 1);
}

/**
 * Tokens read until the first target is seen, its first line where it has lines; `never` where it is not among the results.
 */
export function tokensUntilSeen(targets: readonly Target[], results: readonly Ranked[], never: number): number {
  let tokens = 0;
  for (const result of results) {
    tokens += result.tokens;
    const isSeen = targets.some(
      ({ path, startLine, endLine }) =>
        path === result.path &&
        (startLine === undefined ||
          endLine === undefined ||
          (startLine <= result.endLine && endLine >= result.startLine)),
    );
    if (isSeen) return tokens;
  }
  return never;
}

export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((a, b) => a + b, 0) / values.length;
}

/** The value below which the share `q` of the values lies. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? 0;
}
