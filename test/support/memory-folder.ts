import {
  accessSync,
  chmodSync,
  constants,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";

const SHARED_MEMORY = "/dev/shm";
/** `f_type` of tmpfs, from statfs(2). */
const TMPFS = 0x01021994;
/** Some times what the tests have in temporary folders at once. */
const NEEDED_BYTES = 4 * 2 ** 30;
const PREFIX = "code-context-tests-";
/** A run makes temporary files all the time; one that was killed leaves its folder behind, which takes memory. */
const ABANDONED_MS = 3 * 60 * 60 * 1000;

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
    removeAbandoned();
    folder = mkdtempSync(path.join(SHARED_MEMORY, PREFIX));
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

function removeAbandoned(): void {
  for (const name of readdirSync(SHARED_MEMORY)) {
    const folder = path.join(SHARED_MEMORY, name);
    if (name.startsWith(PREFIX) && Date.now() - statSync(folder).mtimeMs > ABANDONED_MS)
      rmSync(folder, { recursive: true, force: true });
  }
}
