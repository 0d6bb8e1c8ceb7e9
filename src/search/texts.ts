/** Texts that answers show, read from the database in one round trip for each answer. */
import { type SQL, sql } from "drizzle-orm";
import { unnest } from "../db/arrays.ts";
import type { Db } from "../db/client.ts";
import { rowsOf } from "../db/rows.ts";
import type { LoadedText, TextSource } from "../retrieval/types.ts";
import type { Target } from "./targets.ts";

interface Wish {
  /** Position of the wanted text, and of the chunk or symbol in it. */
  at: number;
  position: number;
  workspaceId: string;
  seq: number;
  baseSeq: number | null;
  path: string;
  ordinal: number;
}

interface TextRow {
  what: "chunk" | "symbol";
  at: number;
  position: number;
  text: string;
}

/**
 * The content at a path of a revision, as a lateral subquery over `w(workspace, seq, base, path)`; `base` is the revision's `base_seq`,
 * or its own number where it has none.
 */
export const contentAt = sql`(
  select o.content_id, 0 as rank from revision_overlays o
    where o.workspace_id = w.workspace and o.seq = w.seq and o.path = w.path collate "C"
  union all select b.content_id, 1 from revision_files b
    where b.workspace_id = w.workspace and b.path = w.path collate "C" and b.from_seq <= w.base and (b.to_seq is null or b.to_seq > w.base)
  order by rank limit 1)`;

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
  const text = what === "chunk" ? sql`t.text` : sql`t.signature`;
  return sql`select ${sql.raw(`'${what}'`)} as what, w.at, w.position, ${text} as text
    from ${unnest(rows, [
      ["int", ({ at }) => at],
      ["int", ({ position }) => position],
      ["uuid", ({ workspaceId }) => workspaceId],
      ["int", ({ seq }) => seq],
      ["int", ({ baseSeq, seq }) => baseSeq ?? seq],
      ["text", ({ path }) => path],
      ["int", ({ ordinal }) => ordinal],
    ])} as w(at, position, workspace, seq, base, path, ordinal)
    join lateral ${contentAt} f on true
    join ${what === "chunk" ? sql`chunks` : sql`symbols`} t on t.content_id = f.content_id and t.ordinal = w.ordinal`;
}
