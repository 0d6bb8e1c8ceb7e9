import { openSnapshot } from "../../snapshot/format/reader.ts";
import type { SymbolOwner } from "../../snapshot/format/symbols.ts";
import { SnapshotFormatError } from "../../snapshot/format/types.ts";
import { baseFile, listBases, readArtifact } from "./bases.ts";
import type { CodeSymbol } from "../../parsing/types.ts";
import type { IndexStore } from "./store.ts";

export interface BaseSymbol extends CodeSymbol {
  contentId: number;
}

/** Symbols of contents in base layers whose name passes. Throws `SnapshotFormatError` or a file's error over damage. */
export async function baseSymbols(store: IndexStore, test: (name: string) => boolean): Promise<BaseSymbol[]> {
  const find = store.prepare(
    "select id, lower(hex(sha256)) as contentHash, language from contents where base = ? and base_row = ?",
  );
  const found: BaseSymbol[] = [];
  for (const { id: base, checksum } of listBases(store)) {
    await readArtifact(baseFile(store.directory, checksum), async (bytes) => {
      const snapshot = await openSnapshot(bytes);
      for await (const { fileRow, contentHash, language, symbol } of snapshot.symbolsNamed(test)) {
        // Several files may share a content, and other layers or the tables may have it from elsewhere.
        const content = find.get(base, fileRow) as { id: number; contentHash: string; language: string } | undefined;
        if (!content) continue;
        if (content.contentHash !== contentHash || content.language !== language)
          throw new SnapshotFormatError(`content_hash: row ${fileRow} is not that of the content listed there`);
        found.push({ ...symbol, contentId: content.id });
      }
    });
  }
  return found;
}

/** Symbols of a content that a base layer holds; undefined where the tables do. */
export async function baseSymbolsOf(store: IndexStore, contentId: number): Promise<CodeSymbol[] | undefined> {
  const place = store
    .prepare(
      `select b.checksum, c.base_row as row, c.symbol_count as symbolCount, lower(hex(c.sha256)) as contentHash, c.language
       from contents c join bases b on b.id = c.base where c.id = ?`,
    )
    .get(contentId) as (SymbolOwner & { checksum: string }) | undefined;
  if (!place) return undefined;
  return readArtifact(baseFile(store.directory, place.checksum), async (bytes) =>
    (await (await openSnapshot(bytes)).symbolsOf(place)).map(({ symbol }) => symbol),
  );
}
