/** Removal of expired overlays. Their contents and objects go with the daily sweeps. */
import { sql, type SQL } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { rowsOf } from "../db/rows.ts";
import type { StagingBucket } from "../indexing/staging.ts";
import { editsKey } from "./requests.ts";

/** Overlays per statement. */
const PAGE = 20;
/** Statements of one call; the next one continues. */
const MAX_PAGES = 20;

/** Deletes a page of expired overlays with their revisions and differences; exported so that a test can check its plan. */
export const expiredOverlays = (): SQL => sql`with gone as (
    delete from overlays where id = any(array(select id from overlays where expires_at < now() order by expires_at limit ${PAGE}))
      and expires_at < now() returning id, tenant_id, workspace_id, seq
  ), revision as (
    delete from revisions r using gone where r.workspace_id = gone.workspace_id and r.seq = gone.seq
  ), differences as (
    delete from revision_overlays o using gone where o.workspace_id = gone.workspace_id and o.seq = gone.seq
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
