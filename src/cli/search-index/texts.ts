import { createHash } from "node:crypto";
import { SourceText } from "../../parsing/source-text.ts";
import { PARSER_VERSION } from "../../parsing/version.ts";
import type { LoadedText, TextSource, WantedText } from "../../retrieval/types.ts";
import type { FileTree } from "../index/file-tree.ts";
import type { BaseSymbol } from "../index/base-symbols.ts";
import { intact, rowId } from "../index/schema.ts";
import type { IndexStore } from "../index/store.ts";
import { verified } from "../index/verified.ts";

/**
 * Texts from the local index. A pulled artifact keeps its texts compressed, so of contents that it holds the lines come from the
 * work tree's file, where that is still the content that was indexed.
 */
export function storeTexts(store: IndexStore, tree: FileTree | undefined): TextSource {
  return async (wanted) => {
    const rows = wanted.map((one) => contentRow(store, one));
    const inBase = wanted.flatMap(({ symbols }, i) => {
      const row = rows[i];
      return row?.base == null ? [] : symbols.map((ordinal) => ({ contentId: row.id, ordinal }));
    });
    const signatures = inBase.length === 0 ? [] : await signaturesFromBase(store, inBase);
    let next = 0;
    return wanted.map((one, i): LoadedText => {
      const row = rows[i];
      if (!row) return { chunks: one.chunks.map(() => ""), signatures: one.symbols.map(() => "") };
      if (row.base === null) return fromTables(store, row.id, one);
      next += one.symbols.length;
      return { chunks: linesFromFile(tree, one), signatures: signatures.slice(next - one.symbols.length, next) };
    });
  };
}

async function signaturesFromBase(store: IndexStore, wanted: readonly BaseSymbol[]): Promise<string[]> {
  const { baseSignatures } = await import("../index/base-symbols.ts");
  return baseSignatures(store, wanted);
}

interface ContentRow {
  id: number;
  /** The base layer that holds the content; null where the tables do. */
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

function fromTables(store: IndexStore, contentId: number, { chunks, symbols }: WantedText): LoadedText {
  const chunk = store.prepare(`select text, ${intact("chunks")} as intact from chunks where id = ?`);
  const symbol = store.prepare(`select signature as text, ${intact("symbols")} as intact from symbols where id = ?`);
  // A row that is missing is damage, too.
  const textOf = (row: unknown): string => verified<{ text: string }>(row ?? { intact: 0 }).text;
  return {
    chunks: chunks.map(({ ordinal }) => textOf(chunk.get(rowId(contentId, ordinal)))),
    signatures: symbols.map((ordinal) => textOf(symbol.get(rowId(contentId, ordinal)))),
  };
}

function linesFromFile(tree: FileTree | undefined, { path, sha256, chunks }: WantedText): string[] {
  const bytes = chunks.length === 0 ? undefined : tree?.read(path);
  if (!bytes || createHash("sha256").update(bytes).digest("hex") !== sha256) return chunks.map(() => "");
  const source = new SourceText(bytes);
  return chunks.map(({ startLine, endLine }) => {
    const start = source.lineStarts[startLine - 1];
    return start === undefined || endLine > source.lineCount
      ? ""
      : source.text.slice(start, source.contentEnd(endLine - 1));
  });
}
