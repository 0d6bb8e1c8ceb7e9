/**
 * What a run leaves in object storage between its steps: blobs in shards of bounded size, the list of file changes, and
 * the trees of the indexed commit. Keys begin with the run and its attempt, so that attempts never share an object.
 */
import type { LanguageId } from "../parsing/index.ts";

/** The part of an R2 bucket that is used. */
export interface StagingBucket {
  put(key: string, value: Uint8Array): Promise<unknown>;
  get(key: string): Promise<{ arrayBuffer(): Promise<ArrayBuffer> } | null>;
  delete(keys: string | string[]): Promise<void>;
  list(options: { prefix: string; cursor?: string }): Promise<{ objects: { key: string; uploaded: Date }[]; truncated: boolean; cursor?: string }>;
}

export interface StagedBlob {
  sha256: string;
  languages: LanguageId[];
  bytes: Uint8Array;
}

/** A shard is either blobs to parse, or contents that lack vectors of the current fingerprint. */
export type Shard = { kind: "parse"; blobs: StagedBlob[] } | { kind: "embed"; contentIds: string[] };

export interface FilePut {
  path: string;
  oid: string;
  mode: number;
  contentId: string;
}

/** Rows of the new revision that differ from the current one. */
export interface FileChanges {
  puts: FilePut[];
  deletes: string[];
}

/** What the plan hands to the finish. */
export interface PlanSummary {
  commit: string;
  rootTree: string;
  defaultBranch: string | null;
  planKey: string;
  baseSeq: number | null;
  /** Files whose content nobody had indexed before this run. */
  freshFiles: number;
  skipped: Record<string, number>;
  changeObjects: number;
}

export const runPrefix = (runId: string, attempt: number) => `runs/${runId}/${attempt}/`;
export const shardKey = (runId: string, attempt: number, shard: number) => `${runPrefix(runId, attempt)}shard-${shard}`;
export const changesKey = (runId: string, attempt: number, part: number) => `${runPrefix(runId, attempt)}changes-${part}`;
export const summaryKey = (runId: string, attempt: number) => `${runPrefix(runId, attempt)}summary`;
export const treesKey = (workspaceId: string, runId: string) => `trees/${workspaceId}/${runId}`;

/** Beside the trees: the paths that the revision left out, with reasons. */
export const skipsKey = (workspaceId: string, runId: string) => `${treesKey(workspaceId, runId)}.skips`;

interface ShardHeader {
  kind: Shard["kind"];
  blobs?: { sha256: string; languages: LanguageId[]; size: number }[];
  contentIds?: string[];
}

/** Header length (4 bytes, little-endian), header as JSON, then the blobs' bytes one after the other. */
export function encodeShard(shard: Shard): Uint8Array {
  const header: ShardHeader =
    shard.kind === "parse"
      ? { kind: "parse", blobs: shard.blobs.map(({ sha256, languages, bytes }) => ({ sha256, languages, size: bytes.byteLength })) }
      : shard;
  const head = new TextEncoder().encode(JSON.stringify(header));
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, head.byteLength, true);
  return Buffer.concat([length, head, ...(shard.kind === "parse" ? shard.blobs.map((blob) => blob.bytes) : [])]);
}

/** Reverses `encodeShard`; the blobs are views into `bytes`. */
export function decodeShard(bytes: Uint8Array): Shard {
  const headLength = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + headLength))) as ShardHeader;
  if (header.kind === "embed") return { kind: "embed", contentIds: header.contentIds ?? [] };
  let offset = 4 + headLength;
  const blobs = (header.blobs ?? []).map(({ sha256, languages, size }) => {
    const blob: StagedBlob = { sha256, languages, bytes: bytes.subarray(offset, offset + size) };
    offset += size;
    return blob;
  });
  return { kind: "parse", blobs };
}

/** Stores a value as gzipped JSON. */
export async function putJson(bucket: StagingBucket, key: string, value: unknown): Promise<void> {
  await bucket.put(key, await gzip(new TextEncoder().encode(JSON.stringify(value))));
}

/** Reads what `putJson` stored. Throws when the object is gone. */
export async function getJson<T>(bucket: StagingBucket, key: string): Promise<T> {
  const bytes = await getBytes(bucket, key);
  if (!bytes) throw new Error(`staged object is gone: ${key}`);
  return JSON.parse(new TextDecoder().decode(await gunzip(bytes))) as T;
}

export async function getBytes(bucket: StagingBucket, key: string): Promise<Uint8Array | undefined> {
  const object = await bucket.get(key);
  return object ? new Uint8Array(await object.arrayBuffer()) : undefined;
}

export const gzip = (bytes: Uint8Array) => transform(bytes, new CompressionStream("gzip"));
export const gunzip = (bytes: Uint8Array) => transform(bytes, new DecompressionStream("gzip"));

async function transform(bytes: Uint8Array, through: CompressionStream | DecompressionStream): Promise<Uint8Array> {
  const stream = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(through);
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Removes every object under a prefix. */
export async function removePrefix(bucket: StagingBucket, prefix: string): Promise<void> {
  let cursor: string | undefined;
  do {
    const page = await bucket.list(cursor === undefined ? { prefix } : { prefix, cursor });
    if (page.objects.length > 0) await bucket.delete(page.objects.map((object) => object.key));
    cursor = page.truncated ? page.cursor : undefined;
  } while (cursor !== undefined);
}
