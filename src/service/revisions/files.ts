/**
 * Storage layout of revisions and their files, and queries to read them.
 *
 * Revisions that were current at some time form the main line: a row of `revision_files` is valid from `from_seq` (inclusive)
 * to `to_seq` (exclusive). Any other revision (another branch, a commit indexed only for a snapshot) is stored as its differences
 * from a revision of the main line: `base_seq` (0 for an empty base) and rows in `revision_overlays`, where a null content means
 * a deleted file. A further branch therefore costs only its differences, in rows and in contents.
 */
import { and, eq, type SQL, sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { unnest } from "../db/arrays.ts";
import { revisions, workspaces } from "../db/schema.ts";

export type Revision = typeof revisions.$inferSelect;

/** True for a row `b` of the base that the overlay does not replace. A scalar subquery is a look-up for each row; `not exists` may become a join. */
const notOverlaid = (seq: number): SQL =>
  sql`(select 1 from revision_overlays o where o.workspace_id = b.workspace_id and o.seq = ${seq} and o.path = b.path) is null`;

/** The rows of a revision as a subquery with `path`, `content_id`, `git_oid` and `mode`; give it an alias. */
export function filesOf({ workspaceId, seq, baseSeq }: Pick<Revision, "workspaceId" | "seq" | "baseSeq">): SQL {
  if (baseSeq === null) {
    return sql`(select path, content_id, git_oid, mode from revision_files
      where workspace_id = ${workspaceId}::uuid and from_seq <= ${seq} and (to_seq is null or to_seq > ${seq}))`;
  }
  return sql`(select b.path, b.content_id, b.git_oid, b.mode from revision_files b
      where b.workspace_id = ${workspaceId}::uuid and b.from_seq <= ${baseSeq} and (b.to_seq is null or b.to_seq > ${baseSeq})
      and ${notOverlaid(seq)}
    union all select o.path, o.content_id, o.git_oid, o.mode from revision_overlays o
      where o.workspace_id = ${workspaceId}::uuid and o.seq = ${seq} and o.content_id is not null)`;
}

/**
 * The files of several revisions: the part of a `from` clause with `w.at`, the number of a revision, and `f.path` and `f.content_id`
 * of each of its files. A revision without a `base_seq` is its own base.
 */
export function filesOfEach(
  rows: readonly (readonly [at: number, revision: Pick<Revision, "workspaceId" | "seq" | "baseSeq">])[],
): SQL {
  const each = unnest(rows, [
    ["uuid", ([, { workspaceId }]) => workspaceId],
    ["int", ([, { seq }]) => seq],
    ["int", ([, { baseSeq, seq }]) => baseSeq ?? seq],
    ["int", ([at]) => at],
  ]);
  return sql`${each} as w(workspace, seq, base, at)
    join lateral (
      select b.path, b.content_id from revision_files b
        where b.workspace_id = w.workspace and b.from_seq <= w.base and (b.to_seq is null or b.to_seq > w.base)
        and (select 1 from revision_overlays o where o.workspace_id = b.workspace_id and o.seq = w.seq and o.path = b.path) is null
      union all select o.path, o.content_id from revision_overlays o
        where o.workspace_id = w.workspace and o.seq = w.seq and o.content_id is not null) f on true`;
}

/** Like {@link filesOf}, but only the first `limit` rows after a path, in path order. */
export function filesAfter(
  { workspaceId, seq, baseSeq }: Pick<Revision, "workspaceId" | "seq" | "baseSeq">,
  after: string,
  limit: number,
): SQL {
  const page = sql`order by path limit ${limit}`;
  if (baseSeq === null)
    return sql`(select * from ${filesOf({ workspaceId, seq, baseSeq })} f where path > ${after} ${page})`;
  // Each side has its own limit, so that both are read in index order.
  return sql`(select * from (
      (select b.path, b.content_id, b.git_oid, b.mode from revision_files b
        where b.workspace_id = ${workspaceId}::uuid and b.from_seq <= ${baseSeq} and (b.to_seq is null or b.to_seq > ${baseSeq}) and b.path > ${after}
        and ${notOverlaid(seq)} ${page})
      union all (select o.path, o.content_id, o.git_oid, o.mode from revision_overlays o
        where o.workspace_id = ${workspaceId}::uuid and o.seq = ${seq} and o.content_id is not null and o.path > ${after} ${page})
    ) f ${page})`;
}

/** A revision by its number; undefined if it is not kept. */
export async function revisionAt(db: Db, workspaceId: string, seq: number): Promise<Revision | undefined> {
  const [row] = await db
    .select()
    .from(revisions)
    .where(and(eq(revisions.workspaceId, workspaceId), eq(revisions.seq, seq)));
  return row;
}

/** The current revision of a workspace; undefined before the first run. */
export async function currentRevision(db: Db, workspaceId: string): Promise<Revision | undefined> {
  const rows = await db
    .select({ revision: revisions })
    .from(workspaces)
    .innerJoin(revisions, and(eq(revisions.workspaceId, workspaces.id), eq(revisions.seq, workspaces.currentSeq)))
    .where(eq(workspaces.id, workspaceId));
  return rows[0]?.revision;
}
