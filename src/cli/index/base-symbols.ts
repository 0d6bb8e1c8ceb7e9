import { openSnapshot } from "../../snapshot/format/reader.ts";
import { baseFile, readArtifact } from "./bases.ts";
import type { IndexStore } from "./store.ts";

/** A symbol of a content in a base layer. */
export interface BaseSymbol {
  contentId: number;
  /** Its position among the content's symbols. */
  ordinal: number;
}

/** Returns the signatures of symbols, "" for a missing one. Opens each artifact once and decompresses only its signatures. */
export async function baseSignatures(store: IndexStore, wanted: readonly BaseSymbol[]): Promise<string[]> {
  const find = store.prepare(
    "select b.checksum, c.base_row as row from contents c join bases b on b.id = c.base where c.id = ?",
  );
  const places = wanted.map(({ contentId, ordinal }, position) => {
    const { checksum, row } = find.get(contentId) as { checksum: string; row: number };
    return { checksum, row: row + 1 + ordinal, position };
  });
  const signatures = wanted.map(() => "");
  for (const checksum of new Set(places.map((place) => place.checksum))) {
    const own = places.filter((place) => place.checksum === checksum);
    const rows = [...new Set(own.map(({ row }) => row))].sort((a, b) => a - b);
    const texts = await readArtifact(baseFile(store.directory, checksum), async (bytes) =>
      (await openSnapshot(bytes)).signaturesAt(rows),
    );
    for (const { row, position } of own) signatures[position] = texts[rows.indexOf(row)] ?? "";
  }
  return signatures;
}
