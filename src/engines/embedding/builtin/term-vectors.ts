import type { Pacer } from "../../../lib/pause.ts";
import type { InputType } from "../types.ts";
import { FeatureTable } from "./features.ts";
import { Scanner } from "./scanner.ts";
import type { TermTable } from "./term-table.ts";

/** Texts as vectors of the term table, in slices. One at a time: a further text begins when the last one has ended. */
export class TermVectors {
  readonly #table: TermTable;
  readonly #pacer: Pacer;
  readonly #scanner = new Scanner();
  readonly #words = new FeatureTable();

  constructor(table: TermTable, pacer: Pacer) {
    this.#table = table;
    this.#pacer = pacer;
  }

  /** The vector of `text`, of norm 1; zero if it has no words. */
  async of(text: string, side: InputType): Promise<Float64Array> {
    await this.#scanner.scanInSlices(text, false, this.#pacer);
    return this.ofScanned(this.#scanner, side);
  }

  /** The vector of the text that the scanner has scanned last. */
  ofScanned({ words }: Scanner, side: InputType): Float64Array {
    this.#words.clear();
    for (let i = 0; i < words.length; i++) this.#words.add(words.values[i] as number, 1);
    return this.#table.embed(this.#words, side);
  }
}
