/** What an isolate keeps of the indexes it has read: 32 MB in all, and 39 MB of texts, least recently used out. */
import { openIndex, type SearchIndex } from "../../engines/search/search-index.ts";
import { RevisionTable } from "../../engines/search/table.ts";
import type { VectorSection } from "../../engines/search/vector-section.ts";
import { pause } from "../../lib/pause.ts";
import { LruCache } from "./lru.ts";
import { openObject, RangeCache } from "./read.ts";
import { digestInId, type SearchBucket, segmentKey, tableKey } from "./store.ts";
import type { Target } from "./targets.ts";
import { TextCache } from "./whole-texts/cache.ts";
import { Turns } from "../../lib/turns.ts";

/** Keys of damaged objects that are remembered. */
const MAX_DAMAGED = 1_000;
const ANY_OBJECT = "";
/** Digests of tables that are remembered: those of more than a thousand repositories. */
const DIGEST_BYTES = 256 * 1024;
/** Of one, with its key. */
const BYTES_PER_DIGEST = 200;

/** Bytes of open indexes and tables; ranges of objects have the rest of the 32 MB (`read.ts`). */
const INDEX_BYTES = 12 * 1024 * 1024;

/** How long a request waits for another that opens the same index, and how often it looks. */
const MAX_OPENING_MS = 2_000;
const OPENING_POLL_MS = 5;

/** An index, open for searching. */
export interface OpenIndex {
  index: SearchIndex;
  /** As `QueryVector.sections`; undefined before the first query with a vector. */
  sections?: ReadonlyMap<number, readonly VectorSection[]>;
}

/**
 * Bytes of postings that searches may hold at once: one of a whole issue takes some 3 MB at 250,000 chunks. Scoring takes twice as much
 * again. More at a time would not end earlier, because they compute on one thread.
 */
const SEARCH_BYTES = 8 * 1024 * 1024;
/** Milliseconds after which a search does not count any more: its request was cancelled, since none takes that long. */
const MAX_SEARCH_MS = 5_000;
/**
 * Questions of one tenant that an isolate answers at once. Between two steps of a request, the isolate takes a step of every other one
 * under way, so this is what another tenant's request waits for. Most of a question is computation, so more at a time would not end
 * earlier.
 */
const QUESTIONS_OF_TENANT = 2;
const MAX_QUESTION_MS = 10_000;

/** Rough bytes in memory of a table: its typed arrays, and its paths as strings. */
const BYTES_PER_PATH = 200;
/** Of an open index, for each document: `firstDocuments` … `nextDocument`. */
const BYTES_PER_DOCUMENT = 16;
/** Of an open segment, for each chunk: lengths and documents; for each content: hash, language, first chunk, first file. */
const BYTES_PER_CHUNK = 6;
const BYTES_PER_CONTENT = 44;

function sizeOf({ index }: OpenIndex): number {
  let bytes = BYTES_PER_DOCUMENT * index.documentCount + BYTES_PER_PATH * index.fileCount;
  for (const { chunkCount, contentCount } of index.segments)
    bytes += BYTES_PER_CHUNK * chunkCount + BYTES_PER_CONTENT * contentCount;
  return bytes;
}

/** Open indexes, tables and ranges of objects. Objects never change, so what is open stays valid. */
export class SearchCache {
  readonly ranges = new RangeCache();
  readonly texts = new TextCache();
  /** Turns of searches; each takes as much room as its postings have bytes. */
  readonly turns = new Turns({ room: SEARCH_BYTES, maxWorkMs: MAX_SEARCH_MS });
  /** Turns of questions; each takes one place. */
  readonly questions = new Turns({ room: Infinity, share: QUESTIONS_OF_TENANT, maxWorkMs: MAX_QUESTION_MS });
  readonly #indexes = new LruCache<OpenIndex>(INDEX_BYTES, sizeOf);
  /** When a request began to open an index that is not open yet, in milliseconds. */
  readonly #openingSince = new Map<string, number>();
  /** Keys of objects that were found damaged. */
  readonly #damaged = new Set<string>();
  readonly #tables = new LruCache<RevisionTable>(INDEX_BYTES / 4, ({ paths }) => BYTES_PER_PATH * paths.length);

  readonly #digests = new LruCache<Pick<RevisionTable, "digest">>(DIGEST_BYTES, () => BYTES_PER_DIGEST);

  /** Opens the index over some revisions. Throws `SearchFormatError` if an object is missing or damaged. */
  async open(bucket: SearchBucket, targets: readonly Target[]): Promise<OpenIndex> {
    const key = keyOf(targets);
    await this.#waitWhileOpening(key);
    const known = this.#indexes.get(key);
    if (known) return known;
    this.#openingSince.set(key, Date.now());
    try {
      const opened = await readIndex(bucket, targets, this.ranges);
      this.#indexes.set(key, opened);
      return opened;
    } finally {
      this.#openingSince.delete(key);
    }
  }

  /** The index over some revisions, if it is open. */
  opened(targets: readonly Target[]): OpenIndex | undefined {
    return this.#indexes.get(keyOf(targets));
  }

  /**
   * Waits while another request opens the same index: each would hold all of it in memory. It looks at the cache again and again
   * instead of awaiting the other's promise, which never settles where that request is cancelled.
   */
  async #waitWhileOpening(key: string): Promise<void> {
    for (;;) {
      const since = this.#openingSince.get(key);
      if (since === undefined || Date.now() - since > MAX_OPENING_MS) return;
      await pause(OPENING_POLL_MS);
    }
  }

  /** Opens the table of a revision alone: its paths and digest. Throws `SearchFormatError` as `open` does. */
  async openTable(bucket: SearchBucket, { tenantId, table }: Target): Promise<RevisionTable> {
    const key = tableKey(tenantId, table);
    const known = this.#tables.get(key);
    if (known) return known;
    const opened = await RevisionTable.open(await openObject(bucket, key, { cache: this.ranges }));
    this.#tables.set(key, opened);
    return opened;
  }

  /** Digest of the table of a revision, which is read for it only where its name has none. Throws `SearchFormatError` as `open` does. */
  async digestOf(bucket: SearchBucket, target: Target): Promise<Pick<RevisionTable, "digest">> {
    const digest = digestInId(target.table);
    if (digest) return { digest };
    const key = tableKey(target.tenantId, target.table);
    const known = this.#digests.get(key);
    if (known) return known;
    // A copy: a view would keep the whole table in memory.
    const read = { digest: (await this.openTable(bucket, target)).digest.slice() };
    this.#digests.set(key, read);
    return read;
  }

  /**
   * Forgets a damaged object, which a rebuild may replace under the same name, and the index that read it. Without a key, all ranges:
   * any of them may be the damaged one.
   */
  forget(targets: readonly Target[], object: string | undefined): void {
    this.#indexes.delete(keyOf(targets));
    for (const { tenantId, table } of targets) this.#digests.delete(tableKey(tenantId, table));
    if (object === undefined) this.ranges.clear();
    else this.ranges.deletePrefix(`${object} `);
    if (this.#damaged.size >= MAX_DAMAGED) this.#damaged.clear();
    this.#damaged.add(object ?? ANY_OBJECT);
  }

  /** Whether an object was found damaged since the isolate began, or one of unknown name: copies of it are not to be trusted. */
  isDamaged(key: string): boolean {
    return this.#damaged.has(key) || this.#damaged.has(ANY_OBJECT);
  }
}

const keyOf = (targets: readonly Target[]): string =>
  targets.map(({ tenantId, table }) => `${tenantId}/${table}`).join(" ");

async function readIndex(bucket: SearchBucket, targets: readonly Target[], cache: RangeCache): Promise<OpenIndex> {
  const sources = await Promise.all(
    targets.map(async ({ tenantId, table }) => ({
      table: await openObject(bucket, tableKey(tenantId, table), { cache }),
      segment: (id: string) => openObject(bucket, segmentKey(tenantId, id), { cache }),
    })),
  );
  return { index: await openIndex(sources) };
}
