import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";

/** How long a statement waits for another process's commit. */
export const BUSY_TIMEOUT_MS = 10_000;

/** The schema's version; 0 for a new database. */
export function versionOf(db: DatabaseSync): number {
  return (db.prepare("pragma user_version").get() as { user_version: number }).user_version;
}

/** Opens a database for reading, also in a folder that cannot be written. */
export function openReadOnly(file: string): DatabaseSync {
  let db = new DatabaseSync(file, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
  try {
    db.prepare("pragma user_version").get();
    return db;
  } catch (error) {
    db.close();
    // READONLY, IOERR or CANTOPEN: WAL's shared memory cannot be made in a read-only folder or on a full disk, where nobody can write.
    const code =
      error instanceof Error && "errcode" in error && typeof error.errcode === "number" ? error.errcode & 0xff : 0;
    if (code !== 8 && code !== 10 && code !== 14) throw error;
  }
  db = new DatabaseSync(`${pathToFileURL(file).href}?immutable=1`, { readOnly: true });
  return db;
}
