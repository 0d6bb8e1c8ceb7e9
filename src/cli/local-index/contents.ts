import { openSnapshot } from "../../engines/snapshot/reader.ts";
import type { SourceContent } from "../../engines/search/types.ts";
import { baseFile, contentKey, listBases, readArtifact } from "../indexing/bases.ts";
import type { IndexStore } from "../indexing/store.ts";

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
    if (!isInBase) yield { sha256, language, ...store.readParsed(id) };
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
