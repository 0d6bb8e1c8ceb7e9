/** The daily clean-up of the search index: objects that no revision and no content refers to. */
import { sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { rowsOf } from "../db/rows.ts";
import { SEARCH_PREFIX, type SearchBucket, segmentKey, tableKey } from "./store.ts";

/** Younger objects may belong to a run that has not switched yet. */
const GRACE_MS = 24 * 3_600_000;

/** Removes what nothing refers to. Returns the number of objects. Interrupted, the next one goes on. */
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
      // Keys come in order, so that the objects of a tenant come together.
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
  const rows = await rowsOf<{ segment: string | null; search_table: string | null }>(
    db,
    sql`select distinct segment, null as search_table from contents where tenant_id::text = ${tenantId} and segment is not null
        union select unnest(r.search_segments), null from revisions r join workspaces w on w.id = r.workspace_id where w.tenant_id::text = ${tenantId}
        union select null, r.search_table from revisions r join workspaces w on w.id = r.workspace_id where w.tenant_id::text = ${tenantId}`,
  );
  const live = new Set<string>();
  for (const { segment, search_table: table } of rows) {
    if (segment !== null) live.add(segmentKey(tenantId, segment));
    if (table !== null) live.add(tableKey(tenantId, table));
  }
  return live;
}
