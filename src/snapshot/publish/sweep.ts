import { sql } from "drizzle-orm";
import { SNAPSHOTS_KEPT } from "../../contract/index.ts";
import { type SnapshotContext } from "./context.ts";
import { rowsOf } from "../../db/rows.ts";
import { deletePrefix, prefixesOf, SNAPSHOT_PREFIX, snapshotIdOf, UPLOAD_PREFIX } from "./storage.ts";

/** A pending upload is abandoned this long after its URL ended: a commit may still be under way. */
const ABANDONED_AFTER_SEC = 60 * 60;
/** A build has no URL; nothing builds as long as this. */
const BUILD_ABANDONED_AFTER_SEC = 24 * 60 * 60;
/** Objects younger than this may belong to something under way that has no row to show yet. */
const ORPHAN_AFTER_MS = 24 * 60 * 60 * 1000;
const BATCH_ROWS = 200;

export interface SweepResult {
  /** Snapshots and abandoned uploads that were removed, row and objects. */
  removed: number;
  /** Objects that belonged to no snapshot any more. */
  orphans: number;
}

type SweepContext = Pick<SnapshotContext, "db" | "bucket" | "now">;

/**
 * Retention, for all tenants: keeps the current snapshot of each workspace, the last {@link SNAPSHOTS_KEPT} committed ones and
 * whatever a signed URL still leads to. Rows are doomed first (nothing hands out a doomed one), then their objects go, then
 * the rows: killed anywhere, the next sweep goes on.
 */
export async function sweepSnapshots(context: SweepContext): Promise<SweepResult> {
  const { db, bucket } = context;
  await markExpired(context);
  let removed = 0;
  for (;;) {
    const rows = await rowsOf<{ id: string }>(
      db,
      sql`select id from snapshots where state = 'deleted' order by id limit ${BATCH_ROWS}`,
    );
    for (const { id } of rows) {
      for (const prefix of prefixesOf(id)) await deletePrefix(bucket, prefix);
    }
    const ids = rows.map((row) => row.id);
    if (ids.length > 0)
      await db.execute(sql`delete from snapshots where state = 'deleted' and id = any(${sql.param(ids)}::uuid[])`);
    removed += ids.length;
    if (rows.length < BATCH_ROWS) break;
  }
  return { removed, orphans: await removeOrphans(context) };
}

/** Marks what is to go. What has been superseded never becomes current again, so a decision stays right. */
async function markExpired({ db, now }: SweepContext): Promise<void> {
  const at = (sec: number) => sql`to_timestamp(${now() / 1000 - sec}::float8)`;
  await db.execute(
    sql`with ranked as (
          select id, row_number() over (partition by workspace_id order by committed_at desc, id) as place
          from snapshots where state = 'committed'
        )
        update snapshots s set state = 'deleted'
        from ranked r
        where s.id = r.id and r.place > ${SNAPSHOTS_KEPT} and s.state = 'committed'
          and (s.url_expires_at is null or s.url_expires_at < ${at(0)})
          and not exists (select 1 from workspaces w where w.current_snapshot_id = s.id)`,
  );
  await db.execute(
    sql`update snapshots set state = 'deleted'
        where state = 'pending'
          and (url_expires_at < ${at(ABANDONED_AFTER_SEC)} or (url_expires_at is null and created_at < ${at(BUILD_ABANDONED_AFTER_SEC)}))`,
  );
}

/**
 * Removes old objects without a row (their tenant or workspace was deleted), and uploads whose snapshot is committed: their
 * URL may have been used again after the commit.
 */
async function removeOrphans({ db, bucket, now }: SweepContext): Promise<number> {
  let orphans = 0;
  for (const prefix of [UPLOAD_PREFIX, SNAPSHOT_PREFIX]) {
    const keeps = prefix === UPLOAD_PREFIX ? sql`state = 'pending'` : sql`true`;
    for (let cursor: string | undefined; ;) {
      const page = await bucket.list({ prefix, ...(cursor === undefined ? {} : { cursor }) });
      const old = page.objects
        .filter((object) => object.uploaded.getTime() < now() - ORPHAN_AFTER_MS)
        .map((object) => object.key);
      const ids = [...new Set(old.flatMap((key) => snapshotIdOf(key) ?? []))];
      const known = new Set(
        ids.length === 0
          ? []
          : (
              await rowsOf<{ id: string }>(
                db,
                sql`select id from snapshots where id = any(${sql.param(ids)}::uuid[]) and ${keeps}`,
              )
            ).map((row) => row.id),
      );
      const gone = old.filter((key) => !known.has(snapshotIdOf(key) ?? ""));
      if (gone.length > 0) await bucket.delete(gone);
      orphans += gone.length;
      if (!page.truncated) break;
      cursor = page.cursor;
    }
  }
  return orphans;
}
