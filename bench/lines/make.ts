/** Makes cases of a line-labelled set from the history of bare clones. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import path from "node:path";

/** A query and the lines that answer it. */
export interface LineCase {
  /** `owner/name`. */
  repo: string;
  half: "dev" | "untouched";
  /** Commit that is asked. */
  commit: string;
  /** Commit whose message is the query. */
  change: string;
  query: string;
  /** Ranges of lines in `commit` that the change replaced or inserted beside, 1-based and inclusive. */
  gold: Record<string, [from: number, to: number][]>;
}

/** Commits between the one that is asked and the last change that is considered. */
const DISTANCE = 400;
const MAX_FILES = 4;
const MAX_HUNKS = 12;
const MAX_CHANGED_LINES = 120;
const MIN_WORDS = 5;
const MIN_CHARACTERS = 35;
const MAX_CHARACTERS = 6_000;

const SOURCE =
  /\.(?:[cm]?[jt]sx?|py|go|rs|java|kts?|scala|rb|php|cs|swift|exs?|hs|lua|c|h|cc|cpp|hpp|sh|svelte|vue|zig|dart)$/i;
const ASIDE =
  /(?:^|[/_.-])(?:tests?|specs?|__tests__|fixtures?|examples?|docs?|benchmarks?|vendor|third_party)(?:[/_.-]|$)|Tests?\.\w+$|Spec\.\w+$/i;
/** Messages that say nothing of code. */
const EMPTY_MESSAGE =
  /^(?:merge|bump|release|revert|version|update (?:deps|dependenc|changelog|readme)|prepare|chore|ci|docs?|style|test|build|v?\d+\.\d+|typo|fix typo|lint|format)\b/i;
const TRAILER =
  /^(?:signed-off-by|co-authored-by|reviewed-by|acked-by|helped-by|reported-by|tested-by|cc|change-id|git-svn-id|pull request|pr-url|reviewed-on)\b.*$/gim;

/** The bare clones in a folder: `<owner>+<name>/repo`. */
export function mirrorsIn(folder: string): { name: string; folder: string }[] {
  return readdirSync(folder)
    .filter((entry) => entry.includes("+"))
    .sort()
    .map((entry) => ({ name: entry.replace("+", "/"), folder: path.join(folder, entry, "repo") }));
}

/** Up to `limit` cases of one repository, the changes nearest to the asked commit first. All are asked of one commit. */
export function casesOf(repo: string, folder: string, limit: number): LineCase[] {
  const git = (...args: string[]): string =>
    execFileSync("git", ["-C", folder, ...args], { maxBuffer: 2 ** 28, stdio: ["ignore", "pipe", "ignore"] }).toString(
      "utf8",
    );
  const history = git(
    "log",
    "--no-merges",
    "--raw",
    "--no-renames",
    "--no-abbrev",
    "--format=%x01%H%x02%B%x02",
    "-n",
    String(DISTANCE + 1),
  )
    .split("\u0001")
    .slice(1)
    .map((entry) => {
      const [change = "", message = "", raw = ""] = entry.split("\u0002");
      return { change, message, files: changedFiles(raw) };
    });
  const commit = history.at(-1)?.change;
  if (commit === undefined || history.length < DISTANCE / 4) return [];
  const half = (createHash("sha256").update(repo).digest()[0] ?? 0) % 2 === 0 ? "dev" : "untouched";
  const asked = blobsOf(git("ls-tree", "-r", commit));
  const cases: LineCase[] = [];
  for (const { change, message, files } of history.slice(0, -1).toReversed()) {
    if (cases.length >= limit) break;
    const query = queryOf(message);
    const sources = files.filter(({ file }) => SOURCE.test(file) && !ASIDE.test(file));
    if (query === undefined || sources.length === 0 || sources.length > MAX_FILES) continue;
    // The lines must be those of the asked commit.
    if (sources.some(({ file, blob, status }) => status !== "M" || asked.get(file) !== blob)) continue;
    const gold = hunksIn(git, change, sources);
    const hunks = Object.values(gold).flat();
    const lines = hunks.reduce((sum, [from, to]) => sum + to - from + 1, 0);
    if (hunks.length === 0 || hunks.length > MAX_HUNKS || lines > MAX_CHANGED_LINES) continue;
    cases.push({ repo, half, commit, change, query, gold });
  }
  return cases;
}

/** The hunks of a change; none where the clone lacks one of its objects. */
function hunksIn(
  git: (...args: string[]) => string,
  change: string,
  sources: readonly { file: string }[],
): LineCase["gold"] {
  try {
    return hunksOf(git("diff", "-U0", "--no-color", `${change}^`, change, "--", ...sources.map(({ file }) => file)));
  } catch {
    return {};
  }
}

function blobsOf(tree: string): Map<string, string> {
  const blobs = new Map<string, string>();
  for (const line of tree.split("\n")) {
    const [meta = "", file] = line.split("\t");
    if (file !== undefined) blobs.set(file, meta.split(" ")[2] ?? "");
  }
  return blobs;
}

function changedFiles(raw: string): { file: string; blob: string; status: string }[] {
  return raw.split("\n").flatMap((line) => {
    const [meta = "", file] = line.split("\t");
    const [, , blob = "", , status = ""] = meta.split(" ");
    return file === undefined ? [] : [{ file, blob, status }];
  });
}

/** Without trailers, numbers of pull requests and lists of commits; undefined if it says too little or too much. */
function queryOf(message: string): string | undefined {
  if (EMPTY_MESSAGE.test(message)) return undefined;
  const text = message
    .replaceAll(TRAILER, "")
    .replaceAll(/\((?:#\d+|gh-\d+)\)/gi, "")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
  if (text.length < MIN_CHARACTERS || text.length > MAX_CHARACTERS) return undefined;
  return text.split(/\s+/).length < MIN_WORDS ? undefined : text;
}

/** The old side of each hunk; beside an insertion the line before and the one after. */
function hunksOf(diff: string): Record<string, [number, number][]> {
  const found: Record<string, [number, number][]> = {};
  let file = "";
  for (const line of diff.split("\n")) {
    if (line.startsWith("--- a/")) file = line.slice(6);
    const hunk = /^@@ -(\d+)(?:,(\d+))? /.exec(line);
    if (!hunk) continue;
    const start = Number(hunk[1]);
    const count = hunk[2] === undefined ? 1 : Number(hunk[2]);
    (found[file] ??= []).push(count === 0 ? [Math.max(1, start), start + 1] : [start, start + count - 1]);
  }
  return found;
}
