import { openSnapshot } from "../../snapshot/reader.ts";
import { SnapshotFormatError, type SnapshotBytes, type SnapshotHeader } from "../../snapshot/types.ts";
import type { IndexStore } from "./store.ts";

export interface ImportResult {
  header: SnapshotHeader;
  /** Contents that were not known yet. */
  newContents: number;
  vectors: number;
}

/**
 * Takes a snapshot's contents and vectors into the index, all of it or, where anything is wrong, nothing. Contents that
 * another parser version cut are of no use here; their vectors may be, since chunks of the same text are common.
 */
export async function importSnapshot(
  store: IndexStore,
  bytes: SnapshotBytes,
  options: { gitSha: string; parserVersion: number; onProgress?: (done: number, total: number) => void },
): Promise<ImportResult> {
  const snapshot = await openSnapshot(bytes);
  const { header } = snapshot;
  if (header.gitSha !== options.gitSha) {
    throw new SnapshotFormatError(`it describes commit ${header.gitSha}, its manifest says ${options.gitSha}`);
  }
  const sameParser = header.parserVersion === options.parserVersion;
  const result: ImportResult = { header, newContents: 0, vectors: 0 };
  store.begin();
  try {
    const fingerprintId = store.fingerprintId(header.fingerprint, header.dimension) ?? 0;
    let done = 0;
    for await (const file of snapshot.files()) {
      const sha256 = Buffer.from(file.contentHash, "hex");
      if (sameParser && store.findContent(sha256, file.language) === undefined) {
        store.addContent({ ...file, sha256, skip: null });
        result.newContents++;
      }
      for (const { hash, vector } of file.chunks) {
        if (vector === undefined) continue;
        store.addVector(fingerprintId, Buffer.from(hash, "hex"), vector);
        result.vectors++;
      }
      options.onProgress?.(++done, header.fileCount);
    }
    store.commit();
    return result;
  } catch (error) {
    store.rollback();
    throw error;
  }
}
