import { createHash } from "node:crypto";
import { SourceText } from "../../parsing/source-text.ts";
import { PARSER_VERSION } from "../../parsing/version.ts";
import type { LoadedText, TextSource, WantedText } from "../../retrieval/types.ts";
import type { FileTree } from "../index/file-tree.ts";
import { symbolsOf } from "../index/query.ts";
import { intact, rowId } from "../index/schema.ts";
import type { IndexStore } from "../index/store.ts";
import { verified } from "../index/verified.ts";

/**
 * Texts from the local index. A pulled artifact keeps its texts compressed, so of contents that it holds the lines come from the
 * work tree's file, where that is still the content that was indexed.
 */
export function storeTexts(store: IndexStore, tree: FileTree | undefined): TextSource {
  return async (wanted) => {
    const loaded: LoadedText[] = [];
    for (const one of wanted) loaded.push(await load(store, tree, one));
    return loaded;
  };
}

async function load(store: IndexStore, tree: FileTree | undefined, wanted: WantedText): Promise<LoadedText> {
  const found = store
    .prepare(
      `select id, base, ${intact("contents")} as intact from contents where sha256 = ? and language = ? and parser_version = ?`,
    )
    .get(Buffer.from(wanted.sha256, "hex"), wanted.language, PARSER_VERSION);
  const row = found && verified<{ id: number; base: number | null }>(found);
  if (!row) return { chunks: wanted.chunks.map(() => ""), signatures: wanted.symbols.map(() => "") };
  if (row.base === null) {
    const chunk = store.prepare(`select text, ${intact("chunks")} as intact from chunks where id = ?`);
    const symbol = store.prepare(`select signature as text, ${intact("symbols")} as intact from symbols where id = ?`);
    // A row that is missing is damage, too.
    const textOf = (row: unknown): string => verified<{ text: string }>(row ?? { intact: 0 }).text;
    return {
      chunks: wanted.chunks.map(({ ordinal }) => textOf(chunk.get(rowId(row.id, ordinal)))),
      signatures: wanted.symbols.map((ordinal) => textOf(symbol.get(rowId(row.id, ordinal)))),
    };
  }
  const symbols = wanted.symbols.length === 0 ? [] : await symbolsOf(store, row.id);
  return {
    chunks: linesFromFile(tree, wanted),
    signatures: wanted.symbols.map((ordinal) => symbols[ordinal]?.signature ?? ""),
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
