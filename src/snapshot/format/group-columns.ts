import { type Indexed, readIndexed, readInts, readTextsAt, type Texts } from "./decode.ts";
import { describing, exactly, type Group } from "./footer.ts";
import { type Column, COLUMNS } from "./layout.ts";
import type { ColumnName } from "./rows.ts";
import { type Extent, type SnapshotBytes, SnapshotFormatError } from "./types.ts";

/** One row group, its columns read and decoded one by one. Every method throws {@link SnapshotFormatError} over damage. */
export class GroupColumns {
  readonly rows: number;
  /** Number of the group's first row in the whole snapshot. */
  readonly firstRow: number;
  readonly #bytes: SnapshotBytes;
  readonly #group: Group;
  readonly #where: string;

  constructor(bytes: SnapshotBytes, group: Group, index: number) {
    this.rows = group.rows;
    this.firstRow = group.firstRow;
    this.#bytes = bytes;
    this.#group = group;
    this.#where = `row group ${index}`;
  }

  async indexed(name: ColumnName): Promise<Indexed> {
    const { entries, indexes } = await this.#read(name, (column, bytes) => readIndexed(column, bytes, this.rows));
    return { entries, indexes: () => describing(this.#where, indexes) };
  }

  async ints(name: ColumnName): Promise<Int32Array> {
    return this.#read(name, (column, bytes) => readInts(column, bytes, this.rows));
  }

  /** Values of some rows of the group, in ascending order. */
  async textsAt(name: ColumnName, wanted: readonly number[]): Promise<Texts> {
    return this.#read(name, (column, bytes) => readTextsAt(column, bytes, this.rows, wanted));
  }

  /** Fails over what a row of this group says. */
  fail(column: ColumnName, row: number, why: string): never {
    throw new SnapshotFormatError(`${this.#where}: ${column}: ${why} (row ${row} of its group)`);
  }

  async #read<T>(name: ColumnName, decode: (column: Column, bytes: Uint8Array) => T): Promise<T> {
    const index = COLUMNS.findIndex((column) => column.name === name);
    const { start, end } = this.#group.columns[index] as Extent;
    const part = await exactly(this.#bytes, start, end);
    return describing(this.#where, () => decode(COLUMNS[index] as Column, part));
  }
}
