import { openSnapshot } from "../../snapshot/reader.ts";
import { baseFile, listBases, readArtifact } from "./bases.ts";
import type { IndexStore, StoredSymbol } from "./store.ts";

export interface BaseSymbol extends StoredSymbol {
  contentId: number;
}

/** Symbols of contents in base layers whose name passes. Throws `SnapshotFormatError` or a file's error over damage. */
export async function baseSymbols(store: IndexStore, test: (name: string) => boolean): Promise<BaseSymbol[]> {
  const find = store.prepare("select id from contents where base = ? and base_row = ?");
  const found: BaseSymbol[] = [];
  for (const { id: base, checksum } of listBases(store)) {
    await readArtifact(baseFile(store.directory, checksum), async (bytes) => {
      const snapshot = await openSnapshot(bytes);
      for await (const { fileRow, symbol } of snapshot.symbolsNamed(test)) {
        // Several files may share a content, and other layers or the tables may have it from elsewhere.
        const content = find.get(base, fileRow) as { id: number } | undefined;
        if (content) found.push({ ...symbol, contentId: content.id });
      }
    });
  }
  return found;
}

/** Symbols of a content that a base layer holds; undefined where the tables do. */
export async function baseSymbolsOf(store: IndexStore, contentId: number): Promise<StoredSymbol[] | undefined> {
  const place = store
    .prepare(
      `select b.checksum, c.base_row as row, c.symbol_count as symbolCount
       from contents c join bases b on b.id = c.base where c.id = ?`,
    )
    .get(contentId) as { checksum: string; row: number; symbolCount: number } | undefined;
  if (!place) return undefined;
  return readArtifact(baseFile(store.directory, place.checksum), async (bytes) =>
    (await (await openSnapshot(bytes)).symbolsOf(place)).map(({ symbol }) => symbol),
  );
}
