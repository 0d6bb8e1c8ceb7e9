/** Texts that answers show, read from the database in one round trip for each answer. */
import { type SQL, sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { lookUp } from "../db/look-up.ts";
import { rowsOf } from "../db/rows.ts";
import type { LoadedText, TextSource } from "../../engines/search/types.ts";
import { contentsAt, type WantedPath } from "../revisions/content-at.ts";
import type { Target } from "./targets.ts";

interface Wish extends WantedPath {
  /** Position of the wanted text, and of the chunk or symbol in it. */
  at: number;
  position: number;
  ordinal: number;
}

interface TextRow {
  what: "chunk" | "symbol";
  at: number;
  position: number;
  text: string;
}

/** Reads chunks and signatures of the targets' files. `targets` are the revisions given to `openIndex`. */
export function databaseTexts(db: Db, targets: readonly Target[]): TextSource {
  return async (wanted) => {
    const chunks: Wish[] = [];
    const symbols: Wish[] = [];
    for (const [at, { revision, path, chunks: ownChunks, symbols: ownSymbols }] of wanted.entries()) {
      const target = targets[revision];
      if (!target) throw new RangeError(`there is no revision ${revision}`);
      const { workspaceId, seq, baseSeq } = target;
      for (const [position, { ordinal }] of ownChunks.entries())
        chunks.push({ at, position, workspaceId, seq, baseSeq, path, ordinal });
      for (const [position, ordinal] of ownSymbols.entries())
        symbols.push({ at, position, workspaceId, seq, baseSeq, path, ordinal });
    }
    const loaded: LoadedText[] = wanted.map((want) => ({
      chunks: want.chunks.map(() => ""),
      signatures: want.symbols.map(() => ""),
    }));
    if (chunks.length + symbols.length === 0) return loaded;
    const rows = await rowsOf<TextRow>(db, sql`${wishes("chunk", chunks)} union all ${wishes("symbol", symbols)}`);
    for (const { what, at, position, text } of rows) {
      const own = what === "chunk" ? loaded[at]?.chunks : loaded[at]?.signatures;
      if (own) own[position] = text;
    }
    return loaded;
  };
}

function wishes(what: TextRow["what"], rows: readonly Wish[]): SQL {
  const text = what === "chunk" ? sql`text from chunks` : sql`signature as text from symbols`;
  return sql`select ${sql.raw(`'${what}'`)} as what, w.at, w.position, t.text
    from ${contentsAt(rows, [
      ["at", "int", ({ at }) => at],
      ["position", "int", ({ position }) => position],
      ["ordinal", "int", ({ ordinal }) => ordinal],
    ])}
    ${lookUp(sql`select ${text} where content_id = f.content_id and ordinal = w.ordinal`, "t")}`;
}
