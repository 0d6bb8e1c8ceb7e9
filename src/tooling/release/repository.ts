import { execFileSync } from "node:child_process";
import { PROJECT_ROOT } from "../local/project.ts";

/**
 * `owner/name` of the repository on GitHub: that of the running workflow, else of the remote `origin`; undefined if there is
 * neither. The source does not name it, so that a fork publishes under its own name.
 */
export function githubRepository(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const { GITHUB_REPOSITORY: ofWorkflow } = env;
  if (ofWorkflow) return ofWorkflow;
  try {
    const stdio = ["ignore", "pipe", "ignore"] as const;
    const url = execFileSync("git", ["remote", "get-url", "origin"], {
      cwd: PROJECT_ROOT,
      encoding: "utf8",
      stdio: [...stdio],
    });
    return /^(?:https:\/\/|ssh:\/\/git@|git@)github\.com[/:]([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/.exec(url.trim())?.[1];
  } catch {
    return undefined;
  }
}
