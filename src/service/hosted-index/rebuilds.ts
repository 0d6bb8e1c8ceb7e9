/**
 * Rewriting of search indexes after an upgrade: a walk over all revisions requests it for those that another version of the service
 * has indexed. Readers request it too (`findTargets`), so a workspace that is in use does not wait for the walk.
 */
import { sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { rowsOf } from "../db/rows.ts";
import type { QueueMessage } from "../runs/messages.ts";
import { NIL_UUID } from "../../lib/uuid.ts";
import { NO_TABLE, TABLE_ID_PREFIX } from "./store.ts";

/** Revisions that one call looks at, some hundred workspaces: runs wait in the same queue as the requests. */
const PAGE_REVISIONS = 500;
/** Row of `service_settings` with the progress of the walk: `<table prefix> <workspace> <seq>`, or `<table prefix> done`. */
const SETTING = "search_rebuild";
const DONE = "done";
const BEFORE_ALL = [NIL_UUID, "0"];

interface Row extends Record<string, unknown> {
  tenantId: string;
  workspaceId: string;
  seq: number;
  isOutdated: boolean;
}

/**
 * Requests the rewriting of the next outdated revisions that are current, or the last one of a ref. Returns their number. To be
 * called every minute: one read once the walk for this version of the service is complete.
 */
export async function requestRebuilds(
  db: Db,
  send: (message: QueueMessage & { kind: "rebuild_search" }) => Promise<unknown>,
): Promise<number> {
  const [setting] = await rowsOf<{ value: string }>(
    db,
    sql`select value from service_settings where name = ${SETTING}`,
  );
  const [prefix, ...position] = setting?.value.split(" ") ?? [];
  const isOurs = prefix === TABLE_ID_PREFIX;
  if (isOurs && position[0] === DONE) return 0;
  const [workspaceId, seq] = isOurs ? position : BEFORE_ALL;
  const page = await rowsOf<Row>(
    db,
    sql`select w.tenant_id as "tenantId", r.workspace_id as "workspaceId", r.seq,
          coalesce(r.search_table not like ${`${TABLE_ID_PREFIX}%`}, true) and r.search_table is distinct from ${NO_TABLE}
          and (r.seq = w.current_seq or exists (select 1 from revision_refs f where f.workspace_id = r.workspace_id and f.seq = r.seq)) as "isOutdated"
        from revisions r join workspaces w on w.id = r.workspace_id
        where (r.workspace_id, r.seq) > (${workspaceId}::uuid, ${seq}::int) order by r.workspace_id, r.seq limit ${PAGE_REVISIONS}`,
  );
  const outdated = page.filter(({ isOutdated }) => isOutdated);
  for (const { tenantId, workspaceId: id, seq: own } of outdated) {
    await send({ kind: "rebuild_search", tenantId, workspaceId: id, seq: own });
  }
  const last = page.at(-1);
  const next = page.length < PAGE_REVISIONS || !last ? DONE : `${last.workspaceId} ${last.seq}`;
  await db.execute(sql`insert into service_settings (name, value) values (${SETTING}, ${`${TABLE_ID_PREFIX} ${next}`})
    on conflict (name) do update set value = excluded.value`);
  return outdated.length;
}
