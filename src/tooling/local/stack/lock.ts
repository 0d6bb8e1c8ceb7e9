import { closeSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import path from "node:path";
import * as z from "zod";
import { errnoOf, OperatorError } from "../../errors.ts";
import { processIdentity } from "./processes.ts";
import { parseJson } from "./local-secrets.ts";

const LockFile = z.object({ pid: z.number().int(), identity: z.string() });

const ATTEMPTS = 3;

/**
 * Locks a data directory for this process; the returned function releases it. A stale lock of a killed process is taken over
 * after ending that process's remaining children. Throws `OperatorError` if the owner is alive.
 */
export async function lockDataDir(dataDir: string): Promise<() => void> {
  const file = path.join(dataDir, "lock");
  const own = JSON.stringify({ pid: process.pid, identity: processIdentity(process.pid) });
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    try {
      const handle = openSync(file, "wx", 0o600);
      writeSync(handle, own);
      closeSync(handle);
      return () => {
        if (readIfThere(file) === own) rmSync(file, { force: true });
      };
    } catch (error) {
      if (errnoOf(error) !== "EEXIST") throw error;
    }
    const owner = LockFile.safeParse(parseJson(readIfThere(file) ?? ""));
    if (owner.success && processIdentity(owner.data.pid) === owner.data.identity) {
      throw new OperatorError(
        `the data directory ${dataDir} is in use by process ${owner.data.pid}: stop it or set DATA_DIR to another directory`,
      );
    }
    rmSync(file, { force: true });
  }
  throw new OperatorError(`the data directory ${dataDir} is being started by several processes at once`);
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
