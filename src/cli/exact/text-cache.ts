import type { InspectedText } from "../../engines/exact/inspect.ts";
import { inBackground } from "../background.ts";
import { type FileStat, isSameStat } from "../indexing/file-stat.ts";
import { isComparable, MIN_FILES } from "../local-index/stat-index.ts";
import {
  type ComparedFiles,
  decodeRecords,
  encodeRecords,
  type KnownText,
  type StoredText,
  type TextRecord,
  type TextRecords,
} from "./text-records.ts";

/** Records of other trees that are kept. */
const MAX_KEPT = 200_000;
/** So many files that git could compare and does not are worth writing the records again. */
const MANY_EXAMINED = 1_000;
/** All records are written again when more than this share of them has changed. */
const MAX_CHANGED = 0.1;

/** A file that may be missing. */
interface StoredBytes {
  read(): Uint8Array<ArrayBuffer> | undefined;
  /** May fail: the records are made again then. */
  write(bytes: Uint8Array): void;
}

/** Where the records lie. */
export interface RecordsFile extends StoredBytes {
  /** What was found since the records were written, so that an edit need not write them all. */
  changes: StoredBytes;
  /** An index with the states of files, for git to compare them with; undefined where git cannot. */
  index?:
    | {
        /** Writes one, and returns its fingerprint. */
        write(files: ReadonlyMap<string, FileStat>): string;
        /**
         * Paths of the files that differ from the index with this fingerprint. Reports every file that has changed, and may report others. Undefined
         * if that is not known.
         */
        differing(fingerprint: string): Promise<ReadonlySet<string> | undefined>;
      }
    | undefined;
}

/** What is known of the texts of a tree, kept between commands. A damaged file of it is made again. */
export class TextCache {
  readonly #file: RecordsFile;
  readonly #known: UsedRecords | undefined;
  /** Records that complete those, or replace some of them. */
  readonly #changes: UsedRecords | undefined;
  /** Known files that this process has examined itself. */
  #examinedCount = 0;
  readonly #added = new Map<string, TextRecord>();
  #isChanged = false;
  readonly #comparing: Promise<ReadonlySet<string> | undefined> | undefined;
  /** Files that git has not found as they were; undefined if git has compared none. */
  #differing: ReadonlySet<string> | undefined;

  /** Git starts to compare the files with their states at once. */
  constructor(file: RecordsFile) {
    this.#file = file;
    const known = decoded(file);
    this.#known = known && new UsedRecords(known);
    this.#comparing = known && known.index !== "" ? file.index?.differing(known.index) : undefined;
    if (this.#comparing) void inBackground(this.#comparing);
    const changes = known && decoded(file.changes, known.name);
    this.#changes = changes && new UsedRecords(changes);
  }

  /** Waits until git has compared the files. `paths`: those that will be asked for, in this order. */
  async compare(paths: readonly string[]): Promise<void> {
    this.#known?.records.expect(paths);
    this.#differing = await this.#comparing;
  }

  /** What is known of a file that git has found as it was. */
  unchanged(path: string): StoredText | undefined {
    const known = this.#known;
    if (!known || this.#differing === undefined) return undefined;
    const position = known.records.find(path);
    if (position === -1 || !known.records.isCompared(position) || this.#differing.has(path)) return undefined;
    return known.use(position);
  }

  /** What is known under a key; of a file only if it is in the state that it was read in. */
  get(key: string, stat?: FileStat): KnownText | undefined {
    const added = this.#added.size === 0 ? undefined : this.#added.get(key);
    if (added) return knownText(added.inspected, added.stat);
    const known = this.#changes?.get(key, stat) ?? this.#known?.get(key, stat);
    if (known) this.#examinedCount++;
    return known;
  }

  /** Keeps what was found of bytes, under a key that names them or with the state of their file. */
  add(key: string, inspected: InspectedText, stat?: FileStat): void {
    this.#added.set(key, { stat, inspected });
    this.#isChanged = true;
  }

  /**
   * Writes what was found since the cache was opened, or all that was used; with `keepsAll` the rest too, as long as there is room.
   * `examinedAtMs`: when the states of files were compared.
   */
  save({ keepsAll, examinedAtMs = 0 }: { keepsAll: boolean; examinedAtMs?: number }): void {
    const known = this.#known;
    const size = known?.records.size ?? 0;
    const changes = new Map([...(this.#changes?.entries(keepsAll) ?? []), ...this.#added]);
    const unusedCount = keepsAll || !known ? 0 : size - known.usedCount;
    const isMuch = unusedCount + changes.size > size * MAX_CHANGED;
    if (isMuch || this.#mayCompareMore(examinedAtMs)) {
      const records = new Map([...(known?.entries(keepsAll && size < MAX_KEPT) ?? []), ...changes]);
      this.#file.write(encodeRecords(records, { compared: this.#writeIndex(records, examinedAtMs) }));
    } else if (known && this.#isChanged)
      this.#file.changes.write(encodeRecords(changes, { completes: known.records.name }));
    this.#isChanged = false;
  }

  /** Whether git could compare many files that this process has examined. */
  #mayCompareMore(examinedAtMs: number): boolean {
    const known = this.#known;
    if (!known || !this.#file.index || known.records.size < MIN_FILES || this.#examinedCount < MANY_EXAMINED)
      return false;
    const count = [known, this.#changes].reduce((sum, own) => sum + (own?.comparableCount(examinedAtMs) ?? 0), 0);
    return count >= MANY_EXAMINED;
  }

  #writeIndex(records: ReadonlyMap<string, TextRecord>, examinedAtMs: number): ComparedFiles | undefined {
    const { index } = this.#file;
    const compared = new Map<string, FileStat>();
    if (index)
      for (const [path, { stat }] of records) if (stat && isComparable(stat, examinedAtMs)) compared.set(path, stat);
    if (!index || compared.size < MIN_FILES) return undefined;
    return { paths: new Set(compared.keys()), index: index.write(compared) };
  }
}

function decoded(file: StoredBytes, completes?: string): TextRecords | undefined {
  const bytes = file.read();
  return bytes && decodeRecords(bytes, completes);
}

/** Records, and which of them were used. */
class UsedRecords {
  readonly records: TextRecords;
  readonly #used: Uint8Array;
  usedCount = 0;

  constructor(records: TextRecords) {
    this.records = records;
    this.#used = new Uint8Array(records.size);
  }

  get(key: string, stat: FileStat | undefined): StoredText | undefined {
    const position = this.records.find(key);
    return position === -1 || (stat && !this.records.isInState(position, stat)) ? undefined : this.use(position);
  }

  use(position: number): StoredText {
    if (this.#used[position] === 0) {
      this.#used[position] = 1;
      this.usedCount++;
    }
    return this.records.inspectedAt(position);
  }

  /** The records that were used, or all. */
  *entries(all: boolean): Generator<[key: string, record: TextRecord]> {
    const { records } = this;
    for (let i = 0; i < records.size; i++) if (all || this.#used[i] === 1) yield [records.keyAt(i), records.at(i)];
  }

  /** How many files git could compare and does not. */
  comparableCount(examinedAtMs: number): number {
    const { records } = this;
    let count = 0;
    for (let i = 0; i < records.size; i++)
      if (!records.isCompared(i) && isComparable(records.at(i).stat ?? NO_STAT, examinedAtMs)) count++;
    return count;
  }
}

const NO_STAT: FileStat = { size: -1, mtimeMs: 0, ctimeMs: 0, ino: 0 };

/** What has been found of the bytes of a file in a state; of bytes that never change, without one. */
export function knownText({ reason, script, withheld, filter }: InspectedText, stat: FileStat | undefined): KnownText {
  return { reason, script, withheld, filter, isInState: (now) => stat === undefined || isSameStat(now, stat) };
}
