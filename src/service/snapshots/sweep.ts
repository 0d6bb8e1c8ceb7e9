import { sql } from "drizzle-orm";
import { SNAPSHOTS_KEPT } from "../../contract/index.ts";
import { type SnapshotContext } from "./context.ts";
import { rowsOf } from "../db/rows.ts";
import { deletePrefix, prefixesOf, SNAPSHOT_PREFIX, snapshotIdOf, UPLOAD_PREFIX } from "./storage.ts";

/** A pending upload counts as abandoned this long after its URL has expired; a commit may be running until then. */
const ABANDONED_AFTER_SEC = 60 * 60;
/** The same for a hosted build, which has no URL, counted from its start. No build takes this long. */
const BUILD_ABANDONED_AFTER_SEC = 24 * 60 * 60;
/** Younger objects are not deleted as orphans: their row may not be written yet. */
const ORPHAN_AFTER_MS = 24 * 60 * 60 * 1000;
const BATCH_ROWS = 200;

interface SweepResult {
  /** Old snapshots and abandoned uploads that were deleted, rows and objects. */
  removed: number;
  /** Objects without a snapshot that were deleted. */
  orphans: number;
}

type SweepContext = Pick<SnapshotContext, "db" | "bucket" | "now">;

/**
 * Deletes old snapshots of all tenants. Each workspace keeps its current snapshot, the last {@link SNAPSHOTS_KEPT} committed ones,
 * and every snapshot with a signed URL that has not expired. Rows are marked as deleted first, which hides them from requests; then
 * their objects are deleted, then the rows. A sweep that is killed is completed by the next one.
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

/** Marks the snapshots to delete. A snapshot that was replaced never becomes current again, so the choice stays valid. */
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
 * Deletes old objects without a row, because their tenant or workspace was deleted, and uploads of committed snapshots: the upload
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
