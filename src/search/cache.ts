/** What an isolate keeps of the indexes that it has read: 32 MB in all, least recently used out. */
import { openIndex, type SearchIndex } from "../retrieval/search-index.ts";
import { openObject, PageCache } from "./read.ts";
import { type SearchBucket, segmentKey, tableKey } from "./store.ts";
import type { Target } from "./targets.ts";

/** Bytes of open indexes; pages have the rest of the 32 MB (`read.ts`). */
const INDEX_BYTES = 12 * 1024 * 1024;

/** Rough bytes in memory of an open index: its typed arrays, and its paths as strings. */
function sizeOf({ documentCount, fileCount }: SearchIndex): number {
  return 16 * documentCount + 200 * fileCount;
}

export class SearchCache {
  readonly pages = new PageCache();
  readonly #indexes = new Map<string, SearchIndex>();
  #bytes = 0;

  /**
   * The open index over some revisions. Tables and segments never change, so an open index is good for ever. Throws
   * `SearchFormatError` where an object is missing or damaged.
   */
  async open(bucket: SearchBucket, targets: readonly Target[]): Promise<SearchIndex> {
    const key = targets.map(({ tenantId, table }) => `${tenantId}/${table}`).join(" ");
    const known = this.#indexes.get(key);
    if (known) {
      this.#indexes.delete(key);
      this.#indexes.set(key, known);
      return known;
    }
    const sources = await Promise.all(
      targets.map(async ({ tenantId, table }) => ({
        table: await openObject(bucket, tableKey(tenantId, table), this.pages),
        segment: (id: string) => openObject(bucket, segmentKey(tenantId, id), this.pages),
      })),
    );
    const index = await openIndex(sources);
    if (!this.#indexes.has(key)) this.#bytes += sizeOf(index);
    this.#indexes.set(key, index);
    for (const [oldest, own] of this.#indexes) {
      if (this.#bytes <= INDEX_BYTES || oldest === key) break;
      this.#indexes.delete(oldest);
      this.#bytes -= sizeOf(own);
    }
    return index;
  }
}
