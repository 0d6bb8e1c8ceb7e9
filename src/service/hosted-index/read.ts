/** Ranged reading of index objects, with a cache of the isolate. */
import { type RangeReader, SearchFormatError } from "../../engines/search/types.ts";
import { inMemory } from "../../engines/search/bytes.ts";
import { LruCache } from "./lru.ts";
import { getRange, type SearchBucket, tenantOf } from "./store.ts";
import { Turns } from "../../lib/turns.ts";

/** What is read of an object when it is opened; holds all of a small one, and the hot parts of most. */
const FIRST_READ_BYTES = 256 * 1024;
/** While the cache has room, whole pages are read: an index that fits into it is read with few requests. A full cache keeps blocks only. */
const PAGE_BYTES = 64 * 1024;
/** Ranges that are wanted together are read with one request where no more than this lies between them: bytes cost less than requests. */
const MAX_GAP_BYTES = 256 * 1024;
/** Where such a request ends. */
const MAX_REQUEST_BYTES = 1024 * 1024;
/** Longer ranges are hot parts, which their readers keep in another form. */
const MAX_KEPT_BYTES = PAGE_BYTES;

/** Bytes of ranges that an isolate keeps, least recently used out. */
const CACHE_BYTES = 20 * 1024 * 1024;
/** An entry's share of the cache besides its bytes: key, array, position in the order of use. */
const ENTRY_BYTES = 250;

/** Bytes that the requests to the object store under way may have together; a single request may have more. */
const MAX_READING_BYTES = 16 * 1024 * 1024;
/**
 * Requests of one batch under way. A Worker has six connections, and each read that waits for room looks for its turn every other
 * millisecond: many queries at a time take longer with all requests at once.
 */
const MAX_BATCH_REQUESTS = 4;
/** A read that has not ended by then belongs to a request that was cancelled. */
const MAX_READING_MS = 10_000;

/**
 * Pages and blocks of immutable objects. It keeps bytes only, never promises: in Workers a request must not wait for I/O that another
 * request has started.
 */
export class RangeCache extends LruCache<Uint8Array> {
  readonly #reads = new Turns({ room: MAX_READING_BYTES, maxWorkMs: MAX_READING_MS });

  constructor(budgetBytes: number = CACHE_BYTES) {
    super(budgetBytes, ({ byteLength }) => byteLength + ENTRY_BYTES);
  }

  /** Bytes of an object whose beginning is kept; undefined if it is not, or not any more. */
  sizeOf(key: string): number | undefined {
    const size = this.get(sizeKey(key));
    return size && this.get(pageKey(key, 0)) && new DataView(size.buffer).getFloat64(0);
  }

  keepSize(key: string, bytes: number): void {
    const size = new Uint8Array(8);
    new DataView(size.buffer).setFloat64(0, bytes);
    this.set(sizeKey(key), size);
  }

  /** Runs a read of so many bytes of an object once there is room for it, so that the memory of reads under way is bounded. */
  whenRoom<T>(key: string, bytes: number, read: () => Promise<T>): Promise<T> {
    return this.#reads.run(tenantOf(key), bytes, read);
  }
}

/**
 * Opens an object for ranged reading, without a request if its beginning is in the cache: a push opens the index over all repositories of
 * a tenant anew, and reads what it has written. Throws `SearchFormatError` if the object is missing.
 */
export async function openObject(
  bucket: SearchBucket,
  key: string,
  { cache = new RangeCache(), firstBytes = FIRST_READ_BYTES }: { cache?: RangeCache; firstBytes?: number } = {},
): Promise<RangeReader> {
  const size = cache.sizeOf(key);
  if (size !== undefined) return new CachedReader(bucket, key, size, cache);
  return cache.whenRoom(key, firstBytes, async () => {
    const first = await getRange(bucket, key, { offset: 0, length: firstBytes });
    if (!first) throw new SearchFormatError(`${key} is missing`, key);
    keepPages(cache, key, { offset: 0, end: first.size }, first.bytes);
    cache.keepSize(key, first.size);
    return new CachedReader(bucket, key, first.size, cache);
  });
}

/**
 * Reads all of an object, with one request if it has `firstBytes` at most, else with two. For what is kept in another form: `cache` bounds the
 * reads under way, and keeps no range of it. Throws `SearchFormatError` if the object is missing or shorter than it was.
 */
export async function readObject(
  bucket: SearchBucket,
  key: string,
  { cache, firstBytes }: { cache: RangeCache; firstBytes: number },
): Promise<RangeReader> {
  const read = (offset: number, length: number) =>
    cache.whenRoom(key, length, () => getRange(bucket, key, { offset, length }));
  const first = await read(0, firstBytes);
  if (!first) throw new SearchFormatError(`${key} is missing`, key);
  const offset = first.bytes.byteLength;
  if (offset >= first.size) return inMemory(first.bytes);
  const rest = await read(offset, first.size - offset);
  if (rest?.bytes.byteLength !== first.size - offset) throw new SearchFormatError(`${key} is truncated`, key);
  return inMemory(join([first.bytes, rest.bytes]));
}

const pageKey = (key: string, page: number): string => `${key} page ${page}`;
const sizeKey = (key: string): string => `${key} size`;

/** Keeps the whole pages of what was read from `offset`, the beginning of a page, in an object that ends at `end`. */
function keepPages(cache: RangeCache, key: string, { offset, end }: Range, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.byteLength; at += PAGE_BYTES) {
    const isWhole = at + PAGE_BYTES <= bytes.byteLength || offset + bytes.byteLength === end;
    // A copy: a view would keep all that was read in memory after the other pages are gone.
    if (isWhole) cache.set(pageKey(key, (offset + at) / PAGE_BYTES), bytes.slice(at, at + PAGE_BYTES));
  }
}

interface Range {
  offset: number;
  end: number;
}

class CachedReader implements RangeReader {
  readonly #bucket: SearchBucket;
  readonly name: string;
  readonly size: number;
  readonly #cache: RangeCache;
  /** Ranges asked for in the current synchronous burst, by where they begin: they are read together. */
  #batch: { wanted: Map<string, Range>; read: Promise<Map<string, Uint8Array>> } | undefined;

  constructor(bucket: SearchBucket, key: string, size: number, cache: RangeCache) {
    this.#bucket = bucket;
    this.name = key;
    this.size = size;
    this.#cache = cache;
  }

  read(offset: number, length: number): Uint8Array | Promise<Uint8Array> {
    if (length === 0) return new Uint8Array();
    const end = offset + length;
    const key = `${this.name} ${offset}-${end}`;
    const known = this.#cache.get(key);
    if (known) return known;
    return this.#fromPages({ offset, end }) ?? this.#rest({ offset, end }) ?? this.#load(key, { offset, end });
  }

  /** A hot part of which the object's opening has read the beginning: only the rest of it is read. Undefined for any other range. */
  #rest({ offset, end }: Range): Promise<Uint8Array> | undefined {
    if (end - offset <= MAX_KEPT_BYTES) return undefined;
    let known = offset;
    for (let page = Math.floor(offset / PAGE_BYTES); this.#cache.has(pageKey(this.name, page)); page++)
      known = (page + 1) * PAGE_BYTES;
    const beginning = known > offset ? this.#fromPages({ offset, end: known }) : undefined;
    if (!beginning) return undefined;
    return this.#load(`${this.name} ${known}-${end}`, { offset: known, end }).then((rest) => join([beginning, rest]));
  }

  /** A range out of pages that are in the cache; undefined if one of them is not. */
  #fromPages({ offset, end }: Range): Uint8Array | undefined {
    const first = Math.floor(offset / PAGE_BYTES);
    const pages: Uint8Array[] = [];
    for (let page = first; page * PAGE_BYTES < end; page++) {
      const own = this.#cache.get(pageKey(this.name, page));
      if (!own) return undefined;
      pages.push(own);
    }
    const parts = pages.map((page, i) => {
      const start = (first + i) * PAGE_BYTES;
      return page.subarray(Math.max(0, offset - start), end - start);
    });
    const [only] = parts;
    return only && parts.length === 1 ? only : join(parts);
  }

  /** Joins a batch. A batch is of one request: microtasks run before any other request's code. */
  async #load(key: string, range: Range): Promise<Uint8Array> {
    if (!this.#batch) {
      const wanted = new Map<string, Range>();
      const read = Promise.resolve().then(() => {
        this.#batch = undefined;
        return this.#fetch(wanted);
      });
      this.#batch = { wanted, read };
    }
    const { wanted, read } = this.#batch;
    wanted.set(key, range);
    return (await read).get(key) as Uint8Array;
  }

  /** Reads ranges, with a request for each run of near ones. */
  async #fetch(wanted: ReadonlyMap<string, Range>): Promise<Map<string, Uint8Array>> {
    const runs: (Range & { keys: string[] })[] = [];
    for (const [key, { offset, end }] of [...wanted].toSorted(([, a], [, b]) => a.offset - b.offset)) {
      const run = runs.at(-1);
      if (run && offset - run.end <= MAX_GAP_BYTES && end - run.offset <= MAX_REQUEST_BYTES) {
        run.end = Math.max(run.end, end);
        run.keys.push(key);
      } else runs.push({ offset, end, keys: [key] });
    }
    const read = new Map<string, Uint8Array>();
    const left = runs.values();
    const readNext = async () => {
      for (const run of left)
        await this.#cache.whenRoom(this.name, run.end - run.offset, () => this.#fetchRun(run, wanted, read));
    };
    await Promise.all(Array.from({ length: Math.min(MAX_BATCH_REQUESTS, runs.length) }, readNext));
    return read;
  }

  /** Reads a run of ranges with one request, and adds them to `read`. */
  async #fetchRun(
    run: Range & { keys: string[] },
    wanted: ReadonlyMap<string, Range>,
    read: Map<string, Uint8Array>,
  ): Promise<void> {
    const around = this.#aroundOf(run);
    const bytes = await this.#fetchRange(around ?? run);
    if (around) keepPages(this.#cache, this.name, { offset: around.offset, end: this.size }, bytes);
    for (const key of run.keys) {
      const { offset, end } = wanted.get(key) as Range;
      const start = offset - (around ?? run).offset;
      const own = bytes.slice(start, start + end - offset);
      read.set(key, own);
      if (!around && own.byteLength <= MAX_KEPT_BYTES) this.#cache.set(key, own);
    }
  }

  /** The whole pages around some blocks if there is room for them in the cache; undefined for a hot part. */
  #aroundOf({ offset, end, keys }: Range & { keys: string[] }): Range | undefined {
    if (keys.length === 1 && end - offset > MAX_KEPT_BYTES) return undefined;
    const first = offset - (offset % PAGE_BYTES);
    const last = Math.min(this.size, Math.ceil(end / PAGE_BYTES) * PAGE_BYTES);
    return last - first <= this.#cache.room ? { offset: first, end: last } : undefined;
  }

  async #fetchRange({ offset, end }: Range): Promise<Uint8Array> {
    const length = end - offset;
    const object = await getRange(this.#bucket, this.name, { offset, length });
    if (!object) throw new SearchFormatError(`${this.name} is missing`, this.name);
    if (object.bytes.byteLength !== length) throw new SearchFormatError(`${this.name} is truncated`, this.name);
    return object.bytes;
  }
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.byteLength;
  }
  return bytes;
}
