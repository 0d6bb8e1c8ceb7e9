import { createHash } from "node:crypto";
import { DEFAULT_MAX_FILE_SIZE_BYTES } from "../../contract/limits.ts";
import { SourceText } from "../../engines/parsing/source-text.ts";
import { PARSER_VERSION } from "../../engines/parsing/version.ts";
import type { LoadedText, TextSource, WantedText } from "../../engines/search/types.ts";
import type { FileTree } from "../indexing/file-tree.ts";
import type { BaseText } from "../indexing/base-texts.ts";
import type { UnpackedFile } from "../indexing/packed-file.ts";
import { intact } from "../indexing/schema.ts";
import type { IndexStore } from "../indexing/store.ts";
import { IndexDamagedError, verified } from "../indexing/verified.ts";

/**
 * Texts from the local index. A pulled artifact stores its texts compressed, so the lines of its contents are read from the work
 * tree's file if that still has the indexed content, else from the artifact.
 */
export function storeTexts(store: IndexStore, tree: FileTree | undefined): TextSource {
  // A search asks twice for most of the files that it shows.
  const unpacked = new Map<number, UnpackedFile>();
  const parsedOf = (contentId: number): UnpackedFile => {
    const known = unpacked.get(contentId) ?? store.readParsed(contentId);
    unpacked.set(contentId, known);
    return known;
  };
  return async (wanted) => {
    const inBase: BaseText[] = [];
    const found = wanted.map((one) => {
      const row = contentRow(store, one);
      if (row?.base == null) return { one, row, lines: undefined };
      const contentId = row.id;
      const lines = linesFromFile(tree, one);
      for (const ordinal of one.symbols) inBase.push({ contentId, column: "signature", ordinal });
      if (!lines) for (const { ordinal } of one.chunks) inBase.push({ contentId, column: "text", ordinal });
      return { one, row, lines };
    });
    const texts =
      inBase.length === 0 ? [] : await (await import("../indexing/base-texts.ts")).readBaseTexts(store, inBase);
    let next = 0;
    const take = (count: number): string[] => texts.slice(next, (next += count));
    return found.map(({ one, row, lines }): LoadedText => {
      if (!row) return { chunks: one.chunks.map(() => ""), signatures: one.symbols.map(() => "") };
      if (row.base === null) return fromTables(parsedOf(row.id), one);
      const signatures = take(one.symbols.length);
      return { chunks: lines ?? take(one.chunks.length), signatures };
    });
  };
}

interface ContentRow {
  id: number;
  /** The base layer that holds the content; null if the tables hold it. */
  base: number | null;
}

function contentRow(store: IndexStore, { sha256, language }: WantedText): ContentRow | undefined {
  const found = store
    .prepare(
      `select id, base, ${intact("contents")} as intact from contents where sha256 = ? and language = ? and parser_version = ?`,
    )
    .get(Buffer.from(sha256, "hex"), language, PARSER_VERSION);
  return found && verified<ContentRow>(found);
}

function fromTables({ chunks, symbols }: UnpackedFile, wanted: WantedText): LoadedText {
  // What is missing is damage as well.
  const found = <T>(of: readonly T[], ordinal: number): T => {
    const one = of[ordinal];
    if (one === undefined) throw new IndexDamagedError("a chunk or symbol is missing");
    return one;
  };
  return {
    chunks: wanted.chunks.map(({ ordinal }) => found(chunks, ordinal).text),
    signatures: wanted.symbols.map((ordinal) => found(symbols, ordinal).signature),
  };
}

/** Texts of the chunks from the work tree's file; undefined if it is gone or has another content. */
function linesFromFile(tree: FileTree | undefined, { path, sha256, chunks }: WantedText): string[] | undefined {
  if (chunks.length === 0) return [];
  // Of a file that has grown beyond that, the beginning, which has another hash.
  const bytes = tree?.read(path, DEFAULT_MAX_FILE_SIZE_BYTES + 1);
  if (!bytes || createHash("sha256").update(bytes).digest("hex") !== sha256) return undefined;
  const source = new SourceText(bytes);
  return chunks.map(({ startLine, endLine }) => {
    const start = source.lineStarts[startLine - 1];
    return start === undefined || endLine > source.lineCount
      ? ""
      : source.text.slice(start, source.contentEnd(endLine - 1));
  });
}
