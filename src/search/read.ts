/** Ranged reading of index objects, with a cache of the isolate. */
import { type RangeReader, SearchFormatError } from "../retrieval/types.ts";
import { LruCache } from "./lru.ts";
import type { SearchBucket } from "./store.ts";

/** Unit of reading and caching: several blocks of 8 KB, few enough requests for a large table. */
const PAGE_BYTES = 64 * 1024;
/** What is read of an object when it is opened; holds all of a small one, and the hot parts of most. */
const FIRST_READ_BYTES = 256 * 1024;

/** Pages between two wanted ones that are read with them: an eighth of a megabyte more costs less than another request. */
const MAX_GAP_PAGES = 2;

/** Bytes of pages that an isolate keeps, least recently used out. */
const CACHE_BYTES = 20 * 1024 * 1024;

/**
 * Pages of immutable objects. It keeps bytes only, never promises: in Workers a request must not wait for I/O that another request
 * has started.
 */
export class PageCache extends LruCache<Uint8Array> {
  constructor(budgetBytes: number = CACHE_BYTES) {
    super(budgetBytes, ({ byteLength }) => byteLength);
  }
}

/** Opens an object for ranged reading. Throws `SearchFormatError` if it is not there. */
export async function openObject(
  bucket: SearchBucket,
  key: string,
  { cache = new PageCache(), firstBytes = FIRST_READ_BYTES }: { cache?: PageCache; firstBytes?: number } = {},
): Promise<RangeReader> {
  const first = await bucket.get(key, { range: { offset: 0, length: firstBytes } });
  if (!first) throw new SearchFormatError(`${key} is missing`);
  const bytes = new Uint8Array(await first.arrayBuffer());
  for (let offset = 0; offset < bytes.byteLength; offset += PAGE_BYTES) {
    const isWhole = offset + PAGE_BYTES <= bytes.byteLength || bytes.byteLength === first.size;
    // A copy: a view would keep the whole read in memory after its other pages are gone.
    if (isWhole) cache.set(`${key} ${offset / PAGE_BYTES}`, bytes.slice(offset, offset + PAGE_BYTES));
  }
  return new CachedReader(bucket, key, first.size, cache);
}

class CachedReader implements RangeReader {
  readonly #bucket: SearchBucket;
  readonly #key: string;
  readonly size: number;
  readonly #cache: PageCache;
  /** Pages asked for in the current synchronous burst: they are read together. */
  #batch: { wanted: Set<number>; read: Promise<Map<number, Uint8Array>> } | undefined;

  constructor(bucket: SearchBucket, key: string, size: number, cache: PageCache) {
    this.#bucket = bucket;
    this.#key = key;
    this.size = size;
    this.#cache = cache;
  }

  read(offset: number, length: number): Uint8Array | Promise<Uint8Array> {
    const first = Math.floor(offset / PAGE_BYTES);
    const last = Math.floor(Math.max(offset, offset + length - 1) / PAGE_BYTES);
    const pages: (Uint8Array | undefined)[] = [];
    for (let page = first; page <= last; page++) pages.push(this.#cache.get(`${this.#key} ${page}`));
    const cut = (own: readonly Uint8Array[]) => cutOut(own, offset - first * PAGE_BYTES, length);
    if (pages.every((page) => page !== undefined)) return cut(pages);
    const missing = pages.flatMap((page, i) => (page === undefined ? [first + i] : []));
    return this.#load(missing).then((read) => cut(pages.map((page, i) => page ?? (read.get(first + i) as Uint8Array))));
  }

  /** Joins a batch. A batch is of one request: microtasks run before any other request's code. */
  #load(pages: readonly number[]): Promise<Map<number, Uint8Array>> {
    if (!this.#batch) {
      const wanted = new Set<number>();
      const read = Promise.resolve().then(() => {
        this.#batch = undefined;
        return this.#fetch([...wanted].toSorted((a, b) => a - b));
      });
      this.#batch = { wanted, read };
    }
    for (const page of pages) this.#batch.wanted.add(page);
    return this.#batch.read;
  }

  /** Reads pages, in ascending order, with a request for each run of near ones. */
  async #fetch(pages: readonly number[]): Promise<Map<number, Uint8Array>> {
    const runs: [first: number, last: number][] = [];
    for (const page of pages) {
      const run = runs.at(-1);
      if (run && page - run[1] <= MAX_GAP_PAGES + 1) run[1] = page;
      else runs.push([page, page]);
    }
    const read = new Map<number, Uint8Array>();
    await Promise.all(
      runs.map(async ([first, last]) => {
        const bytes = await this.#fetchRun(first, last);
        for (let page = first; page <= last; page++) {
          const own = bytes.slice((page - first) * PAGE_BYTES, (page - first + 1) * PAGE_BYTES);
          this.#cache.set(`${this.#key} ${page}`, own);
          read.set(page, own);
        }
      }),
    );
    return read;
  }

  async #fetchRun(first: number, last: number): Promise<Uint8Array> {
    const offset = first * PAGE_BYTES;
    const length = Math.min((last + 1) * PAGE_BYTES, this.size) - offset;
    const object = await this.#bucket.get(this.#key, { range: { offset, length } });
    if (!object) throw new SearchFormatError(`${this.#key} is missing`);
    const bytes = new Uint8Array(await object.arrayBuffer());
    if (bytes.byteLength !== length) throw new SearchFormatError(`${this.#key} is truncated`);
    return bytes;
  }
}

function cutOut(pages: readonly Uint8Array[], start: number, length: number): Uint8Array {
  const [only] = pages;
  if (pages.length === 1 && only) return only.subarray(start, start + length);
  const bytes = new Uint8Array(length);
  let filled = 0;
  let skip = start;
  for (const page of pages) {
    const part = page.subarray(skip, skip + length - filled);
    bytes.set(part, filled);
    filled += part.byteLength;
    skip = 0;
  }
  return bytes;
}
