import { openSnapshot, type TextColumn } from "../../engines/snapshot/reader.ts";
import { baseFile, readArtifact } from "./bases.ts";
import type { IndexStore } from "./store.ts";

/** A symbol's signature or a chunk's text, in a content of a base layer. */
export interface BaseText {
  contentId: number;
  column: TextColumn;
  /** Position of the symbol or chunk in its content. */
  ordinal: number;
}

/** Returns the texts, "" for a missing or withheld one. Opens each artifact once and decompresses only the wanted columns. */
export async function readBaseTexts(store: IndexStore, wanted: readonly BaseText[]): Promise<string[]> {
  const find = store.prepare(
    `select b.checksum, c.base_row as row, c.symbol_count as symbolCount
     from contents c join bases b on b.id = c.base where c.id = ?`,
  );
  const places = wanted.map(({ contentId, column, ordinal }, position) => {
    const found = find.get(contentId) as { checksum: string; row: number; symbolCount: number };
    // A file's row is followed by its symbols, then its chunks.
    const row = found.row + 1 + (column === "text" ? found.symbolCount : 0) + ordinal;
    return { checksum: found.checksum, column, row, position };
  });
  const texts = wanted.map(() => "");
  for (const checksum of new Set(places.map((place) => place.checksum))) {
    await readArtifact(baseFile(store.directory, checksum), async (bytes) => {
      const snapshot = await openSnapshot(bytes);
      for (const column of ["signature", "text"] as const) {
        const own = places.filter((place) => place.checksum === checksum && place.column === column);
        const rows = [...new Set(own.map(({ row }) => row))].sort((a, b) => a - b);
        const found = new Map((await snapshot.textsAt(column, rows)).map((text, i) => [rows[i], text]));
        for (const { row, position } of own) texts[position] = found.get(row) ?? "";
      }
    });
  }
  return texts;
}
