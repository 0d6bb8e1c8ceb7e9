import { closeSync, existsSync, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import type { SnapshotBytes } from "../../engines/snapshot/types.ts";
import { fileChecksum } from "../machine/checksum.ts";
import { intact } from "./schema.ts";
import type { IndexStore } from "./store.ts";
import { verified } from "./verified.ts";

/**
 * Base layers. The tables hold one row for each file content of a pulled artifact; its symbols, chunks and vectors stay in the
 * artifact, which is kept beside the index and never changed. Look-ups read symbols from it (base-symbols.ts). `completeBases` copies
 * everything to the tables if needed; `adoptVectors` copies single vectors by the hash of a chunk.
 *
 * The row in `bases`, and the contents that refer to it, are committed after the file was renamed: a file without a row is an orphan
 * of a crash, which the next `pruneBases` removes.
 */
export interface Base {
  id: number;
  /** `sha256:<hex>` of the file. */
  checksum: string;
  fingerprint: string;
  parserVersion: number;
  sizeBytes: number;
}

/** Path of a base layer's artifact. */
export function baseFile(directory: string, checksum: string): string {
  return join(directory, `base-${checksum.replace("sha256:", "")}.parquet`);
}

export function listBases(store: IndexStore): Base[] {
  const sql = `select id, checksum, fingerprint, parser_version as parserVersion, size_bytes as sizeBytes,
    ${intact("bases")} as intact from bases order by id`;
  return store
    .prepare(sql)
    .all()
    .map((row) => verified<Base>(row));
}

/** Key of a content within a parser version: SHA-256 of its bytes (lower-case hex) and its language. */
export function contentKey(sha256: string, language: string): string {
  return `${sha256} ${language}`;
}

/** The contents of a base layer, or those of a parser version, by {@link contentKey}. */
export function contentsByKey(
  store: IndexStore,
  column: "base" | "parser_version",
  value: number,
): Map<string, { id: number; base: number | null }> {
  const rows = store
    .prepare(
      `select id, lower(hex(sha256)) as sha256, language, base, ${intact("contents")} as intact from contents where ${column} = ?`,
    )
    .all(value)
    .map((row) => verified<{ id: number; sha256: string; language: string; base: number | null }>(row));
  return new Map(rows.map(({ id, sha256, language, base }) => [contentKey(sha256, language), { id, base }]));
}

/** Whether the artifact of every base layer exists and matches its checksum. */
export async function basesAreIntact(store: IndexStore): Promise<boolean> {
  for (const { checksum } of listBases(store)) {
    const file = baseFile(store.directory, checksum);
    if (!existsSync(file) || (await fileChecksum(file)) !== checksum) return false;
  }
  return true;
}

/** Opens an artifact for random access. Reads are synchronous: the file is in the page cache. */
export async function readArtifact<T>(file: string, use: (bytes: SnapshotBytes) => Promise<T>): Promise<T> {
  const handle = openSync(file, "r");
  try {
    return await use({
      byteLength: fstatSync(handle).size,
      read: async (start, end) => {
        const buffer = new Uint8Array(end - start);
        return buffer.subarray(0, readSync(handle, buffer, 0, buffer.length, start));
      },
    });
  } finally {
    closeSync(handle);
  }
}
