import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import path from "node:path";
import { errnoOf, OperatorError } from "../../errors.ts";
import { processRecord, readIfThere, runningProcess } from "./processes.ts";

const ATTEMPTS = 3;

/**
 * Locks a data directory for this process; the returned function releases it. A stale lock of a killed process is taken over
 * after ending that process's remaining children. Throws `OperatorError` if the owner is alive.
 */
export async function lockDataDir(dataDir: string): Promise<() => void> {
  const file = path.join(dataDir, "lock");
  const own = processRecord(process.pid);
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
    const owner = runningProcess(file);
    if (owner !== undefined) {
      throw new OperatorError(
        `the data directory ${dataDir} is in use by process ${owner}: stop it or set DATA_DIR to another directory`,
      );
    }
    rmSync(file, { force: true });
  }
  throw new OperatorError(`the data directory ${dataDir} is being started by several processes at once`);
}
