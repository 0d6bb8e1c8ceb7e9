import { lstatSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { noteIdentity } from "../indexing/identity.ts";
import { makeFolder } from "../machine/folders.ts";
import { replaceFile, TEMPORARY } from "../machine/replace-file.ts";
import type { Project } from "../project.ts";
import type { RecordsFile } from "./text-cache.ts";

type ProjectFolder = Pick<Project, "directory" | "identity">;

/** Two files beside the search index. Whoever writes one last wins; the records are the same, or made again. */
export function recordsFile(project: ProjectFolder, name: string): RecordsFile {
  const folder = join(project.directory, "texts");
  const stored = (file: string): RecordsFile["changes"] => ({
    read: () => readBytes(file),
    write: (bytes) => {
      try {
        makeFolder(folder);
        noteIdentity(project);
        replaceFile(file, bytes, 0o600);
        removeLeftovers(folder);
      } catch {
        // A full or read-only disk costs time, not the answer.
      }
    },
  });
  const file = join(folder, `${name}.records`);
  return { ...stored(file), changes: stored(`${file}.changes`) };
}

/** A process that is still writing after this time has ended. */
const MAX_WRITING_MS = 3_600_000;

/** Removes temporary files of processes that ended while writing. */
function removeLeftovers(folder: string): void {
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    if (name.endsWith(TEMPORARY) && Date.now() - lstatSync(file).mtimeMs > MAX_WRITING_MS)
      rmSync(file, { force: true });
  }
}

function readBytes(file: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const bytes = readFileSync(file);
    return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
  } catch {
    return undefined;
  }
}
