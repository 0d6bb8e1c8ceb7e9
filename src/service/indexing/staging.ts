/**
 * Objects that a run stages between its steps: blobs in shards of bounded size, the list of file changes, and
 * the trees of the indexed commit. Keys begin with the run and its attempt, so that attempts never share an object.
 */
import { createHash } from "node:crypto";
import { constants, deflateRawSync, inflateRawSync } from "node:zlib";
import type { LanguageId } from "../../engines/parsing/languages.ts";
import type { SearchBucket } from "../hosted-index/store.ts";
import { raceTimeout } from "../../lib/pause.ts";
import { runPrefix } from "../runs/messages.ts";
import type { ListChanges } from "../hosted-index/whole-texts/writer.ts";

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
const STAGING_TIMEOUT_MS = 10_000;

/** The object store failed or did not answer in time. */
export class StagingError extends Error {
  override readonly name = "StagingError";
}

/** A staged object is gone, cannot be read, or is not what was stored: the run must be planned again. */
export class DamagedObjectError extends Error {
  override readonly name = "DamagedObjectError";
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
type Shard = { kind: "parse"; blobs: StagedBlob[] } | { kind: "embed"; contentIds: string[] };

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
  list: ListChanges;
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
  /** Id of the file list that the changes of the list are relative to; null: they are the whole list. Absent in plans of versions without
   * whole texts. */
  baseList?: string | null;
}

export const changesKey = (runId: string, attempt: number, part: number) =>
  `${runPrefix(runId, attempt)}changes-${part}`;
export const summaryKey = (runId: string, attempt: number) => `${runPrefix(runId, attempt)}summary`;
export const TREES_PREFIX = "trees/";
export const treesKey = (workspaceId: string, runId: string) => `${TREES_PREFIX}${workspaceId}/${runId}`;

/** Key of the revision's skips, beside its trees. */
export const skipsKey = (workspaceId: string, runId: string) => `${treesKey(workspaceId, runId)}.skips`;

// Not imported from `ids.ts`: that would put the parser's tables into the api.
const sha256Hex = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

interface ShardTrailer {
  version: number;
  kind: Shard["kind"];
  blobs?: { sha256: string; languages: LanguageId[]; size: number }[];
  contentIds?: string[];
}

/** 2: the trailer has a checksum. A shard of another version is planned again. */
const SHARD_VERSION = 2;
const TRAILER_LENGTH_BYTES = 4;
/** SHA-256 of the trailer, in hex. */
const TRAILER_HASH_BYTES = 64;
/** More than any shard has: what a damaged object may be inflated to. */
const MAX_SHARD_BYTES = 16 * 1024 * 1024;

/**
 * Collects blobs in one reused buffer; otherwise a pull would leave garbage of the repository's whole size. A shard is the blobs' bytes, a trailer as JSON, the trailer's hash and its length (4 bytes, little-endian). The trailer
 * has the hash of each blob, so nothing in a shard is unchecked.
 */
export class ShardBuffer {
  #buffer = new Uint8Array(0);
  #used = 0;
  #blobs: NonNullable<ShardTrailer["blobs"]> = [];

  get bytes(): number {
    return this.#used;
  }

  get count(): number {
    return this.#blobs.length;
  }

  /** Copies a blob in. */
  add(sha256: string, languages: LanguageId[], data: Uint8Array): void {
    this.#reserve(data.byteLength);
    this.#buffer.set(data, this.#used);
    this.#used += data.byteLength;
    this.#blobs.push({ sha256, languages, size: data.byteLength });
  }

  /** Returns the shard as a view that is valid until the next `add`, and resets the buffer. */
  take(): Uint8Array {
    const trailer = encodeTrailer({ version: SHARD_VERSION, kind: "parse", blobs: this.#blobs });
    this.#reserve(trailer.byteLength);
    this.#buffer.set(trailer, this.#used);
    const shard = this.#buffer.subarray(0, this.#used + trailer.byteLength);
    this.#used = 0;
    this.#blobs = [];
    return shard;
  }

  #reserve(more: number): void {
    const needed = this.#used + more;
    if (needed <= this.#buffer.byteLength) return;
    const grown = new Uint8Array(Math.max(needed, this.#buffer.byteLength * 2));
    grown.set(this.#buffer.subarray(0, this.#used));
    this.#buffer = grown;
  }
}

function encodeTrailer(trailer: ShardTrailer): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify(trailer));
  const bytes = new Uint8Array(json.byteLength + TRAILER_HASH_BYTES + TRAILER_LENGTH_BYTES);
  bytes.set(json);
  bytes.set(new TextEncoder().encode(sha256Hex(json)), json.byteLength);
  new DataView(bytes.buffer).setUint32(json.byteLength + TRAILER_HASH_BYTES, json.byteLength, true);
  return bytes;
}

/** A shard of contents to embed. */
export function encodeEmbedShard(contentIds: string[]): Uint8Array {
  return encodeTrailer({ version: SHARD_VERSION, kind: "embed", contentIds });
}

/** Reads a shard; its blobs are views into `bytes`. Throws if anything in it is not what was stored. */
function decodeShard(bytes: Uint8Array): Shard {
  const hashAt = bytes.byteLength - TRAILER_LENGTH_BYTES - TRAILER_HASH_BYTES;
  if (hashAt < 0) throw new RangeError("the shard is too short");
  const end = hashAt + TRAILER_HASH_BYTES;
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(end, true);
  const json = bytes.subarray(Math.max(0, hashAt - length), hashAt);
  if (sha256Hex(json) !== new TextDecoder().decode(bytes.subarray(hashAt, end)))
    throw new RangeError("the trailer of the shard has a wrong hash");
  const trailer = JSON.parse(new TextDecoder().decode(json)) as ShardTrailer;
  if (trailer.version !== SHARD_VERSION) throw new RangeError(`the shard has version ${trailer.version}`);
  if (trailer.kind === "embed") return { kind: "embed", contentIds: trailer.contentIds ?? [] };
  let offset = 0;
  const blobs = (trailer.blobs ?? []).map(({ sha256, languages, size }) => {
    const blob: StagedBlob = { sha256, languages, bytes: bytes.subarray(offset, offset + size) };
    offset += size;
    if (sha256Hex(blob.bytes) !== sha256) throw new RangeError("a blob of the shard has a wrong hash");
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

/** Reads what `putShard` stored; undefined if it was deleted. Throws `DamagedObjectError` if it is anything else. */
export async function getShard(bucket: StagingBucket, key: string): Promise<Shard | undefined> {
  const bytes = await getBytes(bucket, key);
  if (!bytes) return undefined;
  try {
    const { buffer, byteOffset, byteLength } = inflateRawSync(bytes, { maxOutputLength: MAX_SHARD_BYTES });
    return decodeShard(new Uint8Array(buffer, byteOffset, byteLength));
  } catch (error) {
    throw damaged(error);
  }
}

const damaged = (cause: unknown) => new DamagedObjectError("a staged object is damaged", { cause });

/** Stores a value as gzipped JSON. */
export async function putJson(bucket: Pick<StagingBucket, "put">, key: string, value: unknown): Promise<void> {
  await bucket.put(key, await compress([new TextEncoder().encode(JSON.stringify(value))]));
}

/** Reads what `putJson` stored, which gzip's checksum covers. Throws `DamagedObjectError` if it was deleted or is anything else. */
export async function getJson<T>(bucket: StagingBucket, key: string): Promise<T> {
  const bytes = await getBytes(bucket, key);
  if (!bytes) throw new DamagedObjectError("a staged object is gone");
  try {
    return JSON.parse(new TextDecoder().decode(await decompress(bytes))) as T;
  } catch (error) {
    throw damaged(error);
  }
}

/** Reads an object; undefined if there is none. Throws `DamagedObjectError` if there is one but it cannot be read, twice. */
export async function getBytes(bucket: StagingBucket, key: string): Promise<Uint8Array | undefined> {
  for (let isRepeated = false; ; isRepeated = true) {
    const object = await bucket.get(key);
    if (!object) return undefined;
    try {
      return new Uint8Array(await object.arrayBuffer());
    } catch (error) {
      if (isRepeated) throw damaged(error);
    }
  }
}

/** Compresses a sequence of parts. */
export const compress = (parts: Iterable<Uint8Array>) => transform(parts, new CompressionStream("gzip"));
export const decompress = (bytes: Uint8Array) => transform([bytes], new DecompressionStream("gzip"));

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
