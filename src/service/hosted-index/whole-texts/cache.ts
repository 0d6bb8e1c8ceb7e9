/** What an isolate keeps of file lists and packs: least recently used out. */
import { EARLIER_FILTER_FILE_VERSION, FilterFile } from "../../../engines/exact/filter-file.ts";
import type { Tally, TextFile } from "../../../engines/exact/types.ts";
import { SearchFormatError } from "../../../engines/search/types.ts";
import { FileList } from "../../../engines/texts/file-list.ts";
import { TextPack } from "../../../engines/texts/pack.ts";
import { LruCache } from "../lru.ts";
import { openObject, RangeCache, readObject } from "../read.ts";
import type { SearchBucket } from "../store.ts";
import { earlierFiltersKey, filtersKey, listKey, packKey } from "./store.ts";

/** Bytes of open lists: some 60,000 files. */
const LIST_BYTES = 13 * 1024 * 1024;
/** Bytes of what searches ask of the files of lists: some 60,000, as many as the lists have. */
const FILES_BYTES = 6 * 1024 * 1024;
/** Rough bytes of a file there: itself, its place among the files and texts of a scope, and that in its pack. */
const BYTES_PER_FILE = 100;
/** Of the key of a list: in the scope's own key, and in its array. */
const BYTES_PER_KEY_UNIT = 4;
/** Bytes of the directories of open packs. */
const PACK_BYTES = 4 * 1024 * 1024;
/** Rough bytes in memory of a text's entry in the directory of its pack. */
const BYTES_PER_ENTRY = 200;
/** Bytes of open filters: those of some 200 MB of source. */
const FILTER_BYTES = 11 * 1024 * 1024;
/** Files of filters that are read at once: a Worker has six connections. */
export const FILTERS_AT_ONCE = 6;
/** What is read at first of a file of filters: all of most, those of some 11 MB of source. */
const FILTER_READ_BYTES = 1024 * 1024;
/** What a pack without filters counts for. */
const NO_FILTERS_BYTES = 100;
/** Bytes of tallies: a pattern that is in 5,000 files takes 60 KB, and four for each 1,000 files beyond its budget. */
const TALLY_BYTES = 1024 * 1024;
/** Bytes of ranges. Their own, because a scan of all texts would take the blocks of search out of theirs. */
const RANGE_BYTES = 4 * 1024 * 1024;

/** The files of some lists, and the keys of these. */
interface ScopeFiles {
  files: readonly TextFile[];
  lists: readonly string[];
}

const bytesOfFiles = ({ files, lists }: ScopeFiles): number =>
  lists.reduce((bytes, key) => bytes + BYTES_PER_KEY_UNIT * key.length, BYTES_PER_FILE * files.length);

/** Open lists and packs. Objects never change, so what is open stays valid. */
export class TextCache {
  readonly #ranges = new RangeCache(RANGE_BYTES);
  readonly #lists = new LruCache<FileList>(LIST_BYTES, ({ byteLength }) => byteLength);
  readonly #packs = new LruCache<TextPack>(PACK_BYTES, ({ entries }) => BYTES_PER_ENTRY * entries.length);
  /** The files of scopes, by the keys of their lists. */
  readonly #files = new LruCache<ScopeFiles>(FILES_BYTES, bytesOfFiles);
  /** Tallies by tenant, file lists and pattern; each with its key, which counts towards its size. */
  readonly tallies = new LruCache<[tally: Tally, key: string]>(
    TALLY_BYTES,
    ([{ found, left }, key]) => found.byteLength + left.byteLength + 2 * key.length,
  );
  readonly #filters: LruCache<FilterFile | null>;

  constructor({ filterBytes = FILTER_BYTES }: { filterBytes?: number } = {}) {
    this.#filters = new LruCache(filterBytes, (filters) => filters?.byteLength ?? NO_FILTERS_BYTES);
  }

  /** Whether the filters of a pack are open. */
  hasFilters(tenantId: string, packId: string): boolean {
    return this.#filters.has(filtersKey(tenantId, packId));
  }

  /** The filters of a pack; null if it has none that can be read: they are derived, so its texts are searched then. */
  async filters(bucket: SearchBucket, tenantId: string, packId: string): Promise<FilterFile | null> {
    const key = filtersKey(tenantId, packId);
    const known = this.#filters.get(key);
    if (known !== undefined) return known;
    const opened =
      (await this.#openFilters(bucket, key)) ??
      (await this.#openFilters(bucket, earlierFiltersKey(tenantId, packId), EARLIER_FILTER_FILE_VERSION));
    this.#filters.set(key, opened);
    return opened;
  }

  async #openFilters(bucket: SearchBucket, key: string, version?: number): Promise<FilterFile | null> {
    try {
      return await FilterFile.open(
        await readObject(bucket, key, { cache: this.#ranges, firstBytes: FILTER_READ_BYTES }),
        version,
      );
    } catch (error) {
      if (error instanceof SearchFormatError) return null;
      throw error;
    }
  }

  /** Throws `SearchFormatError` if the list is missing or damaged. */
  async list(bucket: SearchBucket, tenantId: string, id: string): Promise<FileList> {
    const key = listKey(tenantId, id);
    const known = this.#lists.get(key);
    if (known) return known;
    const opened = await FileList.open(await openObject(bucket, key, { cache: this.#ranges }));
    this.#lists.set(key, opened);
    this.#dropFiles();
    return opened;
  }

  /** The files of the lists with some keys, if they are kept. */
  filesOf(lists: readonly string[]): readonly TextFile[] | undefined {
    const known = this.#files.get(lists.join(" "));
    // The lists are used as well.
    if (known) for (const key of lists) this.#lists.get(key);
    return known?.files;
  }

  /** Keeps the files of lists, unless they are too many. */
  keepFiles(scope: ScopeFiles): void {
    if (bytesOfFiles(scope) <= FILES_BYTES && this.#hasLists(scope)) this.#files.set(scope.lists.join(" "), scope);
  }

  #hasLists({ lists }: ScopeFiles): boolean {
    return lists.every((key) => this.#lists.has(key));
  }

  /** Drops files whose lists have gone, which they would keep in memory. */
  #dropFiles(): void {
    this.#files.deleteWhere((_, scope) => !this.#hasLists(scope));
  }

  /** Throws `SearchFormatError` if the pack is missing or damaged. */
  async pack(bucket: SearchBucket, tenantId: string, id: string): Promise<TextPack> {
    const key = packKey(tenantId, id);
    const known = this.#packs.get(key);
    if (known) return known;
    const opened = await TextPack.open(await openObject(bucket, key, { cache: this.#ranges }));
    this.#packs.set(key, opened);
    return opened;
  }

  /** Forgets a damaged object, which a repair may replace under the same name. */
  forget(key: string): void {
    this.#lists.delete(key);
    this.#packs.delete(key);
    this.#ranges.deletePrefix(`${key} `);
    this.#dropFiles();
  }
}
