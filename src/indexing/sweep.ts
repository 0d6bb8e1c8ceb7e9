/** The daily clean-up: revisions nobody can ask for any more, contents and vectors no revision refers to, staged leftovers. */
import { sql } from "drizzle-orm";
import { arrayOf } from "../db/arrays.ts";
import type { Db } from "../db/client.ts";
import { rowsOf } from "../db/rows.ts";
import { type StagingBucket, TREES_PREFIX } from "./staging.ts";

/** Revisions kept of a workspace, the current one included: snapshots of a recent commit need not index it again. */
export const REVISIONS_KEPT = 5;
/** Rows younger than this may belong to a run that has not switched yet. */
const GRACE_HOURS = 24;
const GRACE_DAYS = GRACE_HOURS / 24;
const HOUR_MS = 3_600_000;
/** Rows of one deleting statement: each stays well under the query timeout. */
const SWEEP_PAGE = 2_000;

export interface SweepReport {
  revisions: number;
  files: number;
  contents: number;
  vectors: number;
  objects: number;
}

/** Removes what nothing refers to. Every statement is safe beside running index runs; interrupted, the next one goes on. */
export async function sweepIndex(db: Db, staging: StagingBucket, now: number): Promise<SweepReport> {
  const files = await sweepPages(
    db,
    () => sql`delete from revision_files where ctid in (select f.ctid from revision_files f join workspaces w on w.id = f.workspace_id
      where f.to_seq <= w.current_seq - ${REVISIONS_KEPT - 1} limit ${SWEEP_PAGE}) returning 1`,
  );
  const revisions = await sweepPages(
    db,
    () => sql`delete from revisions where ctid in (select r.ctid from revisions r join workspaces w on w.id = r.workspace_id
      where r.seq <= w.current_seq - ${REVISIONS_KEPT} limit ${SWEEP_PAGE}) returning 1`,
  );
  const contents = await sweepPages(
    db,
    () => sql`delete from contents where id in (select c.id from contents c where c.created_at < now() - make_interval(hours => ${GRACE_HOURS})
      and not exists (select 1 from revision_files f where f.content_id = c.id) limit ${SWEEP_PAGE}) returning 1`,
  );
  let vectors = 0;
  // A vector is written or claimed before the chunk that has its hash is: one without such a chunk for a whole day is waste.
  for (const { id } of await rowsOf<{ id: string }>(db, sql`select id from tenants`)) {
    vectors += await sweepPages(
      db,
      () => sql`delete from vectors where ctid in (select v.ctid from vectors v where v.tenant_id = ${id}
        and v.used_on < current_date - ${GRACE_DAYS}::int and not exists (
        select 1 from chunks k join contents c on c.id = k.content_id where c.tenant_id = ${id} and k.hash = v.chunk_hash) limit ${SWEEP_PAGE}) returning 1`,
    );
  }
  return { revisions, files, contents, vectors, objects: await sweepObjects(db, staging, now) };
}

async function sweepPages(db: Db, statement: () => ReturnType<typeof sql>): Promise<number> {
  let total = 0;
  for (;;) {
    const { length } = await rowsOf(db, statement());
    total += length;
    if (length < SWEEP_PAGE) return total;
  }
}

type StoredObject = Awaited<ReturnType<StagingBucket["list"]>>["objects"][number];

/** Staged objects of runs that are long over, and the trees of those that no workspace stands on. */
async function sweepObjects(db: Db, staging: StagingBucket, now: number): Promise<number> {
  const isOld = (object: StoredObject) => now - object.uploaded.getTime() > GRACE_HOURS * HOUR_MS;
  let removed = 0;
  const remove = async (objects: StoredObject[]) => {
    if (objects.length > 0) await staging.delete(objects.map((object) => object.key));
    removed += objects.length;
  };
  for await (const objects of listPages(staging, "runs/")) await remove(objects.filter(isOld));
  for await (const objects of listPages(staging, TREES_PREFIX)) {
    const old = objects.filter(isOld);
    const current = await currentRuns(db, old.map(runOfTrees));
    await remove(old.filter((object) => !current.has(runOfTrees(object))));
  }
  return removed;
}

async function* listPages(staging: StagingBucket, prefix: string): AsyncGenerator<StoredObject[]> {
  let cursor: string | undefined;
  do {
    const page = await staging.list(cursor === undefined ? { prefix } : { prefix, cursor });
    yield page.objects;
    cursor = page.truncated ? page.cursor : undefined;
  } while (cursor !== undefined);
}

/** Keys are `trees/<workspace>/<run>` and `trees/<workspace>/<run>.skips`. */
const runOfTrees = ({ key }: StoredObject) => key.split("/").at(-1)?.split(".")[0] ?? "";

/** Which of these runs made the revision that readers of their workspace see. */
async function currentRuns(db: Db, runIds: string[]): Promise<Set<string>> {
  if (runIds.length === 0) return new Set();
  const rows = await rowsOf<{ run_id: string }>(
    db,
    sql`select r.run_id from revisions r join workspaces w on w.id = r.workspace_id and w.current_seq = r.seq
        where r.run_id::text = any(${arrayOf(runIds, "text")})`,
  );
  return new Set(rows.map((row) => row.run_id));
}
