/** Daily removal of objects of the search index that no revision and no content refers to. */
import { sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { rowsOf } from "../db/rows.ts";
import { isUuid } from "../../lib/uuid.ts";
import { SEARCH_PREFIX, type SearchBucket, segmentKey, tableKey, vectorKey } from "./store.ts";

/** Younger objects may belong to a run that is not finished. */
const GRACE_MS = 24 * 3_600_000;

/** Removes unreferenced objects and returns their number. If interrupted, the next sweep removes the rest. */
export async function sweepSearch(db: Db, bucket: SearchBucket, now: number): Promise<number> {
  let removed = 0;
  let tenantId: string | undefined;
  let live = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await bucket.list(
      cursor === undefined ? { prefix: SEARCH_PREFIX } : { prefix: SEARCH_PREFIX, cursor },
    );
    const dead: string[] = [];
    for (const { key, uploaded } of page.objects) {
      if (now - uploaded.getTime() <= GRACE_MS) continue;
      // Keys are listed in order, so all objects of a tenant follow one another.
      const owner = key.slice(SEARCH_PREFIX.length).split("/")[0] ?? "";
      if (owner !== tenantId) {
        tenantId = owner;
        live = await liveKeys(db, owner);
      }
      if (!live.has(key)) dead.push(key);
    }
    if (dead.length > 0) await bucket.delete(dead);
    removed += dead.length;
    cursor = page.truncated ? page.cursor : undefined;
  } while (cursor !== undefined);
  return removed;
}

async function liveKeys(db: Db, tenantId: string): Promise<Set<string>> {
  if (!isUuid(tenantId)) return new Set();
  const ofTenant = sql`from revisions r join workspaces w on w.id = r.workspace_id where w.tenant_id = ${tenantId}::uuid`;
  const rows = await rowsOf<{ kind: "segment" | "table" | "vectors"; id: string | null }>(
    db,
    sql`select distinct 'segment' as kind, segment as id from contents where tenant_id = ${tenantId}::uuid
        union select 'segment', unnest(r.search_segments) ${ofTenant}
        union select 'vectors', unnest(r.search_vectors) ${ofTenant}
        union select 'table', r.search_table ${ofTenant}`,
  );
  const keyOf = { segment: segmentKey, table: tableKey, vectors: vectorKey };
  return new Set(rows.flatMap(({ kind, id }) => (id === null ? [] : [keyOf[kind](tenantId, id)])));
}
