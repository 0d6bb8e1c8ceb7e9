/** Repositories for the benchmark of hosted search, made of checkouts of real code. */
import { execFileSync } from "node:child_process";
import { appendFileSync, cpSync, existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import path from "node:path";

/** Copies of the corpus in the large repository. */
export const COPIES = 4;

/** Names below the served folder: one copy, all copies, and for each copy its two halves. */
export const ONE = "one";
export const ALL = "all";
export const HALVES = Array.from({ length: COPIES }, (_, copy) => [`half-${copy}-a`, `half-${copy}-b`]).flat();

/**
 * Makes the repositories below `root` from the checkouts in `repos`, unless they are there. Copies differ in line breaks at the end of
 * their files: contents and segments of their own, the same chunks.
 */
export function makeCorpus(root: string, repos: string): void {
  if (existsSync(path.join(root, ALL, ".git"))) return;
  const names = readdirSync(repos)
    .filter((name) => statSync(path.join(repos, name)).isDirectory())
    .toSorted();
  for (let copy = 0; copy < COPIES; copy++) {
    for (const [i, name] of names.entries()) {
      const half = HALVES[2 * copy + (i % 2)] ?? "";
      for (const target of [...(copy === 0 ? [ONE] : []), ALL, half])
        copyTree(path.join(repos, name), path.join(root, target, `copy-${copy}`, name), copy);
    }
  }
  for (const target of [ONE, ...HALVES, ALL]) commitAll(path.join(root, target), "corpus");
}

function copyTree(from: string, to: string, lineBreaks: number): void {
  cpSync(from, to, { recursive: true, filter: (source) => path.basename(source) !== ".git" });
  if (lineBreaks === 0) return;
  for (const entry of readdirSync(to, { withFileTypes: true, recursive: true }))
    if (entry.isFile()) appendFileSync(path.join(entry.parentPath, entry.name), "\n".repeat(lineBreaks));
}

/** Commits everything in a work tree; makes the repository where there is none. */
export function commitAll(tree: string, message: string): void {
  mkdirSync(tree, { recursive: true });
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", tree, "-c", "user.name=bench", "-c", "user.email=bench@example.com", ...args], {
      stdio: "pipe",
      maxBuffer: 1 << 30,
    });
  if (!existsSync(path.join(tree, ".git"))) git("init", "-q", "-b", "main");
  git("add", "-A", "-f");
  git("commit", "-q", "-m", message);
}
