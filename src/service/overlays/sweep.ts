/** Removal of expired overlays. Their contents and objects go with the daily sweeps. */
import { sql, type SQL } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { rowsOf } from "../db/rows.ts";
import type { StagingBucket } from "../indexing/staging.ts";
import { editsKey } from "./requests.ts";

/** Overlays per statement. */
const PAGE = 10;
/** Statements of one call; the next one continues. */
const MAX_PAGES = 50;

/** More than a revision has differences. */
const ALL_ROWS = 10_000_000;

/**
 * Rows of a table of the deleted overlays, in the order of its key and with a limit: where the planner does not know the table, it would
 * otherwise read all of it.
 */
const rowsOfGone = (table: SQL, key: SQL): SQL =>
  sql`ctid = any(array(select r.ctid from gone cross join lateral (
    select ctid from ${table} where workspace_id = gone.workspace_id and seq = gone.seq order by ${key} limit ${ALL_ROWS}) r))`;

/** Deletes a page of expired overlays with their revisions and differences. */
const expiredOverlays = (): SQL => sql`with gone as materialized (
    delete from overlays where id = any(array(select id from overlays where expires_at < now() order by expires_at limit ${PAGE}))
      and expires_at < now() returning id, tenant_id, workspace_id, seq
  ), revision as (
    delete from revisions where ${rowsOfGone(sql`revisions`, sql`workspace_id, seq`)}
  ), differences as (
    delete from revision_overlays where ${rowsOfGone(sql`revision_overlays`, sql`workspace_id, seq, path`)}
  ) select id, tenant_id as "tenantId" from gone`;

/** Removes expired overlays and returns their number. */
export async function sweepOverlays(db: Db, edits: Pick<StagingBucket, "delete">): Promise<number> {
  let removed = 0;
  for (let page = 0; page < MAX_PAGES; page++) {
    const gone = await rowsOf<{ id: string; tenantId: string }>(db, expiredOverlays());
    removed += gone.length;
    // Of those that were never made.
    if (gone.length > 0) await edits.delete(gone.map(({ id, tenantId }) => editsKey(tenantId, id)));
    if (gone.length < PAGE) break;
  }
  return removed;
}
