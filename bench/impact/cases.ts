/** Commits as cases for `impact`: some files of the commit are hidden, and are to be found from the diff of the others. */
import { execFileSync } from "node:child_process";
import { skipReason } from "../../src/engines/parsing/skip.ts";
import { asideTraits, TRAIT } from "../../src/engines/search/traits.ts";
import { detectLanguage, isDefaultIncluded } from "../../src/engines/parsing/detect.ts";

/** Commits that are looked at, the newest first, and the files that a case has at most. */
const MAX_COMMITS = 2_500;
const MAX_FILES = 10;
const MAX_HIDDEN_TESTS = 5;
const CODE = /\.(?:[cm]?[jt]sx?|py|go|java|c|h|rs|rb|php|kt|cs|cc|cpp|hpp|swift|scala|ex|lua)$/;

export interface Case {
  kind: "source" | "tests";
  /** The commit before it, which is indexed. */
  parent: string;
  hidden: string[];
  shown: string[];
  patch: string;
  history: string[][];
}

export const git = (repository: string, args: readonly string[]): string =>
  execFileSync("git", ["-C", repository, ...args], { maxBuffer: 2 ** 31 - 1 }).toString("utf8");

/** Up to `count` cases of each kind, of a repository's default branch. */
export function casesOf(repository: string, count: number): Case[] {
  const kinds = ["--no-merges", "--no-renames", "--diff-filter=M"];
  const listed = ["--name-only", "-z", "--format=%x01%H %P"];
  const log = git(repository, ["log", `--max-count=${MAX_COMMITS}`, ...kinds, ...listed]);
  const found: Case[] = [];
  const wanted = { source: count, tests: count };
  for (const part of log.split("\u0001")) {
    if (wanted.source <= 0 && wanted.tests <= 0) break;
    const [head = "", ...names] = part.split("\0");
    const [commit = "", parent = ""] = head.split(" ");
    const paths = names.map((name) => name.replace(/^\n/, "")).filter((name) => name !== "");
    if (parent === "" || paths.length < 2 || paths.length > MAX_FILES) continue;
    const code = paths.filter((own) => CODE.test(own) && isDefaultIncluded(own) && skipReason(own) === undefined);
    const tests = code.filter((own) => (traitsOf(own) & TRAIT.test) !== 0);
    // Examples, documentation and generated code are neither.
    const sources = code.filter((own) => traitsOf(own) === 0);
    const add = (kind: Case["kind"], hidden: string[]): void => {
      const shown = paths.filter((own) => (kind === "tests" ? sources.includes(own) : !hidden.includes(own)));
      const patch = git(repository, ["diff", "--no-renames", parent, commit, "--", ...shown]);
      if (patch === "" || patch.length > 500_000) return;
      wanted[kind]--;
      found.push({ kind, parent, hidden, shown, patch, history: [] });
    };
    // Which of the sources is hidden follows from the commit's id.
    const one = sources[Number.parseInt(commit.slice(0, 6), 16) % Math.max(1, sources.length)];
    if (wanted.source > 0 && sources.length > 1 && one !== undefined) add("source", [one]);
    if (wanted.tests > 0 && tests.length > 0 && tests.length <= MAX_HIDDEN_TESTS && sources.length > 0)
      add("tests", tests);
  }
  for (const each of found) each.history = historyBefore(repository, each.parent);
  return found;
}

function traitsOf(path: string): number {
  return asideTraits(path, detectLanguage(path) ?? "");
}

/** As `codectx` reads it. */
function historyBefore(repository: string, commit: string): string[][] {
  const commits: string[][] = [];
  const args = ["log", "--max-count=1000", "--min-parents=1", "--max-parents=1", "--no-renames"];
  for (const part of git(repository, [...args, "--name-only", "-z", "--format=%x01", commit]).split("\0")) {
    const path = part.replace(/^\n/, "");
    if (path === "\u0001") commits.push([]);
    else if (path !== "") commits.at(-1)?.push(path);
  }
  return commits;
}
