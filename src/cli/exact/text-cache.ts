import type { InspectedText } from "../../engines/exact/inspect.ts";
import { decodeRecords, encodeRecords, type TextRecords } from "./text-records.ts";

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
  readonly #known: TextRecords;
  readonly #used: TextRecords = new Map();
  #isChanged = false;

  constructor(file: RecordsFile) {
    this.#file = file;
    const bytes = file.read();
    this.#known = (bytes && decodeRecords(bytes)) ?? new Map();
  }

  /** What is known under a key. */
  get(key: string): InspectedText | undefined {
    const known = this.#known.get(key);
    if (known) this.#used.set(key, known);
    return known;
  }

  /** Keeps what was found under a key, which names the bytes. */
  add(key: string, inspected: InspectedText): InspectedText {
    this.#used.set(key, inspected);
    this.#isChanged = true;
    return inspected;
  }

  /** Writes what was used since the cache was opened; with `keepsAll` the rest too, as long as there is room. */
  save({ keepsAll }: { keepsAll: boolean }): void {
    const isSmaller = !keepsAll && this.#used.size < this.#known.size;
    if (!this.#isChanged && !isSmaller) return;
    const kept = keepsAll && this.#known.size < MAX_KEPT ? [...this.#known] : [];
    this.#file.write(encodeRecords(new Map([...kept, ...this.#used])));
    this.#isChanged = false;
  }
}
