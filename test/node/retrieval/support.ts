import { createHash } from "node:crypto";
import { analyzeContent } from "../../../src/engines/search/analyze.ts";
import { inMemory } from "../../../src/engines/search/bytes.ts";
import { openIndex, type SearchIndex } from "../../../src/engines/search/search-index.ts";
import { Segment } from "../../../src/engines/search/segment.ts";
import { buildSegment } from "../../../src/engines/search/segment-writer.ts";
import { buildTable, type OpenSegment } from "../../../src/engines/search/table.ts";
import type { RevisionFile, SourceContent, SourceSymbol, TextSource } from "../../../src/engines/search/types.ts";

/** A file with its content; `symbols` by name and lines. */
export interface TestFile {
  path: string;
  language: string;
  text: string;
  symbols?: (Partial<SourceSymbol> & { name: string; startLine: number; endLine: number; signature?: string })[];
}

export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Chunks of `linesPerChunk` lines. */
export function contentOf({ text, language, symbols = [] }: TestFile, linesPerChunk = 20): SourceContent {
  const lines = text.split("\n");
  const chunks = [];
  for (let from = 0; from < lines.length; from += linesPerChunk) {
    const own = lines.slice(from, from + linesPerChunk);
    chunks.push({ text: own.join("\n"), startLine: from + 1, endLine: from + own.length, withheld: false });
  }
  return {
    sha256: sha256(text),
    language,
    chunks,
    symbols: symbols.map((symbol) => ({
      kind: "function",
      qualifiedName: symbol.name,
      parent: null,
      doc: null,
      ...symbol,
    })),
  };
}

export function revisionFile({ path, text, language }: TestFile): RevisionFile {
  return { path, sha256: sha256(text), language };
}

/** The segment in memory, under an id as a store would give it. */
export async function segmentOf(bytes: Uint8Array): Promise<OpenSegment & { bytes: Uint8Array }> {
  const id = createHash("sha256").update(bytes).digest("hex").slice(0, 32);
  return { id, bytes, segment: await Segment.open(inMemory(bytes)) };
}

/** Opens files over segments that hold their contents. */
export async function openFiles(
  files: readonly TestFile[],
  segments: readonly (OpenSegment & { bytes: Uint8Array })[],
): Promise<SearchIndex> {
  const { table, missing } = buildTable(files.map(revisionFile), segments);
  if (missing.length > 0) throw new Error(`no segment holds ${missing[0]?.path}`);
  const bytesOf = new Map(segments.map(({ id, bytes }) => [id, bytes]));
  return openIndex([{ table: inMemory(table), segment: (id) => inMemory(bytesOf.get(id) as Uint8Array) }]);
}

/** One segment over all files. */
export async function coldIndex(files: readonly TestFile[]): Promise<SearchIndex> {
  return openFiles(files, [await segmentOf(buildSegment(files.map((file) => analyzeContent(contentOf(file)))))]);
}

/** Texts of the files; a symbol's signature is its first line. */
export function textsOf(files: readonly TestFile[]): TextSource {
  const byHash = new Map(files.map((file) => [sha256(file.text), file]));
  return (wanted) =>
    wanted.map(({ sha256: hash, chunks, symbols }) => {
      const file = byHash.get(hash);
      const lines = (file?.text ?? "").split("\n");
      return {
        chunks: chunks.map(({ startLine, endLine }) => lines.slice(startLine - 1, endLine).join("\n")),
        signatures: symbols.map((ordinal) => {
          const symbol = file?.symbols?.[ordinal];
          return symbol?.signature ?? lines[(symbol?.startLine ?? 0) - 1]?.trim() ?? "";
        }),
      };
    });
}
