/**
 * Objects of snapshots. A client uploads to a key under `uploads/`. Commit verifies the bytes and copies them to a key under
 * `snapshots/`, for which no upload URL is ever signed. So nobody can change the served bytes with an upload URL that is still valid.
 */
import { createHash, randomBytes } from "node:crypto";

export const UPLOAD_PREFIX = "uploads/";
export const SNAPSHOT_PREFIX = "snapshots/";

/** Media type of Parquet files. */
export const CONTENT_TYPE = "application/vnd.apache.parquet";

export interface MultipartUpload {
  uploadPart(partNumber: number, value: Uint8Array): Promise<UploadedPart>;
  complete(parts: UploadedPart[]): Promise<{ size: number }>;
  abort(): Promise<void>;
}

export interface UploadedPart {
  partNumber: number;
  etag: string;
}

interface PutOptions {
  sha256?: string;
  httpMetadata?: { contentType: string };
}

interface ListedObjects {
  objects: { key: string; uploaded: Date }[];
  truncated: boolean;
  cursor?: string;
}

/** The part of an R2 bucket that is used. */
export interface SnapshotBucket {
  head(key: string): Promise<{ size: number } | null>;
  get(
    key: string,
    options?: { range: { offset: number; length: number } },
  ): Promise<{ size: number; body: ReadableStream<Uint8Array> } | null>;
  put(key: string, value: ReadableStream<Uint8Array>, options: PutOptions): Promise<unknown>;
  delete(keys: string | string[]): Promise<void>;
  list(options: { prefix: string; cursor?: string }): Promise<ListedObjects>;
  createMultipartUpload(key: string, options: PutOptions): Promise<MultipartUpload>;
}

/** A storage path for a snapshot's artifact: 256 random bits, never given out twice. */
export function newStoragePath(snapshotId: string): string {
  return `${SNAPSHOT_PREFIX}${snapshotId}/${randomBytes(32).toString("base64url")}.parquet`;
}

/** The key to which a client uploads the snapshot with this storage path. */
export function uploadKeyOf(storagePath: string): string {
  return UPLOAD_PREFIX + storagePath.slice(SNAPSHOT_PREFIX.length);
}

/** Prefixes of all objects of a snapshot. */
export function prefixesOf(snapshotId: string): string[] {
  return [`${UPLOAD_PREFIX}${snapshotId}/`, `${SNAPSHOT_PREFIX}${snapshotId}/`];
}

/** The snapshot that an object belongs to; undefined for a key of another shape. */
export function snapshotIdOf(key: string): string | undefined {
  return /^(?:uploads|snapshots)\/([0-9a-f-]{36})\//.exec(key)?.[1];
}

/** Why an upload cannot become a snapshot. */
export type UploadProblem = { problem: "missing" } | { problem: "size"; sizeBytes: number } | { problem: "checksum" };

/**
 * Copies the uploaded object to `storagePath` if it has exactly this size and SHA-256 (hex). The store itself checks the
 * hash over the bytes it writes, so nothing can be exchanged between check and copy. Repeating it is harmless. Resolves to
 * undefined on success; throws what the bucket throws.
 */
export async function adoptUpload(
  bucket: SnapshotBucket,
  storagePath: string,
  expected: { sizeBytes: number; sha256: string },
): Promise<UploadProblem | undefined> {
  const uploadKey = uploadKeyOf(storagePath);
  const upload = await bucket.get(uploadKey);
  // Only verified copies are written to the storage path, so an object there was copied by an earlier attempt.
  if (upload === null) return (await bucket.head(storagePath)) === null ? { problem: "missing" } : undefined;
  if (upload.size !== expected.sizeBytes) {
    await upload.body.cancel();
    return { problem: "size", sizeBytes: upload.size };
  }
  try {
    await bucket.put(storagePath, upload.body, {
      sha256: expected.sha256,
      httpMetadata: { contentType: CONTENT_TYPE },
    });
  } catch (error) {
    // The store reports a wrong checksum like any other failure, so compute the checksum to tell which it was.
    if ((await sha256OfObject(bucket, uploadKey)) === expected.sha256) throw error;
    return { problem: "checksum" };
  }
  return undefined;
}

/** SHA-256 (hex) of an object, streamed; undefined when it is gone. */
async function sha256OfObject(bucket: SnapshotBucket, key: string): Promise<string | undefined> {
  const object = await bucket.get(key);
  if (object === null) return undefined;
  const hash = createHash("sha256");
  for await (const part of object.body) hash.update(part);
  return hash.digest("hex");
}

/** Deletes every object under a prefix but `except`. */
export async function deletePrefix(bucket: SnapshotBucket, prefix: string, except?: string): Promise<void> {
  for (let cursor: string | undefined; ;) {
    const page = await bucket.list({ prefix, ...(cursor === undefined ? {} : { cursor }) });
    const keys = page.objects.map((object) => object.key).filter((key) => key !== except);
    if (keys.length > 0) await bucket.delete(keys);
    if (!page.truncated) return;
    cursor = page.cursor;
  }
}
