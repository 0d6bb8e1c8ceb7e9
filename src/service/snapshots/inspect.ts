/** Checks an uploaded artifact as far as a Worker can in bounded work: its footer, and that the manifest agrees with it. */
import type { FieldIssue, SnapshotManifest } from "../../contract/index.ts";
import { readFooter } from "../../engines/snapshot/footer.ts";
import { type SnapshotBytes, SnapshotFormatError } from "../../engines/snapshot/types.ts";
import type { SnapshotBucket } from "./storage.ts";

/** A footer has some 3 KB for each row group of up to 6 MiB; one of 2 MiB is that of a 4 GiB index. */
const MAX_INSPECTED_FOOTER_BYTES = 2 * 1024 * 1024;
const MAGIC = "PAR1";

/**
 * Checks the artifact at `key`; returns the rejected field, or undefined if it is valid. An artifact without a container in its manifest
 * that is not a Parquet file comes from another tool and is accepted unchanged. Throws errors of the bucket.
 */
export async function inspectArtifact(
  bucket: SnapshotBucket,
  key: string,
  manifest: SnapshotManifest,
  sizeBytes: number,
): Promise<FieldIssue | undefined> {
  const bytes: SnapshotBytes = {
    byteLength: sizeBytes,
    read: (start, end) => readRange(bucket, key, start, end),
  };
  if (manifest["container"] !== "parquet" && !(await isParquet(bytes))) return undefined;
  try {
    const { header } = await readFooter(bytes, MAX_INSPECTED_FOOTER_BYTES);
    const { embedding } = manifest;
    const claims: [field: string, claimed: unknown, found: unknown][] = [
      ["formatVersion", manifest.formatVersion, header.formatVersion],
      ["gitSha", manifest.gitSha, header.gitSha],
      ["fileCount", manifest.fileCount, header.fileCount],
      ["symbolCount", manifest.symbolCount, header.symbolCount],
      ["embedding.fingerprint", embedding.fingerprint, header.fingerprint],
      ["embedding.dimension", embedding.dimension, header.dimension],
    ];
    const wrong = claims.find(([, claimed, found]) => claimed !== found);
    if (wrong === undefined) return undefined;
    const [field, claimed, found] = wrong;
    return {
      path: `manifest.${field}`,
      message: `is ${JSON.stringify(claimed)}, but the artifact says ${JSON.stringify(found)}`,
    };
  } catch (error) {
    if (!(error instanceof SnapshotFormatError)) throw error;
    return { path: "manifest.checksum", message: `the upload is no snapshot that can be read: ${error.message}` };
  }
}

async function isParquet(bytes: SnapshotBytes): Promise<boolean> {
  const size = bytes.byteLength;
  if (size < 2 * MAGIC.length) return false;
  const [head, tail] = [await bytes.read(0, MAGIC.length), await bytes.read(size - MAGIC.length, size)];
  return [head, tail].every((part) => new TextDecoder().decode(part) === MAGIC);
}

async function readRange(bucket: SnapshotBucket, key: string, start: number, end: number): Promise<Uint8Array> {
  const object = await bucket.get(key, { range: { offset: start, length: end - start } });
  if (object === null) throw new Error("a copied artifact is missing");
  return new Uint8Array(await new Response(object.body).arrayBuffer());
}
