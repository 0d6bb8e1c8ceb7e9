import { execFileSync, spawnSync } from "node:child_process";
import { CODECTX_ENTRY } from "../../../support/codectx-entry.ts";
import type { Ran, Sandbox } from "./run.ts";

/** Root may read everything: as root, the CLI runs as somebody else where that matters. */
const OTHER_USER = process.getuid?.() === 0 ? 65_534 : undefined;

/** Whether the checkout cannot be read by a user for whom a closed folder is closed, such as one in root's home folder. */
export function cannotRunAsOther(): boolean {
  if (OTHER_USER === undefined) return false;
  const run = spawnSync(process.execPath, [CODECTX_ENTRY, "--version"], {
    uid: OTHER_USER,
    gid: OTHER_USER,
    stdio: "ignore",
  });
  return run.status !== 0;
}

/** Runs the CLI as a user for whom a closed folder is closed; the sandbox is that user's from then on. */
export function runAsOther(sandbox: Sandbox, cwd: string, args: string[]): Promise<Ran> {
  if (OTHER_USER !== undefined) execFileSync("chown", ["-R", String(OTHER_USER), sandbox.root]);
  return sandbox.run(cwd, args, {
    user: OTHER_USER,
    // Root's own cache is closed to others.
    env: { NODE_COMPILE_CACHE: undefined, NODE_DISABLE_COMPILE_CACHE: "1" },
  });
}
