import { openSnapshot } from "../../engines/snapshot/reader.ts";
import type { SourceChunk, SourceContent, SourceSymbol } from "../../engines/search/types.ts";
import { baseFile, contentKey, listBases, readArtifact } from "../indexing/bases.ts";
import { belongsTo, intact } from "../indexing/schema.ts";
import type { IndexStore } from "../indexing/store.ts";
import { verified } from "../indexing/verified.ts";

/** A content of the local index. */
export interface IndexedContent {
  id: number;
  /** 64 lower-case hex digits. */
  sha256: string;
  language: string;
  /** Whether the content is in a pulled artifact instead of the tables. */
  isInBase: boolean;
}

/** Reads chunks and symbols of contents back: from the tables, or from the pulled artifacts that hold them. */
export async function* readContents(
  store: IndexStore,
  wanted: readonly IndexedContent[],
): AsyncGenerator<SourceContent> {
  for (const { id, sha256, language, isInBase } of wanted)
    if (!isInBase) yield { sha256, language, chunks: chunksOf(store, id), symbols: symbolsOf(store, id) };
  yield* readBases(store, wanted);
}

async function* readBases(store: IndexStore, wanted: readonly IndexedContent[]): AsyncGenerator<SourceContent> {
  const left = new Set(wanted.filter(({ isInBase }) => isInBase).map((c) => contentKey(c.sha256, c.language)));
  for (const { checksum } of listBases(store)) {
    if (left.size === 0) return;
    const found = await readArtifact(baseFile(store.directory, checksum), async (bytes) => {
      const contents: SourceContent[] = [];
      for await (const { contentHash, language, chunks, symbols } of (await openSnapshot(bytes)).files())
        if (left.delete(contentKey(contentHash, language)))
          contents.push({ sha256: contentHash, language, chunks, symbols });
      return contents;
    });
    yield* found;
  }
}

function chunksOf(store: IndexStore, contentId: number): SourceChunk[] {
  return store
    .prepare(
      `select text, start_line as startLine, end_line as endLine, withheld, ${intact("chunks", "c")} as intact
       from chunks c where ${belongsTo("c", "?1")} order by id`,
    )
    .all(contentId)
    .map((row) => verified<{ text: string; startLine: number; endLine: number; withheld: number }>(row))
    .map(({ text, startLine, endLine, withheld }) => ({ text, startLine, endLine, withheld: withheld === 1 }));
}

function symbolsOf(store: IndexStore, contentId: number): SourceSymbol[] {
  return store
    .prepare(
      `select kind, name, qualified_name as qualifiedName, parent, start_line as startLine, end_line as endLine, doc,
         ${intact("symbols", "s")} as intact
       from symbols s where ${belongsTo("s", "?1")} order by id`,
    )
    .all(contentId)
    .map((row) => verified<SourceSymbol>(row));
}
