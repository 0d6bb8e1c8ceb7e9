/** The repository that the demo indexes: a URL, or a local repository served over HTTP. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { errnoOf, OperatorError } from "../../errors.ts";
import { startGitServer } from "./git-server.ts";

export interface DemoSource {
  url: string;
  /** Display name. */
  label: string;
  close(): Promise<void>;
}

/** Throws `OperatorError` if there is no repository to index. */
export async function openSource(argument: string): Promise<DemoSource> {
  if (/^https?:\/\//i.test(argument)) return { url: argument, label: argument, close: () => Promise.resolve() };
  if (/^[a-z][a-z+]+:\/\//i.test(argument) && !argument.startsWith("file://")) {
    throw new OperatorError(`${argument}: expected an https URL or a path on this machine`);
  }
  const folder = path.resolve(argument.replace(/^file:\/\//, ""));
  if (!existsSync(folder)) throw new OperatorError(`${folder} does not exist`);
  const gitDir = await git(
    folder,
    ["rev-parse", "--absolute-git-dir"],
    `${folder} is not a git repository: give an https URL or the path of one`,
  );
  const commit = await git(folder, ["rev-parse", "--short", "HEAD"], `${folder} has no commit yet`);
  // A worktree's git folder has its own HEAD and refers to the main one.
  const server = await startGitServer(path.dirname(gitDir));
  return {
    url: `${server.origin}/${encodeURIComponent(path.basename(gitDir))}`,
    label: `${folder} at ${commit}`,
    close: () => server.close(),
  };
}

async function git(folder: string, args: string[], complaint: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)("git", ["-c", "safe.directory=*", "-C", folder, ...args]);
    return stdout.trim();
  } catch (error) {
    throw new OperatorError(
      errnoOf(error) === "ENOENT" ? "git is not installed: the demo needs it to serve a local repository" : complaint,
    );
  }
}
