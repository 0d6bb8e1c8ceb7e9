import type { InspectedText } from "../../engines/exact/inspect.ts";
import { type FileStat, isSameStat } from "../indexing/file-stat.ts";
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
}

/** What is known of the texts of a tree, kept between commands. A damaged file of it is made again. */
export class TextCache {
  readonly #file: RecordsFile;
  readonly #known: UsedRecords | undefined;
  /** Records that complete those, or replace some of them. */
  readonly #changes: UsedRecords | undefined;
  readonly #added = new Map<string, TextRecord>();
  #isChanged = false;

  constructor(file: RecordsFile) {
    this.#file = file;
    const known = decoded(file);
    this.#known = known && new UsedRecords(known);
    const changes = known && decoded(file.changes, known.name);
    this.#changes = changes && new UsedRecords(changes);
  }

  /** What is known under a key; of a file only if it is in the state that it was read in. */
  get(key: string, stat?: FileStat): KnownText | undefined {
    const added = this.#added.size === 0 ? undefined : this.#added.get(key);
    if (added) return knownText(added.inspected, added.stat);
    return this.#changes?.get(key, stat) ?? this.#known?.get(key, stat);
  }

  /** Keeps what was found of bytes, under a key that names them or with the state of their file. */
  add(key: string, inspected: InspectedText, stat?: FileStat): void {
    this.#added.set(key, { stat, inspected });
    this.#isChanged = true;
  }

  /**
   * Writes what was found since the cache was opened, or all that was used; with `keepsAll` the rest too, as long as there is room.
   */
  save({ keepsAll }: { keepsAll: boolean }): void {
    const known = this.#known;
    const size = known?.records.size ?? 0;
    const changes = new Map([...(this.#changes?.entries(keepsAll) ?? []), ...this.#added]);
    const unusedCount = keepsAll || !known ? 0 : size - known.usedCount;
    const isMuch = unusedCount + changes.size > size * MAX_CHANGED;
    if (isMuch) {
      const records = new Map([...(known?.entries(keepsAll && size < MAX_KEPT) ?? []), ...changes]);
      this.#file.write(encodeRecords(records));
    } else if (known && this.#isChanged)
      this.#file.changes.write(encodeRecords(changes, { completes: known.records.name }));
    this.#isChanged = false;
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
}

/** What has been found of the bytes of a file in a state; of bytes that never change, without one. */
export function knownText({ reason, script, withheld, filter }: InspectedText, stat: FileStat | undefined): KnownText {
  return { reason, script, withheld, filter, isInState: (now) => stat === undefined || isSameStat(now, stat) };
}
