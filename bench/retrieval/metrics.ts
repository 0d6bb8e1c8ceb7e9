/** Metrics of rankings. */

/** An expected result: a file, optionally with lines. */
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

/** Ranks (from 0) at which each target's file first appears; -1 if it does not. */
export function ranksOf(targets: readonly Target[], results: readonly Pick<Ranked, "path">[]): number[] {
  return targets.map((target) => results.findIndex(({ path }) => path === target.path));
}

/** NDCG over the first ten results; each target has gain 1 at the rank where its file first appears. */
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
 * Tokens read up to the first target (its first line, if it has lines); `never` if it is not among the results.
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

/** The `q` quantile of the values. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? 0;
}
