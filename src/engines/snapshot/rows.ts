import type { CodeSymbol } from "../parsing/types.ts";
import { ABSENT, type Texts } from "./decode.ts";
import type { COLUMNS } from "./layout.ts";
import {
  comparePaths,
  type EmbeddedChunk,
  type SnapshotFile,
  SnapshotFormatError,
  type SnapshotHeader,
  type SnapshotUse,
} from "./types.ts";

type NameOf<Type> = Extract<(typeof COLUMNS)[number], { type: Type }>["name"];
export type ColumnName = (typeof COLUMNS)[number]["name"];
type TextName = NameOf<"string" | "hash">;
type IntName = NameOf<"int">;

/** One decoded row group, by column. */
export interface GroupRows {
  rows: number;
  texts: Record<TextName, Texts>;
  ints: Record<IntName, Int32Array>;
  vectors: (Uint8Array | undefined)[];
}

/** Assembles rows into files, across row groups, and checks the rules of the format. */
export async function* collectFiles(
  header: SnapshotHeader,
  groups: AsyncIterable<GroupRows>,
): AsyncGenerator<SnapshotFile> {
  const totals = { fileCount: 0, symbolCount: 0, chunkCount: 0, useCount: 0, vectorCount: 0 };
  let file: SnapshotFile | undefined;
  for await (const group of groups) {
    const row = new RowView(group);
    for (row.index = 0; row.index < group.rows; row.index++) {
      const kind = row.text("kind");
      if (kind === "file") {
        if (file !== undefined) yield finished(file, row);
        const next = fileOf(row);
        if (file !== undefined && comparePaths(file.path, next.path) >= 0) row.fail("path", "files are not in order");
        file = next;
        totals.fileCount++;
        continue;
      }
      const current = file ?? row.fail("kind", "the first row is not a file");
      if (!belongsTo(row, current)) row.fail("path", "a row does not belong to the file before it");
      if (kind === "symbol") {
        if (current.chunks.length + current.uses.length > 0 || row.int("ordinal") !== current.symbols.length)
          row.fail("ordinal", "symbols are not in order");
        current.symbols.push(symbolOf(row));
        totals.symbolCount++;
      } else if (kind === "chunk") {
        if (current.uses.length > 0 || row.int("ordinal") !== current.chunks.length)
          row.fail("ordinal", "chunks are not in order");
        const chunk = chunkOf(row, current);
        current.chunks.push(chunk);
        totals.chunkCount++;
        if (chunk.vector !== undefined) totals.vectorCount++;
      } else if (kind === "use") {
        if (row.int("ordinal") !== current.uses.length) row.fail("ordinal", "uses are not in order");
        current.uses.push(useOf(row));
        totals.useCount++;
      } else row.fail("kind", `unknown: ${JSON.stringify(kind)}`);
    }
  }
  for (const [name, total] of Object.entries(totals)) {
    if (total !== header[name as keyof typeof totals])
      throw new SnapshotFormatError(
        `${name}: the header says ${header[name as keyof typeof totals]}, the rows are ${total}`,
      );
  }
  if (file !== undefined) yield finished(file);
}

function belongsTo(row: RowView, file: SnapshotFile): boolean {
  return (
    row.text("path") === file.path &&
    row.text("content_hash") === file.contentHash &&
    row.text("language") === file.language
  );
}

/** Typed access to one row of a group. */
class RowView {
  readonly #group: GroupRows;
  index = 0;

  constructor(group: GroupRows) {
    this.#group = group;
  }

  fail(column: ColumnName | "vector", why: string): never {
    throw new SnapshotFormatError(`${column}: ${why} (row ${this.index} of its group)`);
  }

  textOrNull(column: TextName): string | null {
    return this.#group.texts[column][this.index] as string | null;
  }

  intOrNull(column: IntName): number | null {
    const value = this.#group.ints[column][this.index] as number;
    return value === ABSENT ? null : value;
  }

  text(column: TextName): string {
    return this.textOrNull(column) ?? this.fail(column, "missing");
  }

  int(column: IntName): number {
    return this.intOrNull(column) ?? this.fail(column, "missing");
  }

  get vector(): Uint8Array | undefined {
    return this.#group.vectors[this.index];
  }
}

function fileOf(row: RowView): SnapshotFile {
  const path = row.text("path");
  if (row.int("start_line") !== 1 || row.int("start_byte") !== 0)
    row.fail("start_line", "a file does not begin at its beginning");
  if (row.vector !== undefined) row.fail("vector", "only chunks have one");
  if (!isSafePath(path)) row.fail("path", `not a path inside a repository: ${JSON.stringify(path)}`);
  return {
    path,
    contentHash: row.text("content_hash"),
    language: row.text("language"),
    sizeBytes: row.int("end_byte"),
    lineCount: row.int("end_line"),
    outcome: row.text("outcome"),
    symbols: [],
    chunks: [],
    uses: [],
  };
}

/** Matches U+0000, and a path component that is empty, `.` or `..`. */
const UNSAFE_PATH = /\0|(?:^|\/)\.{0,2}(?:\/|$)/;

/** Whether the path stays inside a directory that it is joined to. Git has no other paths. */
export function isSafePath(path: string): boolean {
  return !UNSAFE_PATH.test(path);
}

function useOf(row: RowView): SnapshotUse {
  if (row.vector !== undefined) row.fail("vector", "only chunks have one");
  return {
    kind: row.text("symbol_kind"),
    name: row.text("name"),
    line: row.int("start_line"),
    enclosing: row.textOrNull("qualified_name"),
    meaning: row.textOrNull("context"),
  };
}

function symbolOf(row: RowView): CodeSymbol {
  if (row.vector !== undefined) row.fail("vector", "only chunks have one");
  return {
    kind: row.text("symbol_kind"),
    name: row.text("name"),
    qualifiedName: row.text("qualified_name"),
    signature: row.text("signature"),
    doc: row.textOrNull("doc"),
    parent: row.intOrNull("parent"),
    startLine: row.int("start_line"),
    endLine: row.int("end_line"),
    startByte: row.int("start_byte"),
    endByte: row.int("end_byte"),
  };
}

function chunkOf(row: RowView, file: SnapshotFile): EmbeddedChunk {
  const text = row.textOrNull("text");
  const symbol = row.intOrNull("parent");
  const named = symbol === null ? null : (file.symbols[symbol] ?? row.fail("parent", "no such symbol"));
  if (row.textOrNull("qualified_name") !== (named?.qualifiedName ?? null))
    row.fail("qualified_name", "not that of the chunk's symbol");
  const withheld = text === null;
  if (withheld && row.vector !== undefined) row.fail("vector", "a withheld chunk has one");
  return {
    text: text ?? "",
    context: withheld ? "" : row.text("context"),
    hash: row.text("chunk_hash"),
    startLine: row.int("start_line"),
    endLine: row.int("end_line"),
    startByte: row.int("start_byte"),
    endByte: row.int("end_byte"),
    symbol,
    withheld,
    vector: row.vector,
  };
}

/** Checks the parents of a file's symbols once all its rows are read, because a parent may come later. */
function finished(file: SnapshotFile, row?: RowView): SnapshotFile {
  for (const symbol of file.symbols) {
    if (symbol.parent !== null && symbol.parent >= file.symbols.length) {
      if (row !== undefined) row.fail("parent", `no such symbol in ${JSON.stringify(file.path)}`);
      throw new SnapshotFormatError(`parent: no such symbol in ${JSON.stringify(file.path)}`);
    }
  }
  return file;
}
