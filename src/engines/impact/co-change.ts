/** What usually changed together, by the history of a repository. */

/** Files of each commit, the newest commit first. */
export type ChangeHistory = readonly (readonly string[])[];

/** Commits of more files say little of which belong together: formatting, licences, moves. */
const MAX_FILES = 100;
/** After so many commits, one counts half: code is taken apart and put together anew. */
const HALF_LIFE = 400;
/** Of a file that changed once, one commit is no evidence: so much is added to how often it changed. */
const SMOOTHING = 0.5;

/** How often a file changed with others. */
export interface CoChange {
  path: string;
  /** Sum, over the given files, of the share of their changes that were also changes of this one; recent ones count more. */
  score: number;
  /** The score, but less of a file that changes with everything: divided by the root of 1 more than how often it changed, recent changes counting more. */
  related: number;
  /** In so many of the `of` changes of the file `with` it changed too: the file of which that is the largest share. */
  times: number;
  of: number;
  with: string;
}

interface Count {
  weight: number;
  times: number;
}

/** Files that changed together with the given ones, the most usual first. */
export function coChanges(history: ChangeHistory, paths: readonly string[]): CoChange[] {
  const wanted = new Set(paths);
  const changes = new Map<string, Count>();
  const weights = new Map<string, number>();
  const together = new Map<string, Map<string, Count>>();
  for (const [age, files] of history.entries()) {
    if (files.length > MAX_FILES) continue;
    const own = files.filter((path) => wanted.has(path));
    const weight = 2 ** (-age / HALF_LIFE);
    for (const path of files) weights.set(path, (weights.get(path) ?? 0) + weight);
    for (const path of own) {
      add(changes, path, weight);
      const beside = together.get(path) ?? new Map<string, Count>();
      together.set(path, beside);
      for (const other of files) if (!wanted.has(other)) add(beside, other, weight);
    }
  }
  const found = new Map<string, Omit<CoChange, "related"> & { best: number }>();
  for (const [path, beside] of together) {
    const all = changes.get(path) as Count;
    for (const [other, { weight, times }] of beside) {
      const share = weight / (all.weight + SMOOTHING);
      const known = found.get(other);
      const best =
        known === undefined || share > known.best ? { best: share, times, of: all.times, with: path } : known;
      found.set(other, { ...best, path: other, score: (known?.score ?? 0) + share });
    }
  }
  return [...found.values()]
    .sort((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1))
    .map(({ path, score, times, of, with: beside }) => {
      const related = score / Math.sqrt((weights.get(path) ?? 0) + 1);
      return { path, score, related, times, of, with: beside };
    });
}

/** For each file, how many commits are newer than the last one that changed it. */
export function agesOf(history: ChangeHistory): Map<string, number> {
  const ages = new Map<string, number>();
  for (const [age, files] of history.entries()) {
    if (files.length > MAX_FILES) continue;
    for (const path of files) if (!ages.has(path)) ages.set(path, age);
  }
  return ages;
}

function add(counts: Map<string, Count>, path: string, weight: number): void {
  const known = counts.get(path);
  if (known) {
    known.weight += weight;
    known.times++;
  } else counts.set(path, { weight, times: 1 });
}
