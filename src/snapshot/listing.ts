import type { GroupColumns } from "./group-columns.ts";
import { isSafePath } from "./rows.ts";
import { comparePaths, SnapshotFormatError, type SnapshotHeader } from "./types.ts";

/** What a snapshot says of a file, without its symbols and chunks. */
export interface ListedFile {
  path: string;
  /** SHA-256 (lower-case hex) of the file's bytes. */
  contentHash: string;
  language: string;
  sizeBytes: number;
  lineCount: number;
  outcome: string;
  /** Number of the file's row in the whole snapshot; its symbols follow it. */
  row: number;
  symbolCount: number;
  chunkCount: number;
  /** Chunks whose text is withheld. */
  withheldCount: number;
}

/** Yields the files that each row group completes. */
export async function* listFiles(
  header: SnapshotHeader,
  groups: readonly GroupColumns[],
): AsyncGenerator<ListedFile[]> {
  const totals = { fileCount: 0, symbolCount: 0, chunkCount: 0 };
  let file: ListedFile | undefined;
  for (const group of groups) {
    const finished: ListedFile[] = [];
    const columns = await readColumns(group);
    for (let row = 0; row < group.rows; row++) {
      const kind = columns.kind(row);
      if (kind === "file") {
        const next = fileAt(group, columns, row);
        if (file !== undefined) {
          finished.push(file);
          if (comparePaths(file.path, next.path) >= 0) group.fail("path", row, "files are not in order");
        }
        file = next;
        totals.fileCount++;
        continue;
      }
      if (file === undefined) return group.fail("kind", row, "the first row is not a file");
      if (
        columns.path(row) !== file.path ||
        columns.contentHash(row) !== file.contentHash ||
        columns.language(row) !== file.language
      )
        group.fail("path", row, "a row does not belong to the file before it");
      if (kind === "symbol") {
        if (file.chunkCount > 0) group.fail("kind", row, "symbols are not in order");
        file.symbolCount++;
        totals.symbolCount++;
      } else if (kind === "chunk") {
        file.chunkCount++;
        totals.chunkCount++;
        if (!columns.hasText(row)) file.withheldCount++;
      } else group.fail("kind", row, `unknown: ${JSON.stringify(kind)}`);
    }
    yield finished;
  }
  for (const [name, total] of Object.entries(totals)) {
    const said = header[name as keyof typeof totals];
    if (total !== said) throw new SnapshotFormatError(`${name}: the header says ${said}, the rows are ${total}`);
  }
  if (file !== undefined) yield [file];
}

type Columns = Awaited<ReturnType<typeof readColumns>>;

async function readColumns(group: GroupColumns) {
  const texts = async (name: "kind" | "path" | "language" | "content_hash" | "outcome") => {
    const { entries, indexes } = await group.indexed(name);
    const rows = indexes();
    return (row: number): string | undefined => entries[rows[row] as number];
  };
  const startLine = await group.ints("start_line");
  const endLine = await group.ints("end_line");
  const startByte = await group.ints("start_byte");
  const endByte = await group.ints("end_byte");
  return {
    kind: await texts("kind"),
    path: await texts("path"),
    language: await texts("language"),
    contentHash: await texts("content_hash"),
    outcome: await texts("outcome"),
    hasText: await group.presence("text"),
    startsAtBeginning: (row: number) => startLine[row] === 1 && startByte[row] === 0,
    lineCount: (row: number) => endLine[row] as number,
    sizeBytes: (row: number) => endByte[row] as number,
  };
}

function fileAt(group: GroupColumns, columns: Columns, row: number): ListedFile {
  const path = columns.path(row);
  const contentHash = columns.contentHash(row);
  const language = columns.language(row);
  if (path === undefined || contentHash === undefined || language === undefined)
    return group.fail("path", row, "missing");
  if (!isSafePath(path)) group.fail("path", row, `not a path inside a repository: ${JSON.stringify(path)}`);
  if (!columns.startsAtBeginning(row)) group.fail("start_line", row, "a file does not begin at its beginning");
  return {
    path,
    contentHash,
    language,
    sizeBytes: columns.sizeBytes(row),
    lineCount: columns.lineCount(row),
    outcome: columns.outcome(row) ?? group.fail("outcome", row, "missing"),
    row: group.firstRow + row,
    symbolCount: 0,
    chunkCount: 0,
    withheldCount: 0,
  };
}
