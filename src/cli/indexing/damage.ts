import { accessSync, constants, existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { addRowCheck } from "./row-check.ts";
import { intact } from "./schema.ts";
import { IndexStore } from "./store.ts";
import { IndexDamagedError } from "./verified.ts";

/** SQLite's primary result codes for a damaged file: ERROR (no such table or column), CORRUPT, NOTADB. */
const DAMAGED = new Set([1, 11, 26]);
/** READONLY and CANTOPEN: a damaged header, if the file is writable. */
const PERHAPS_DAMAGED = new Set([8, 14]);

/** Whether an error of the local index means that its files are damaged. */
export function isDamage(error: unknown, directory: string): error is Error {
  if (error instanceof IndexDamagedError) return true;
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return false;
  const code = error.errcode & 0xff;
  return DAMAGED.has(code) || (PERHAPS_DAMAGED.has(code) && isWritable(directory));
}

function isWritable(directory: string): boolean {
  try {
    for (const file of [directory, IndexStore.fileIn(directory)])
      accessSync(file, constants.R_OK | constants.W_OK | (file === directory ? constants.X_OK : 0));
    return true;
  } catch {
    return false;
  }
}

/**
 * Deletes a damaged index with its base layers. Intact vectors, which were paid for, are kept in the new, empty index.
 */
export function resetIndex(directory: string, parserVersion: number): void {
  const file = IndexStore.fileIn(directory);
  const vectors = existsSync(file) ? intactVectors(file) : [];
  for (const name of existsSync(directory) ? readdirSync(directory) : []) {
    if (/^index\.sqlite|^base-/.test(name)) rmSync(join(directory, name), { force: true, recursive: true });
  }
  if (vectors.length === 0) return;
  const store = IndexStore.open(directory, parserVersion);
  try {
    store.transaction(() => {
      for (const { fingerprint, dimension, hash, vector } of vectors) {
        const id = store.fingerprintId(fingerprint, dimension);
        if (id !== undefined) store.addVector(id, hash, vector);
      }
    });
  } finally {
    store.close();
  }
}

interface KeptVector {
  fingerprint: string;
  dimension: number;
  hash: Uint8Array;
  vector: Uint8Array;
}

/** Reads the intact vectors of a damaged database. */
function intactVectors(file: string): KeptVector[] {
  const vectors: KeptVector[] = [];
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(file, { readOnly: true });
    addRowCheck(db);
    const sql = `select f.fingerprint, f.dimension, v.chunk_hash as hash, v.vector from fingerprints f
      join vectors v on v.fingerprint_id = f.id where ${intact("vectors", "v")} and ${intact("fingerprints", "f")}`;
    for (const row of db.prepare(sql).iterate()) vectors.push(row as unknown as KeptVector);
  } catch {
    // The vectors read so far are intact.
  } finally {
    if (db?.isOpen) db.close();
  }
  return vectors;
}
