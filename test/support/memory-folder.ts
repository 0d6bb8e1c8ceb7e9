import { accessSync, chmodSync, constants, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import path from "node:path";

const SHARED_MEMORY = "/dev/shm";
/** `f_type` of tmpfs, from statfs(2). */
const TMPFS = 0x01021994;
/** Some times what the tests have in temporary folders at once. */
const NEEDED_BYTES = 4 * 2 ** 30;

/**
 * A new folder in memory for the temporary files of a test run, which ends with this process; undefined where memory is short, holds no
 * files, or none that can be run.
 */
export function memoryFolder(): string | undefined {
  let folder: string | undefined;
  try {
    const { type, bavail, bsize } = statfsSync(SHARED_MEMORY);
    if (type !== TMPFS || bavail * bsize < NEEDED_BYTES || process.availableMemory() < 2 * NEEDED_BYTES)
      return undefined;
    folder = mkdtempSync(path.join(SHARED_MEMORY, "code-context-tests-"));
    const program = path.join(folder, "program");
    writeFileSync(program, "", { mode: 0o755 });
    accessSync(program, constants.X_OK);
    rmSync(program);
  } catch {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    return undefined;
  }
  const made = folder;
  // Some tests run programs as another user, who may pass through but not look.
  chmodSync(made, 0o711);
  process.on("exit", () => rmSync(made, { recursive: true, force: true }));
  return made;
}
