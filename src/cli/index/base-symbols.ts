import { openSnapshot } from "../../snapshot/format/reader.ts";
import type { SymbolOwner } from "../../snapshot/format/symbols.ts";
import type { CodeSymbol } from "../../parsing/types.ts";
import { baseFile, readArtifact } from "./bases.ts";
import type { IndexStore } from "./store.ts";

/** Symbols of a content in a base layer; undefined if the tables have them. */
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
