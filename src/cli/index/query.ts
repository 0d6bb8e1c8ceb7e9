import type { CodeSymbol } from "../../parsing/types.ts";
import { listBases } from "./bases.ts";
import { belongsTo, intact, ordinalOf } from "./schema.ts";
import type { IndexStore } from "./store.ts";
import { IndexDamagedError, verified } from "./verified.ts";

const SYMBOL_COLUMNS = `s.kind, s.name, s.qualified_name as qualifiedName, s.signature, s.doc, s.parent,
  s.start_line as startLine, s.end_line as endLine, s.start_byte as startByte, s.end_byte as endByte`;

/** Symbols of a content in the parser's order, from the tables or from a base layer. */
export async function symbolsOf(store: IndexStore, contentId: number): Promise<CodeSymbol[]> {
  const rows = store
    .prepare(
      `select ${SYMBOL_COLUMNS}, s.id, ${intact("symbols", "s")} as intact from symbols s where ${belongsTo("s", "?1")} order by s.id`,
    )
    .all(contentId)
    .map((row) => verified<CodeSymbol & { id: number }>(row));
  if (rows.length === 0 && listBases(store).length > 0) {
    const { baseSymbolsOf } = await import("./base-symbols.ts");
    return (await baseSymbolsOf(store, contentId)) ?? [];
  }
  return rows.map(({ id, ...symbol }, position) => {
    if (ordinalOf(id) !== position) throw new IndexDamagedError("a symbol is missing");
    return symbol;
  });
}
