/** Puts all evidence together: which files a change most likely needs, too. */
import { TRAIT } from "../../../engines/search/paths.ts";
import type { Evidence, FileEvidence } from "./evidence.ts";

/** Ranks count by their reciprocal, so that the first of a list stand out and the rest hardly differ. */
const RANK_OFFSET = 2;

/** Values of a file, each 0 to 1, that its score is the weighted sum of. */
export function featuresOf(
  file: FileEvidence,
  { hasTest, together }: Pick<Evidence, "hasTest" | "together">,
): number[] {
  const reciprocal = (rank: number) => (rank === 0 ? 0 : RANK_OFFSET / (RANK_OFFSET + rank - 1));
  const isAside = (file.traits & (TRAIT.docs | TRAIT.example | TRAIT.generated)) !== 0;
  const first = together?.[0]?.score ?? 1;
  return [
    file.words.score,
    reciprocal(file.words.rank),
    Math.min(1, file.together.score),
    file.together.score / first,
    reciprocal(file.together.rank),
    file.uses.score,
    file.defines.score,
    file.imports === undefined ? 0 : 1,
    file.importedBy === undefined ? 0 : 1,
    file.namedLike === undefined ? 0 : 1,
    file.nearness,
    file.isTest && !hasTest ? 1 : 0,
    file.isTest && hasTest ? 1 : 0,
    file.isTest && file.namedLike !== undefined ? 1 : 0,
    isAside ? 1 : 0,
    (file.traits & TRAIT.data) === 0 ? 0 : 1,
  ];
}

/** Positions of those that a history gives. */
export const HISTORY_FEATURES: ReadonlySet<number> = new Set([2, 3, 4]);

/** Weights of `featuresOf`, with a history and without one. */
export const WEIGHTS = {
  withHistory: [4.8, 1.06, 0.4, 2.15, -0.12, 1.18, 0.36, 0.14, 0.26, 1.18, 0.49, 2.25, -3.31, -0.37, -2.09, -1.88],
  withoutHistory: [5.19, 1.49, 0, 0, 0, 1.56, 0.71, 0.5, 0.32, 1.64, 0.83, 2.26, -3.53, -0.18, -2.29, -1.75],
};

/** The files, the likeliest first. */
export function rankFiles(evidence: Evidence): FileEvidence[] {
  const hasHistory = (evidence.together?.length ?? 0) > 0;
  const weights = hasHistory ? WEIGHTS.withHistory : WEIGHTS.withoutHistory;
  const scored = evidence.files.map((file) => ({
    file,
    score: featuresOf(file, evidence).reduce((sum, value, i) => sum + value * (weights[i] as number), 0),
  }));
  return scored.sort((a, b) => b.score - a.score || (a.file.path < b.file.path ? -1 : 1)).map(({ file }) => file);
}
