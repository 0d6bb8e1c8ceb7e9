import { ABSENT } from "./decode.ts";
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
  outcome: string;
  /** Number of the file's row in the whole snapshot; its symbols follow it. */
  row: number;
  symbolCount: number;
  chunkCount: number;
  /** Chunks whose text is withheld. */
  withheldCount: number;
}

/** Yields the files that each row group completes. Most rows are no files: of those only numbers are looked at. */
export async function* listFiles(
  header: SnapshotHeader,
  groups: readonly GroupColumns[],
): AsyncGenerator<ListedFile[]> {
  const totals = { fileCount: 0, symbolCount: 0, chunkCount: 0 };
  let file: ListedFile | undefined;
  for (const group of groups) {
    const finished: ListedFile[] = [];
    const columns = await readColumns(group);
    const [kinds, paths, languages, hashes] = [columns.kind, columns.path, columns.language, columns.contentHash];
    const [kindOf, pathOf, languageOf, hashOf] = [kinds.rows, paths.rows, languages.rows, hashes.rows];
    const [isFile, isSymbol, isChunk] = ["file", "symbol", "chunk"].map((kind) => kinds.entries.indexOf(kind));
    // Where a file goes on from the group before, its own entries are looked up.
    let path = file === undefined ? ABSENT : paths.entries.indexOf(file.path);
    let language = file === undefined ? ABSENT : languages.entries.indexOf(file.language);
    let hash = file === undefined ? ABSENT : hashes.entries.indexOf(file.contentHash);
    for (let row = 0; row < group.rows; row++) {
      const kind = kindOf[row] as number;
      if (kind === isFile) {
        const next = fileAt(group, columns, row);
        if (file !== undefined) {
          finished.push(file);
          // The first comparison is the engine's own, and right but for rare characters.
          if (file.path >= next.path && comparePaths(file.path, next.path) >= 0)
            group.fail("path", row, "files are not in order");
        }
        file = next;
        [path, language, hash] = [pathOf[row] as number, languageOf[row] as number, hashOf[row] as number];
        continue;
      }
      if (file === undefined) return group.fail("kind", row, "the first row is not a file");
      if (pathOf[row] !== path || languageOf[row] !== language || hashOf[row] !== hash)
        group.fail("path", row, "a row does not belong to the file before it");
      if (kind === isSymbol) {
        if (file.chunkCount > 0) group.fail("kind", row, "symbols are not in order");
        file.symbolCount++;
      } else if (kind === isChunk) {
        file.chunkCount++;
        if (!columns.hasText(row)) file.withheldCount++;
      } else group.fail("kind", row, `unknown: ${JSON.stringify(kinds.entries[kind])}`);
    }
    count(totals, finished);
    yield finished;
  }
  const last = file === undefined ? [] : [file];
  count(totals, last);
  for (const [name, total] of Object.entries(totals)) {
    const said = header[name as keyof typeof totals];
    if (total !== said) throw new SnapshotFormatError(`${name}: the header says ${said}, the rows are ${total}`);
  }
  yield last;
}

function count(totals: Record<"fileCount" | "symbolCount" | "chunkCount", number>, files: readonly ListedFile[]): void {
  totals.fileCount += files.length;
  for (const { symbolCount, chunkCount } of files) {
    totals.symbolCount += symbolCount;
    totals.chunkCount += chunkCount;
  }
}

type Columns = Awaited<ReturnType<typeof readColumns>>;

async function readColumns(group: GroupColumns) {
  const indexed = async (name: "kind" | "path" | "language" | "content_hash" | "outcome") => {
    const { entries, indexes } = await group.indexed(name);
    return { entries, rows: indexes() };
  };
  const endByte = await group.ints("end_byte");
  return {
    kind: await indexed("kind"),
    path: await indexed("path"),
    language: await indexed("language"),
    contentHash: await indexed("content_hash"),
    outcome: await indexed("outcome"),
    hasText: await group.presence("text"),
    sizeBytes: (row: number) => endByte[row] as number,
  };
}

function fileAt(group: GroupColumns, columns: Columns, row: number): ListedFile {
  const text = (name: "path" | "language" | "contentHash" | "outcome"): string => {
    const { entries, rows } = columns[name];
    return entries[rows[row] as number] ?? group.fail("path", row, `no ${name}`);
  };
  const path = text("path");
  if (!isSafePath(path)) group.fail("path", row, `not a path inside a repository: ${JSON.stringify(path)}`);
  return {
    path,
    contentHash: text("contentHash"),
    language: text("language"),
    sizeBytes: columns.sizeBytes(row),
    outcome: text("outcome"),
    row: group.firstRow + row,
    symbolCount: 0,
    chunkCount: 0,
    withheldCount: 0,
  };
}
