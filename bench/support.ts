/** Shared by the benchmarks: medians, paired runs, memory of a process tree, a corpus of real code. */
import { execFile, execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PEERS = path.join(ROOT, "bench/peers/node_modules");

export const run = promisify(execFile);

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? NaN)
    : ((sorted[middle - 1] ?? NaN) + (sorted[middle] ?? NaN)) / 2;
}

/** Wall time of `work` in milliseconds, with its value. */
export async function timed<T>(work: () => Promise<T>): Promise<{ ms: number; value: T }> {
  const startedAt = performance.now();
  const value = await work();
  return { ms: performance.now() - startedAt, value };
}

export const ratio = (a: number, b: number): string => (a / b).toFixed(2);
export const mib = (bytes: number): string => `${(bytes / 1_048_576).toFixed(1)} MiB`;

/** Path of a peer's file; undefined if the peers are not installed. */
export function peer(file: string): string | undefined {
  const full = path.join(PEERS, file);
  if (existsSync(full)) return full;
  console.log(
    `(left out: ${file
      .split("/")
      .slice(0, file.startsWith("@") ? 2 : 1)
      .join("/")} is not installed; npm install --prefix bench/peers)`,
  );
  return undefined;
}

/**
 * Folders of the queries with known answers and of the checkouts they are about, from `--eval` and `--repos` or the environment. Ends
 * the process if one of them is not given.
 */
export function evaluationFolders(given: { eval?: string | undefined; repos?: string | undefined }): {
  evalFolder: string;
  repos: string;
} {
  const evalFolder = given.eval ?? process.env["EVAL_DIR"];
  const repos = given.repos ?? process.env["EVAL_REPOS_DIR"];
  if (evalFolder === undefined || repos === undefined) {
    console.error("give --eval DIR and --repos DIR (or EVAL_DIR and EVAL_REPOS_DIR); see docs/ranking.md");
    process.exit(2);
  }
  return { evalFolder, repos };
}

/** A temporary folder that is deleted when the process ends. */
export function temporaryFolder(name: string): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), `code-context-bench-${name}-`));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const SOURCE = /\.(ts|js|mjs|cjs|json|md|css|html|py|c|h|cc|cpp|go|rs|java|rb|sh|yml|yaml)$/;
const MAX_CORPUS_FILE_BYTES = 256 * 1024;

/**
 * A bare repository to measure on: the given one, or one created from the first `files` source files below `node_modules`, real code
 * that every checkout has. Returns the folder to serve and the repository's name in it.
 */
export function corpus(given: string | undefined, files = 6_000): { root: string; name: string; bare: string } {
  if (given !== undefined) {
    const bare = path.resolve(given);
    return { root: path.dirname(bare), name: path.basename(bare), bare };
  }
  const root = temporaryFolder("corpus");
  const tree = path.join(root, "tree");
  const copied: string[] = [];
  const walk = (folder: string) => {
    for (const entry of readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      if (copied.length >= files) return;
      const full = path.join(folder, entry.name);
      if (entry.isDirectory()) walk(full);
      else if (entry.isFile() && SOURCE.test(entry.name) && statSync(full).size < MAX_CORPUS_FILE_BYTES) {
        const target = path
          .relative(path.join(ROOT, "node_modules"), full)
          .replaceAll("node_modules/", "nested/")
          .replace(/(^|\/)dist\//g, "$1built/");
        cpSync(full, path.join(tree, "packages", target));
        copied.push(target);
      }
    }
  };
  walk(path.join(ROOT, "node_modules"));
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", tree, "-c", "user.name=bench", "-c", "user.email=bench@example.com", ...args], {
      stdio: "pipe",
    });
  git("init", "-q", "-b", "main");
  git("add", "-A", "-f");
  git("commit", "-q", "-m", "corpus");
  git("repack", "-q", "-a", "-d");
  return { root, name: "tree", bare: path.join(tree, ".git") };
}

/** Resident bytes of a process and its descendants. Linux only; 0 elsewhere. */
export function residentBytes(pid: number, only?: string): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const own =
      only === undefined || status.startsWith(`Name:\t${only}`)
        ? Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024
        : 0;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean);
    return own + children.reduce((sum, child) => sum + residentBytes(Number(child), only), 0);
  } catch {
    return 0;
  }
}

/** Samples the resident memory of workerd below this process; `peak()` gives the highest figure so far. */
export function watchMemory(): { start: number; peak(): number; stop(): void } {
  const read = () => residentBytes(process.pid, "workerd");
  const start = read();
  let highest = start;
  const timer = setInterval(() => (highest = Math.max(highest, read())), 25);
  return { start, peak: () => (highest = Math.max(highest, read())), stop: () => clearInterval(timer) };
}
