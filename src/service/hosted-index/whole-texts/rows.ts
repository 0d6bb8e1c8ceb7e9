/** Statements about where texts are. Hashes are SHA-256 in hex. */
import { sql } from "drizzle-orm";
import { arrayOf, unnest } from "../../db/arrays.ts";
import type { Db } from "../../db/client.ts";
import { lookUp } from "../../db/look-up.ts";
import { rowsOf } from "../../db/rows.ts";
import { PACK_ID_PREFIX } from "./store.ts";

/** A stored text. */
export interface TextRow {
  sha256: string;
  pack: string;
  ordinal: number;
  sizeBytes: number;
  withheldLines: number;
}

/** The given texts that are stored in packs of this version, by hash. */
export async function findTexts(db: Db, tenantId: string, hashes: readonly string[]): Promise<Map<string, TextRow>> {
  if (hashes.length === 0) return new Map();
  const rows = await rowsOf<TextRow>(
    db,
    sql`select h as sha256, t.pack, t.ordinal, t.size_bytes as "sizeBytes", t.withheld_lines as "withheldLines"
        from unnest(${arrayOf(hashes, "text")}) as h
        ${lookUp(sql`select * from texts where tenant_id = ${tenantId}::uuid and sha256 = decode(h, 'hex')`, "t")}
        where t.pack like ${`${PACK_ID_PREFIX}%`}`,
  );
  return new Map(rows.map((row) => [row.sha256, row]));
}

/** A text of a pack that has been written. */
export type PackedText = Omit<TextRow, "pack">;

/** Records that texts are in a pack now. Of several writers the last one counts; each has written its pack before. */
export async function writeTexts(db: Db, tenantId: string, pack: string, texts: readonly PackedText[]): Promise<void> {
  if (texts.length === 0) return;
  // A fixed order prevents deadlocks between concurrent writers of the same rows.
  const ordered = texts.toSorted((a, b) => (a.sha256 < b.sha256 ? -1 : 1));
  await db.execute(sql`insert into texts (tenant_id, sha256, pack, ordinal, size_bytes, withheld_lines)
    select ${tenantId}::uuid, decode(h, 'hex'), ${pack}, ordinal, size, withheld from ${unnest(ordered, [
      ["text", (row) => row.sha256],
      ["int", (row) => row.ordinal],
      ["int", (row) => row.sizeBytes],
      ["int", (row) => row.withheldLines],
    ])} as t(h, ordinal, size, withheld)
    on conflict (tenant_id, sha256) do update set pack = excluded.pack, ordinal = excluded.ordinal, created_at = now()`);
}
