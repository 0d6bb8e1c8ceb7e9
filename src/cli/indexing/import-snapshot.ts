import { openSnapshot } from "../../engines/snapshot/reader.ts";
import {
  SnapshotFormatError,
  type SnapshotBytes,
  type SnapshotFile,
  type SnapshotHeader,
} from "../../engines/snapshot/types.ts";
import { adoptVectors, completeBases } from "./base.ts";
import { contentKey, contentsByKey, listBases } from "./bases.ts";
import type { IndexStore } from "./store.ts";
import { missingHashes, setWanted } from "./vectors.ts";

interface ImportOptions {
  gitSha: string;
  parserVersion: number;
  /** `sha256:<hex>`; the file is at `baseFile`. */
  checksum: string;
  onProgress?: (done: number, total: number) => void;
}

/**
 * Imports a snapshot's files into the index, all or nothing; symbols, chunks and vectors stay in the artifact as a base layer. Of
 * contents from another parser version only the vectors are used, since many chunks have the same text.
 */
export async function importSnapshot(
  store: IndexStore,
  bytes: SnapshotBytes,
  options: ImportOptions,
): Promise<SnapshotHeader> {
  const snapshot = await openSnapshot(bytes);
  const { header } = snapshot;
  if (header.gitSha !== options.gitSha) {
    throw new SnapshotFormatError(`it describes commit ${header.gitSha}, but its manifest says ${options.gitSha}`);
  }
  store.begin();
  try {
    if (header.parserVersion !== options.parserVersion) {
      await takeVectors(store, header, snapshot.files(), options);
      store.commit();
      return header;
    }
    const base = addBase(store, header, bytes.byteLength, options.checksum);
    const alike = new Set(
      listBases(store).flatMap(({ id, fingerprint }) => (fingerprint === header.fingerprint ? id : [])),
    );
    const ids = contentsByKey(store, "parser_version", options.parserVersion);
    const complete = new Set<number>();
    const add = store.prepare(
      `insert into contents (sha256, language, parser_version, size_bytes, outcome, symbol_count, chunk_count,
         redacted_count, base, base_row) values (unhex(?), ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    let withheld = 0;
    let done = 0;
    const files = await snapshot.listing();
    for (const file of files) {
      const key = contentKey(file.contentHash, file.language);
      let known = ids.get(key);
      if (known === undefined) {
        const { lastInsertRowid } = add.run(
          file.contentHash,
          file.language,
          header.parserVersion,
          file.sizeBytes,
          file.outcome,
          file.symbolCount,
          file.chunkCount,
          file.withheldCount,
          base,
          file.row,
        );
        ids.set(key, (known = { id: Number(lastInsertRowid), base }));
      } else if (known.base === null) complete.add(known.id);
      else if (known.base !== base && alike.has(known.base)) {
        store.prepare("update contents set base = ?, base_row = ? where id = ?").run(base, file.row, known.id);
        known.base = base;
      }
      withheld += file.withheldCount;
      done++;
    }
    options.onProgress?.(done, header.fileCount);
    store.commit();
    // Contents that were indexed here before may lack vectors.
    setWanted(store, complete);
    await adoptVectors(store, header.fingerprint, missingHashes(store, header.fingerprint));
    // Contents of a base layer must have every vector.
    if (header.vectorCount < header.chunkCount - withheld) await completeBases(store);
    return header;
  } catch (error) {
    store.rollback();
    throw error;
  }
}

async function takeVectors(
  store: IndexStore,
  header: SnapshotHeader,
  files: AsyncIterable<SnapshotFile>,
  options: ImportOptions,
): Promise<void> {
  const fingerprintId = store.fingerprintId(header.fingerprint, header.dimension) ?? 0;
  let done = 0;
  for await (const { chunks } of files) {
    for (const { hash, vector } of chunks)
      if (vector !== undefined) store.addVector(fingerprintId, Buffer.from(hash, "hex"), vector);
    options.onProgress?.(++done, header.fileCount);
  }
}

function addBase(store: IndexStore, header: SnapshotHeader, sizeBytes: number, checksum: string): number {
  const { gitSha, fingerprint, dimension, parserVersion } = header;
  store
    .prepare(
      `insert into bases (checksum, git_sha, fingerprint, dimension, parser_version, size_bytes) values (?, ?, ?, ?, ?, ?)
       on conflict do nothing`,
    )
    .run(checksum, gitSha, fingerprint, dimension, parserVersion, sizeBytes);
  return (store.prepare("select id from bases where checksum = ?").get(checksum) as { id: number }).id;
}
