import { type Indexed, readIndexed, readInts, readPresence, readTextsAt, type Texts } from "./decode.ts";
import { describing, exactly, type Extent, type Group } from "./footer.ts";
import { type Column, COLUMNS } from "./layout.ts";
import type { ColumnName } from "./rows.ts";
import { type SnapshotBytes, SnapshotFormatError } from "./types.ts";

/** A page's header and its levels fit into so much, and so much for each row, in every artifact that is written here. */
const LEVELS_BYTES = 4_096;
const LEVELS_ROW_BYTES = 0.5;

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
    return this.#read(name, (column, bytes) => readIndexed(column, bytes, this.rows));
  }

  async ints(name: ColumnName): Promise<Int32Array> {
    return this.#read(name, (column, bytes) => readInts(column, bytes, this.rows));
  }

  /** Values of some rows of the group, in ascending order. */
  async textsAt(name: ColumnName, wanted: readonly number[]): Promise<Texts> {
    return this.#read(name, (column, bytes) => readTextsAt(column, bytes, this.rows, wanted));
  }

  /** Which rows have a value; the values are not read. */
  async presence(name: ColumnName): Promise<(row: number) => boolean> {
    const most = LEVELS_BYTES + this.rows * LEVELS_ROW_BYTES;
    return this.#read(name, (column, bytes, size) => readPresence(column, bytes, size, this.rows), most);
  }

  /** Fails over what a row of this group says. */
  fail(column: ColumnName, row: number, why: string): never {
    throw new SnapshotFormatError(`${this.#where}: ${column}: ${why} (row ${row} of its group)`);
  }

  async #read<T>(
    name: ColumnName,
    decode: (column: Column, bytes: Uint8Array, size: number) => T,
    most = Infinity,
  ): Promise<T> {
    const index = COLUMNS.findIndex((column) => column.name === name);
    const { start, end } = this.#group.columns[index] as Extent;
    const part = await exactly(this.#bytes, start, Math.min(end, start + Math.ceil(most)));
    return describing(this.#where, () => decode(COLUMNS[index] as Column, part, end - start));
  }
}
