/** Puts all evidence together: which files a change most likely needs, too. */
import { TRAIT } from "../../../engines/search/traits.ts";
import { type Evidence, type FileEvidence, SELDOM } from "./evidence.ts";

/** What is known of the change as a whole. */
type OfChange = Omit<Evidence, "files">;

interface Feature {
  /** 0 to 1. */
  of: (file: FileEvidence, change: OfChange) => number;
  /** Weights where a history is at hand, and where not. */
  withHistory: number;
  withoutHistory: number;
}

/** Ranks count by their reciprocal, so that the first of a list stand out and the rest hardly differ. */
const reciprocal = (rank: number): number => (rank === 0 ? 0 : 2 / (1 + rank));
/** A change so many commits ago counts half as much as the last one. */
const RECENT = 20;
const flag = (is: boolean): number => (is ? 1 : 0);

/**
 * A file's score is the weighted sum of these. The weights were fitted, as `npm run bench -- impact --fit` does, on 1,790 commits of thirty repositories in
 * thirteen languages, which docs/relations.md names: those under which the files that a commit changed, too, are likeliest. Others are measured there.
 */
const FEATURES: readonly Feature[] = [
  // Words that the change shares with a place of the file.
  { of: ({ words }) => words.score, withHistory: 2.36, withoutHistory: 2.87 },
  { of: ({ words }) => reciprocal(words.rank), withHistory: 1.04, withoutHistory: 1.34 },
  // A line that is edited in one place often stands in others.
  { of: ({ removedLine }) => removedLine?.score ?? 0, withHistory: 1.38, withoutHistory: 1.5 },
  // What changed together before, and what changed lately.
  { of: ({ together }) => together.score, withHistory: 0.69, withoutHistory: 0 },
  { of: ({ together }) => together.related, withHistory: 1.47, withoutHistory: 0 },
  { of: ({ age }) => (age === undefined ? 0 : 1 / (1 + age / RECENT)), withHistory: 1.11, withoutHistory: 0 },
  // Names and imports.
  { of: ({ uses }) => uses.score, withHistory: 0.96, withoutHistory: 1.27 },
  { of: ({ mentions }) => mentions.score, withHistory: 1.09, withoutHistory: 1.49 },
  { of: ({ importedBy }) => flag(importedBy !== undefined), withHistory: 0.35, withoutHistory: 0.4 },
  // Where it is and what it is called.
  { of: ({ namedLike }) => flag(namedLike !== undefined), withHistory: 0.5, withoutHistory: 0.99 },
  { of: (file) => file.nameShare, withHistory: 0.62, withoutHistory: 0.6 },
  { of: ({ nearness }) => nearness, withHistory: 0.6, withoutHistory: 0.99 },
  // A change of sources without a test lacks one; a change with a test seldom needs another.
  { of: ({ isTest }, { hasTest }) => flag(isTest && !hasTest), withHistory: 1.98, withoutHistory: 1.86 },
  { of: ({ isTest }, { hasTest }) => flag(isTest && hasTest), withHistory: -3.19, withoutHistory: -3.24 },
  // Documents and examples share many words with sources, and seldom change with them.
  {
    of: ({ traits }, { isAside }) => flag(!isAside && (traits & SELDOM) !== 0),
    withHistory: -1.57,
    withoutHistory: -1.82,
  },
  {
    of: ({ traits }, { isAside }) => flag(!isAside && (traits & TRAIT.docs) !== 0),
    withHistory: -1.39,
    withoutHistory: -1.47,
  },
  { of: ({ traits }) => flag((traits & TRAIT.data) !== 0), withHistory: -1.83, withoutHistory: -1.83 },
];

/** Positions of the features that a history gives. */
export const OF_HISTORY: ReadonlySet<number> = new Set(
  [...FEATURES.entries()].filter(([, { withoutHistory }]) => withoutHistory === 0).map(([position]) => position),
);

/** A change that lacks a test needs one or two, not five: each test in the list makes the next one less likely by so much. */
const FURTHER_TEST = 0.7;
/** Files that are ordered with regard to those before them. */
const MAX_CONSIDERED = 100;

/** The values of a file's features. */
export function featuresOf(file: FileEvidence, change: OfChange): number[] {
  return FEATURES.map(({ of }) => of(file, change));
}

/** The files, the likeliest first. */
export function rankFiles(evidence: Evidence): FileEvidence[] {
  const hasHistory = (evidence.together?.length ?? 0) > 0;
  const weights = FEATURES.map(({ withHistory, withoutHistory }) => (hasHistory ? withHistory : withoutHistory));
  const scored = evidence.files.map((file) => ({
    file,
    score: featuresOf(file, evidence).reduce((sum, value, i) => sum + value * (weights[i] as number), 0),
  }));
  scored.sort((a, b) => b.score - a.score || (a.file.path < b.file.path ? -1 : 1));
  if (evidence.hasTest) return scored.map(({ file }) => file);
  const others = scored.slice(0, MAX_CONSIDERED);
  const first: FileEvidence[] = [];
  let tests = 0;
  while (others.length > 0) {
    const scoreOf = ({ file, score }: (typeof others)[number]) => score - (file.isTest ? FURTHER_TEST * tests : 0);
    let best = 0;
    for (const [i, each] of others.entries()) if (scoreOf(each) > scoreOf(others[best] as typeof each)) best = i;
    const [{ file }] = others.splice(best, 1) as [(typeof others)[number]];
    if (file.isTest) tests++;
    first.push(file);
  }
  return [...first, ...scored.slice(MAX_CONSIDERED).map(({ file }) => file)];
}
