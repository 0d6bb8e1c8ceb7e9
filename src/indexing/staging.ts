/**
 * Objects that a run stages between its steps: blobs in shards of bounded size, the list of file changes, and
 * the trees of the indexed commit. Keys begin with the run and its attempt, so that attempts never share an object.
 */
import { constants, deflateRawSync, inflateRawSync } from "node:zlib";
import type { LanguageId } from "../parsing/languages.ts";
import type { SearchBucket } from "../search/store.ts";
import { raceTimeout } from "../pause.ts";

/** The subset of an R2 bucket that is needed. */
export interface StagingBucket {
  put(key: string, value: Uint8Array): Promise<unknown>;
  get(key: string): Promise<{ arrayBuffer(): Promise<ArrayBuffer> } | null>;
  delete(keys: string | string[]): Promise<void>;
  list(options: {
    prefix: string;
    cursor?: string;
  }): Promise<{ objects: { key: string; uploaded: Date }[]; truncated: boolean; cursor?: string }>;
}

/** Time limit per call to the object store. Objects have about 1 MB; where messages are handled one by one, others wait that long. */
export const STAGING_TIMEOUT_MS = 10_000;

/** The object store failed or did not answer in time. */
export class StagingError extends Error {
  override readonly name = "StagingError";
}

/** Wraps a bucket with a time limit on every call. Failures are {@link StagingError}s. `onDone` is called after each successful call. */
export function limitBucket(
  bucket: SearchBucket,
  onDone: () => void = () => {},
  timeoutMs = STAGING_TIMEOUT_MS,
): SearchBucket {
  const limited = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    try {
      const done = await raceTimeout(work(), timeoutMs);
      onDone();
      return done;
    } catch (error) {
      if (error instanceof StagingError) throw error;
      throw new StagingError(`the object store failed to ${what}; try again later`, { cause: error });
    }
  };
  return {
    head: (key) => limited("find an object", () => bucket.head(key)),
    put: (key, value) => limited("store an object", () => bucket.put(key, value)),
    get: async (key, options) => {
      const object = await limited("find an object", () => bucket.get(key, options));
      return object && { size: object.size, arrayBuffer: () => limited("read an object", () => object.arrayBuffer()) };
    },
    delete: (keys) => limited("delete objects", () => bucket.delete(keys)),
    list: (options) => limited("list objects", () => bucket.list(options)),
  };
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

/** Files that a revision skipped; stored beside its trees for the next plan. */
export interface LeftOut {
  /** Skipped by name: number of files per reason. */
  byName: Record<string, number>;
  /** Skipped by content: path and reason. */
  byContent: [path: string, reason: string][];
}

/** Data passed from the plan to the finish. */
export interface PlanSummary {
  commit: string;
  rootTree: string;
  defaultBranch: string | null;
  planKey: string;
  /** Fingerprint of the model that the plan was made for. */
  fingerprint: string;
  /** Current revision of the workspace; the changes are relative to it. */
  baseSeq: number | null;
  /** Whether the new revision becomes the current one. */
  current: boolean;
  /** Full name of the requested branch or tag. */
  ref: string | null;
  /** Number of rows that the finish writes. */
  puts: number;
  /** Files whose content was new to the tenant. */
  freshFiles: number;
  skipped: Record<string, number>;
  changeObjects: number;
}

export const runPrefix = (runId: string, attempt: number) => `runs/${runId}/${attempt}/`;
export const shardKey = (runId: string, attempt: number, shard: number) => `${runPrefix(runId, attempt)}shard-${shard}`;
export const changesKey = (runId: string, attempt: number, part: number) =>
  `${runPrefix(runId, attempt)}changes-${part}`;
export const summaryKey = (runId: string, attempt: number) => `${runPrefix(runId, attempt)}summary`;
export const TREES_PREFIX = "trees/";
export const treesKey = (workspaceId: string, runId: string) => `${TREES_PREFIX}${workspaceId}/${runId}`;

/** Key of the revision's skips, beside its trees. */
export const skipsKey = (workspaceId: string, runId: string) => `${treesKey(workspaceId, runId)}.skips`;

interface ShardTrailer {
  kind: Shard["kind"];
  blobs?: { sha256: string; languages: LanguageId[]; size: number }[];
  contentIds?: string[];
}

const TRAILER_LENGTH_BYTES = 4;

/**
 * Collects blobs in one reused buffer; otherwise a pull would leave garbage of the repository's whole size. A shard is the blobs' bytes, a trailer as JSON, and the trailer's length (4 bytes, little-endian).
 */
export class ShardBuffer {
  private buffer = new Uint8Array(0);
  private used = 0;
  private blobs: NonNullable<ShardTrailer["blobs"]> = [];

  get bytes(): number {
    return this.used;
  }

  get count(): number {
    return this.blobs.length;
  }

  /** Copies a blob in. */
  add(sha256: string, languages: LanguageId[], data: Uint8Array): void {
    this.reserve(data.byteLength);
    this.buffer.set(data, this.used);
    this.used += data.byteLength;
    this.blobs.push({ sha256, languages, size: data.byteLength });
  }

  /** Returns the shard as a view that is valid until the next `add`, and resets the buffer. */
  take(): Uint8Array {
    const trailer = encodeTrailer({ kind: "parse", blobs: this.blobs });
    this.reserve(trailer.byteLength);
    this.buffer.set(trailer, this.used);
    const shard = this.buffer.subarray(0, this.used + trailer.byteLength);
    this.used = 0;
    this.blobs = [];
    return shard;
  }

  private reserve(more: number): void {
    const needed = this.used + more;
    if (needed <= this.buffer.byteLength) return;
    const grown = new Uint8Array(Math.max(needed, this.buffer.byteLength * 2));
    grown.set(this.buffer.subarray(0, this.used));
    this.buffer = grown;
  }
}

function encodeTrailer(trailer: ShardTrailer): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify(trailer));
  const bytes = new Uint8Array(json.byteLength + TRAILER_LENGTH_BYTES);
  bytes.set(json);
  new DataView(bytes.buffer).setUint32(json.byteLength, json.byteLength, true);
  return bytes;
}

/** A shard of contents to embed. */
export function encodeEmbedShard(contentIds: string[]): Uint8Array {
  return encodeTrailer({ kind: "embed", contentIds });
}

/** Reads a shard; its blobs are views into `bytes`. */
function decodeShard(bytes: Uint8Array): Shard {
  const end = bytes.byteLength - TRAILER_LENGTH_BYTES;
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(end, true);
  const trailer = JSON.parse(new TextDecoder().decode(bytes.subarray(end - length, end))) as ShardTrailer;
  if (trailer.kind === "embed") return { kind: "embed", contentIds: trailer.contentIds ?? [] };
  let offset = 0;
  const blobs = (trailer.blobs ?? []).map(({ sha256, languages, size }) => {
    const blob: StagedBlob = { sha256, languages, bytes: bytes.subarray(offset, offset + size) };
    offset += size;
    return blob;
  });
  return { kind: "parse", blobs };
}

/**
 * Stores a shard compressed. Source shrinks to a fifth, and shards are much of what a run transfers. Uses the fastest level,
 * in one call, because a shard is small.
 */
export async function putShard(bucket: StagingBucket, key: string, shard: Uint8Array): Promise<void> {
  await bucket.put(key, deflateRawSync(shard, { level: constants.Z_BEST_SPEED }));
}

/** Reads what `putShard` stored; undefined if it was deleted. */
export async function getShard(bucket: StagingBucket, key: string): Promise<Shard | undefined> {
  const bytes = await getBytes(bucket, key);
  if (!bytes) return undefined;
  const { buffer, byteOffset, byteLength } = inflateRawSync(bytes);
  return decodeShard(new Uint8Array(buffer, byteOffset, byteLength));
}

/** Stores a value as gzipped JSON. */
export async function putJson(bucket: StagingBucket, key: string, value: unknown): Promise<void> {
  await bucket.put(key, await gzip([new TextEncoder().encode(JSON.stringify(value))]));
}

/** Reads what `putJson` stored. Throws if it was deleted. */
export async function getJson<T>(bucket: StagingBucket, key: string): Promise<T> {
  const bytes = await getBytes(bucket, key);
  if (!bytes) throw new Error(`staged object is gone: ${key}`);
  return JSON.parse(new TextDecoder().decode(await gunzip(bytes))) as T;
}

export async function getBytes(bucket: StagingBucket, key: string): Promise<Uint8Array | undefined> {
  const object = await bucket.get(key);
  return object ? new Uint8Array(await object.arrayBuffer()) : undefined;
}

/** Compresses a sequence of parts. */
export const gzip = (parts: Iterable<Uint8Array>) => transform(parts, new CompressionStream("gzip"));
export const gunzip = (bytes: Uint8Array) => transform([bytes], new DecompressionStream("gzip"));

async function transform(
  parts: Iterable<Uint8Array>,
  through: CompressionStream | DecompressionStream,
): Promise<Uint8Array> {
  const feed = async () => {
    const writer = through.writable.getWriter();
    for (const part of parts) await writer.write(part);
    await writer.close();
  };
  const [output] = await Promise.all([new Response(through.readable).arrayBuffer(), feed()]);
  return new Uint8Array(output);
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
