/** A git host for tests: accepts pushes over HTTP, and calls a hook after each. */
import { execFile } from "node:child_process";
import { chmodSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { fileURLToPath } from "node:url";
import type { HookProvider } from "../../src/service/db/people-schema.ts";
import { type GitBackend, type GitBackendOptions, startGitBackend } from "./git-backend.ts";
import { gitEnv } from "./git-env.ts";
import { GitRepo } from "./git-repo.ts";

const CALL_HOOK = fileURLToPath(new URL("call-hook.ts", import.meta.url));
const BARE = "acme/api.git";

export interface HookTarget {
  provider: HookProvider;
  url: string;
  secret: string;
}

export interface PushServer extends AsyncDisposable {
  backend: GitBackend;
  /** URL of the repository. */
  url: string;
  /** A work tree to push from. */
  work: GitRepo;
  /** Sets the hook that is called after each push. */
  setHook(target: HookTarget): void;
  /** Runs `git push` with these arguments. */
  push(...args: string[]): Promise<void>;
}

/** Starts the host with a repository that has one commit of these files on `main`. */
export async function startPushServer(
  files: Readonly<Record<string, string>>,
  options: GitBackendOptions = {},
): Promise<PushServer> {
  const work = new GitRepo();
  work.files(files).commit("first");
  const bare = path.join(work.root, BARE);
  work.git("clone", "-q", "--bare", work.dir, bare);
  const config = { ...options.config, "http.receivepack": "true" };
  const backend = await startGitBackend(work.root, { ...options, config });
  const url = backend.url(BARE);
  return {
    backend,
    url,
    work,
    setHook: (target) => {
      const hook = path.join(bare, "hooks", "post-receive");
      writeFileSync(path.join(bare, "hook.json"), JSON.stringify(target), { mode: 0o600 });
      writeFileSync(hook, `#!/bin/sh\nexec "${process.execPath}" "${CALL_HOOK}" "${path.join(bare, "hook.json")}"\n`);
      chmodSync(hook, 0o755);
    },
    push: async (...args) => {
      const token = options.requireToken;
      const target = token === undefined ? url : url.replace("://", `://git:${token}@`);
      const env = gitEnv({ HOME: work.root, GIT_TERMINAL_PROMPT: "0" });
      await promisify(execFile)("git", ["push", "-q", target, ...args], { cwd: work.dir, env });
    },
    [Symbol.asyncDispose]: async () => {
      await backend.close();
      rmSync(work.root, { recursive: true, force: true });
    },
  };
}
