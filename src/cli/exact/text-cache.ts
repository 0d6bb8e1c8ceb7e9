import type { InspectedText } from "../../engines/exact/inspect.ts";
import { inBackground } from "../background.ts";
import { type FileStat, isSameStat } from "../indexing/file-stat.ts";
import { isComparable, MIN_FILES } from "../local-index/stat-index.ts";
import {
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

/** Where the records lie. */
export interface RecordsFile {
  read(): Uint8Array<ArrayBuffer> | undefined;
  /** May fail: the records are made again then. */
  write(bytes: Uint8Array): void;
  /** An index with the states of files, for git to compare them with; undefined where git cannot. */
  index?:
    | {
        /** Writes one, and returns its SHA-256 in hex. */
        write(files: ReadonlyMap<string, FileStat>): string;
        /**
         * Paths of the files that differ from the index with this SHA-256. Reports every file that has changed, and may report others. Undefined
         * if that is not known.
         */
        differing(sha256: string): Promise<ReadonlySet<string> | undefined>;
      }
    | undefined;
}

/** What is known of the texts of a tree, kept between commands. A damaged file of it is made again. */
export class TextCache {
  readonly #file: RecordsFile;
  readonly #known: TextRecords | undefined;
  /** Positions of known records that are used. */
  readonly #used: Uint8Array;
  #usedCount = 0;
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
    const bytes = file.read();
    const known = bytes && decodeRecords(bytes);
    this.#known = known;
    this.#used = new Uint8Array(known?.size ?? 0);
    this.#comparing = known && known.index !== "" ? file.index?.differing(known.index) : undefined;
    if (this.#comparing) void inBackground(this.#comparing);
  }

  /** Waits until git has compared the files. `paths`: those that will be asked for, in this order. */
  async compare(paths: readonly string[]): Promise<void> {
    this.#known?.expect(paths);
    this.#differing = await this.#comparing;
  }

  /** What is known of a file that git has found as it was. */
  unchanged(path: string): StoredText | undefined {
    const records = this.#known;
    if (!records || this.#differing === undefined) return undefined;
    const position = records.find(path);
    if (position === -1 || !records.isCompared(position) || this.#differing.has(path)) return undefined;
    return this.#use(records, position);
  }

  /** What is known under a key; of a file only if it is in the state that it was read in. */
  get(key: string, stat?: FileStat): KnownText | undefined {
    const added = this.#added.size === 0 ? undefined : this.#added.get(key);
    if (added) return knownText(added.inspected, added.stat);
    const known = this.#known;
    const position = known?.find(key) ?? -1;
    if (!known || position === -1 || (stat && !known.isInState(position, stat))) return undefined;
    this.#examinedCount++;
    return this.#use(known, position);
  }

  #use(known: TextRecords, position: number): StoredText {
    if (this.#used[position] === 0) {
      this.#used[position] = 1;
      this.#usedCount++;
    }
    return known.inspectedAt(position);
  }

  /** Keeps what was found of bytes, under a key that names them or with the state of their file. */
  add(key: string, inspected: InspectedText, stat?: FileStat): void {
    this.#added.set(key, { stat, inspected });
    this.#isChanged = true;
  }

  /**
   * Writes what was used since the cache was opened; with `keepsAll` the rest too, as long as there is room. `examinedAtMs`: when the states of
   * files were compared.
   */
  save({ keepsAll, examinedAtMs = 0 }: { keepsAll: boolean; examinedAtMs?: number }): void {
    const known = this.#known;
    const size = known?.size ?? 0;
    const isSmaller = !keepsAll && this.#usedCount < size;
    if (!this.#isChanged && !isSmaller && !this.#mayCompareMore(examinedAtMs)) return;
    const keepsRest = keepsAll && size < MAX_KEPT;
    const records = new Map<string, TextRecord>();
    if (known)
      for (let i = 0; i < size; i++) if (keepsRest || this.#used[i] === 1) records.set(known.keyAt(i), known.at(i));
    for (const [key, record] of this.#added) records.set(key, record);
    this.#file.write(encodeRecords(records, this.#writeIndex(records, examinedAtMs)));
    this.#isChanged = false;
  }

  /** Whether git could compare many files that this process has examined. */
  #mayCompareMore(examinedAtMs: number): boolean {
    const known = this.#known;
    if (!known || !this.#file.index || known.size < MIN_FILES || this.#examinedCount < MANY_EXAMINED) return false;
    let count = 0;
    for (let i = 0; i < known.size; i++)
      if (!known.isCompared(i) && isComparable(known.at(i).stat ?? NO_STAT, examinedAtMs)) count++;
    return count >= MANY_EXAMINED;
  }

  #writeIndex(records: ReadonlyMap<string, TextRecord>, examinedAtMs: number) {
    const { index } = this.#file;
    const compared = new Map<string, FileStat>();
    if (index)
      for (const [path, { stat }] of records) if (stat && isComparable(stat, examinedAtMs)) compared.set(path, stat);
    if (!index || compared.size < MIN_FILES) return undefined;
    return { paths: new Set(compared.keys()), index: index.write(compared) };
  }
}

const NO_STAT: FileStat = { size: -1, mtimeMs: 0, ctimeMs: 0, ino: 0 };

/** What has been found of the bytes of a file in a state; of bytes that never change, without one. */
export function knownText({ reason, script, withheld, filter }: InspectedText, stat: FileStat | undefined): KnownText {
  return { reason, script, withheld, filter, isInState: (now) => stat === undefined || isSameStat(now, stat) };
}
