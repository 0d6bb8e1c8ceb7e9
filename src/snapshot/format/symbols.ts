import { ABSENT } from "./decode.ts";
import type { GroupColumns } from "./group-columns.ts";
import type { ListedFile } from "./file-list.ts";
import type { CodeSymbol } from "../../parsing/types.ts";
import { SnapshotFormatError } from "./types.ts";

/** A symbol with its place in the snapshot. */
export interface LocatedSymbol {
  /** Number of its file's row. */
  fileRow: number;
  /** SHA-256 (lower-case hex) of the file's bytes, and what they were parsed as. */
  contentHash: string;
  language: string;
  /** Its position among the file's symbols. */
  ordinal: number;
  symbol: CodeSymbol;
}

/** A file whose symbols are wanted: where they lie, and what tells that they are its own. */
export type SymbolOwner = Pick<ListedFile, "row" | "symbolCount" | "contentHash" | "language">;

/** Symbols whose name passes. Of row groups without one, only the dictionary of names is expanded. */
export async function* symbolsNamed(
  groups: readonly GroupColumns[],
  test: (name: string) => boolean,
): AsyncGenerator<LocatedSymbol> {
  for (const group of groups) {
    const names = await group.indexed("name");
    const passing = names.entries.map(test);
    if (!passing.includes(true)) continue;
    const kinds = await group.indexed("kind");
    const kindOf = kinds.indexes();
    const isSymbol = kinds.entries.map((kind) => kind === "symbol");
    const wanted: number[] = [];
    // Chunks carry the name of their symbol, too.
    for (const [row, name] of names.indexes().entries())
      if (name !== ABSENT && passing[name] === true && isSymbol[kindOf[row] as number] === true) wanted.push(row);
    yield* await decodeRows(group, wanted);
  }
}

/** The symbols of a file, which may lie in several row groups. */
export async function readSymbols(
  groups: readonly GroupColumns[],
  { row, symbolCount, contentHash, language }: SymbolOwner,
): Promise<LocatedSymbol[]> {
  const found: LocatedSymbol[] = [];
  const end = row + 1 + symbolCount;
  for (const group of groups) {
    const from = Math.max(row + 1, group.firstRow);
    const to = Math.min(end, group.firstRow + group.rows);
    if (from >= to) continue;
    const rows = Array.from({ length: to - from }, (_, at) => from - group.firstRow + at);
    found.push(...(await decodeRows(group, rows)));
  }
  for (const [position, located] of found.entries()) {
    if (located.fileRow !== row || located.ordinal !== position || (located.symbol.parent ?? 0) >= symbolCount)
      throw new SnapshotFormatError(`ordinal: the symbols of row ${row} are not in order`);
    if (located.contentHash !== contentHash || located.language !== language)
      throw new SnapshotFormatError(`content_hash: row ${row} has the symbols of another content`);
  }
  if (found.length !== symbolCount) throw new SnapshotFormatError(`row ${row} lacks symbols`);
  return found;
}

/** Decodes rows that are symbols. */
async function decodeRows(group: GroupColumns, rows: readonly number[]): Promise<LocatedSymbol[]> {
  if (rows.length === 0) return [];
  const texts = async (name: "kind" | "language" | "content_hash" | "symbol_kind" | "name" | "qualified_name") => {
    const { entries, indexes } = await group.indexed(name);
    const at = indexes();
    return (row: number): string => entries[at[row] as number] ?? group.fail(name, row, "missing");
  };
  const ints = async (name: "ordinal" | "start_line" | "end_line" | "start_byte" | "end_byte") => {
    const values = await group.ints(name);
    return (row: number): number => {
      const value = values[row] as number;
      return value === ABSENT ? group.fail(name, row, "missing") : value;
    };
  };
  const [kind, symbolKind] = [await texts("kind"), await texts("symbol_kind")];
  const [contentHash, language] = [await texts("content_hash"), await texts("language")];
  const [name, qualifiedName] = [await texts("name"), await texts("qualified_name")];
  const [startLine, endLine] = [await ints("start_line"), await ints("end_line")];
  const [startByte, endByte] = [await ints("start_byte"), await ints("end_byte")];
  const ordinalOf = await ints("ordinal");
  const parents = await group.ints("parent");
  const signatures = await group.textsAt("signature", rows);
  const docs = await group.textsAt("doc", rows);
  return rows.map((row, at): LocatedSymbol => {
    if (kind(row) !== "symbol") group.fail("kind", row, "not a symbol");
    const ordinal = ordinalOf(row);
    const parent = parents[row] as number;
    const symbol: CodeSymbol = {
      kind: symbolKind(row),
      name: name(row),
      qualifiedName: qualifiedName(row),
      signature: signatures[at] ?? group.fail("signature", row, "missing"),
      doc: docs[at] ?? null,
      parent: parent === ABSENT ? null : parent,
      startLine: startLine(row),
      endLine: endLine(row),
      startByte: startByte(row),
      endByte: endByte(row),
    };
    const fileRow = group.firstRow + row - ordinal - 1;
    return { fileRow, contentHash: contentHash(row), language: language(row), ordinal, symbol };
  });
}
