import { join } from "node:path";
import type { IndexStore } from "./store.ts";

/**
 * Base layers. What a look-up needs of a pulled artifact (files and symbols) goes into the tables at once; the chunks and
 * vectors, nine tenths of it, stay in the artifact, which is kept beside the index and never changed. They follow when
 * something needs them all (`completeBases`), or one by one, by the hash of a chunk (`adoptVectors`).
 *
 * The row in `bases`, and the contents that name it, are committed after the file has its name: a file without a row is
 * what a crash left, and goes with the next `pruneBases`.
 */
export interface Base {
  id: number;
  /** `sha256:<hex>` of the file. */
  checksum: string;
  fingerprint: string;
  parserVersion: number;
  sizeBytes: number;
}

/** Where the artifact of a base layer lies. */
export function baseFile(directory: string, checksum: string): string {
  return join(directory, `base-${checksum.replace("sha256:", "")}.parquet`);
}

export function listBases(store: IndexStore): Base[] {
  const sql = `select id, checksum, fingerprint, parser_version as parserVersion, size_bytes as sizeBytes from bases order by id`;
  return store.prepare(sql).all() as unknown as Base[];
}
