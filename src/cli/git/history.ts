import { spawn } from "node:child_process";
import type { ChangeHistory } from "../../engines/impact/co-change.ts";
import { gitEnvironment, gitProgram } from "./command.ts";
import { encodingOf, pathOfText } from "./paths.ts";

/** More commits than these do not tell better what belongs together. */
const MAX_COMMITS = 1_000;
/** Older commits are left out where git takes longer, as over a network disk, or lists more. */
const MAX_MS = 2_000;
const MAX_BYTES = 16 * 1024 * 1024;
/** Begins a commit in the output; the paths follow, each ended by NUL. */
const COMMIT = "\x01";

/**
 * The files of each of the last commits, the newest first: as many as git lists in time. Merges are left out, and the first commit (of a
 * shallow clone, where it begins), which has all files. Undefined if there is no other or git fails.
 */
export function recentChanges(cwd: string, commit: string): Promise<ChangeHistory | undefined> {
  return new Promise((resolve) => {
    const args = [
      "log",
      `--max-count=${MAX_COMMITS}`,
      "--min-parents=1",
      "--max-parents=1",
      "--no-renames",
      "--name-only",
      "-z",
      "--format=%x01",
    ];
    const child = spawn(gitProgram(), [...args, "--end-of-options", commit, "--"], {
      cwd,
      env: gitEnvironment(),
      stdio: ["ignore", "pipe", "ignore"],
    });
    const parts: Buffer[] = [];
    let bytes = 0;
    let isCut = false;
    const cut = (): void => {
      isCut = true;
      child.kill("SIGKILL");
    };
    const timer = setTimeout(cut, MAX_MS);
    child.stdout.on("data", (part: Buffer) => {
      parts.push(part);
      bytes += part.length;
      if (bytes > MAX_BYTES) cut();
    });
    child.on("error", () => {
      clearTimeout(timer);
      resolve(undefined);
    });
    child.on("close", (code) => {
      clearTimeout(timer);
      const commits = code === 0 || isCut ? commitsOf(Buffer.concat(parts), isCut) : [];
      resolve(commits.length === 0 ? undefined : commits);
    });
  });
}

/** Files by commit; of output that was cut the last commit is left out. */
function commitsOf(output: Buffer, isCut: boolean): string[][] {
  const encoding = encodingOf(output);
  const commits: string[][] = [];
  for (const part of output.toString(encoding).split("\0")) {
    const path = part.startsWith("\n") ? part.slice(1) : part;
    if (path === COMMIT) commits.push([]);
    else if (path !== "") commits.at(-1)?.push(pathOfText(path, encoding));
  }
  return isCut ? commits.slice(0, -1) : commits;
}
