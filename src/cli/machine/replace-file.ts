import { randomUUID } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { renameFile } from "./platform.ts";

/** Ending of files that are being written. */
export const TEMPORARY = ".tmp";

/** Writes a file in one step: whoever reads it sees the old content or the new one. Its folder must exist. */
export function replaceFile(file: string, content: string | Uint8Array, mode: number): void {
  const temporary = `${file}.${randomUUID()}${TEMPORARY}`;
  try {
    writeFileSync(temporary, content, { mode, flag: "wx" });
    renameFile(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
