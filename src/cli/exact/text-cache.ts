import type { InspectedText } from "../../engines/exact/inspect.ts";
import type { FileStat } from "../indexing/file-stat.ts";
import { decodeRecords, encodeRecords, type TextRecord, type TextRecords } from "./text-records.ts";

/** Records of other trees that are kept. */
const MAX_KEPT = 200_000;

/** Where the records lie. */
export interface RecordsFile {
  read(): Uint8Array<ArrayBuffer> | undefined;
  /** May fail: the records are made again then. */
  write(bytes: Uint8Array): void;
}

/** What is known of the texts of a tree, kept between commands. A damaged file of it is made again. */
export class TextCache {
  readonly #file: RecordsFile;
  readonly #known: TextRecords | undefined;
  /** Positions of known records that are used. */
  readonly #used: Uint8Array;
  #usedCount = 0;
  readonly #added = new Map<string, TextRecord>();
  #isChanged = false;

  constructor(file: RecordsFile) {
    this.#file = file;
    const bytes = file.read();
    this.#known = bytes && decodeRecords(bytes);
    this.#used = new Uint8Array(this.#known?.size ?? 0);
  }

  /** What is known under a key; of a file only if it is in the state that it was read in. */
  get(key: string, stat?: FileStat): InspectedText | undefined {
    const added = this.#added.size === 0 ? undefined : this.#added.get(key);
    if (added) return added.inspected;
    const known = this.#known;
    const position = known?.find(key) ?? -1;
    if (!known || position === -1 || (stat && !known.isInState(position, stat))) return undefined;
    if (this.#used[position] === 0) {
      this.#used[position] = 1;
      this.#usedCount++;
    }
    return known.inspectedAt(position);
  }

  /** Keeps what was found of bytes, under a key that names them or with the state of their file. */
  add(key: string, inspected: InspectedText, stat?: FileStat): InspectedText {
    this.#added.set(key, { stat, inspected });
    this.#isChanged = true;
    return inspected;
  }

  /** Writes what was used since the cache was opened; with `keepsAll` the rest too, as long as there is room. */
  save({ keepsAll }: { keepsAll: boolean }): void {
    const known = this.#known;
    const size = known?.size ?? 0;
    const isSmaller = !keepsAll && this.#usedCount < size;
    if (!this.#isChanged && !isSmaller) return;
    const keepsRest = keepsAll && size < MAX_KEPT;
    const records = new Map<string, TextRecord>();
    if (known)
      for (let i = 0; i < size; i++) if (keepsRest || this.#used[i] === 1) records.set(known.keyAt(i), known.at(i));
    for (const [key, record] of this.#added) records.set(key, record);
    this.#file.write(encodeRecords(records));
    this.#isChanged = false;
  }
}
