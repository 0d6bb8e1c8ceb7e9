import { createHash } from "node:crypto";
import type { SnapshotManifest } from "../../contract/index.ts";
import { FileListWriter } from "./file-list.ts";
import { clean, hashBytes, rowsOfFile } from "./file-rows.ts";
import { GroupWriter } from "./group-writer.ts";
import { gzip } from "./gzip.ts";
import { COMPRESSION, headerFault, SNAPSHOT_FORMAT_VERSION } from "./layout.ts";
import { comparePaths, type SnapshotHeader, type SnapshotSource } from "./types.ts";

export interface WrittenSnapshot {
  sizeBytes: number;
  /** `sha256:<hex>` of every byte handed to the sink. */
  checksum: string;
  header: SnapshotHeader;
  manifest: SnapshotManifest & { sizeBytes: number; chunkCount: number };
}

/**
 * Writes the artifact of `source` to `sink` in order, one row group or search segment at a time. These and the list of files bound the memory. The
 * bytes depend on the source only, on any platform. The sink may keep the arrays that it gets.
 * Throws `RangeError` naming the file when the source breaks its own rules (order, ranges, vector length).
 */
export async function writeSnapshot(
  source: SnapshotSource,
  sink: (bytes: Uint8Array) => Promise<void>,
): Promise<WrittenSnapshot> {
  const { gitSha, fingerprint, dimension, parserVersion } = source.header;
  const header: SnapshotHeader = {
    formatVersion: SNAPSHOT_FORMAT_VERSION,
    gitSha,
    fingerprint,
    dimension,
    vectorType: "float16",
    parserVersion,
    fileCount: 0,
    symbolCount: 0,
    chunkCount: 0,
    useCount: 0,
    vectorCount: 0,
  };
  const fault = headerFault(header);
  if (fault !== undefined) throw new RangeError(`${fault} is not what a snapshot's header can hold`);
  const hash = createHash("sha256");
  let sizeBytes = 0;
  const drain = async (bytes: Uint8Array) => {
    hash.update(bytes);
    sizeBytes += bytes.length;
    await sink(bytes);
  };
  const groups = new GroupWriter(dimension, drain);
  const list = new FileListWriter(gzip);

  let previousPath: string | undefined;
  for await (const given of source.files()) {
    const file = clean(given);
    if (previousPath !== undefined && comparePaths(previousPath, file.path) >= 0) {
      throw new RangeError(
        `files are not in order: ${JSON.stringify(file.path)} after ${JSON.stringify(previousPath)}`,
      );
    }
    previousPath = file.path;
    const contentHash = hashBytes(file.contentHash, file.path);
    list.add(file.path, contentHash, file);
    for (const { row, vector } of rowsOfFile(file, contentHash)) {
      if (vector !== undefined && vector.length !== 2 * dimension) {
        throw new RangeError(`${file.path}: a vector has ${vector.length} bytes, not ${2 * dimension}`);
      }
      groups.add(row, vector);
      if (vector !== undefined) header.vectorCount++;
      if (groups.full) await groups.flush();
    }
    groups.addContent(file);
    header.fileCount++;
    header.symbolCount += file.symbols.length;
    header.chunkCount += file.chunks.length;
    header.useCount += file.uses.length;
  }
  await groups.finish(header, list);

  const checksum = `sha256:${hash.digest("hex")}`;
  const { fileCount, symbolCount, chunkCount } = header;
  return {
    sizeBytes,
    checksum,
    header,
    manifest: {
      formatVersion: SNAPSHOT_FORMAT_VERSION,
      container: "parquet",
      compression: COMPRESSION,
      gitSha,
      checksum,
      sizeBytes,
      fileCount,
      symbolCount,
      chunkCount,
      parserVersion,
      embedding: { fingerprint, dimension, type: "float16" },
    },
  };
}
