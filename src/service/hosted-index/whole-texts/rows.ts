/** Statements about where texts are. Hashes are SHA-256 in hex. */
import { sql } from "drizzle-orm";
import { arrayOf, unnest } from "../../db/arrays.ts";
import type { Db } from "../../db/client.ts";
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
    sql`select encode(sha256, 'hex') as sha256, pack, ordinal, size_bytes as "sizeBytes", withheld_lines as "withheldLines" from texts
        where tenant_id = ${tenantId} and sha256 = any(array(select decode(h, 'hex') from unnest(${arrayOf(hashes, "text")}) as h))
        and pack like ${`${PACK_ID_PREFIX}%`}`,
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
