/**
 * Storage layout of revisions and their files, and queries to read them.
 *
 * Revisions that were current at some time form the main line: a row of `revision_files` is valid from `from_seq` (inclusive)
 * to `to_seq` (exclusive). Any other revision (another branch, a commit indexed only for a snapshot) is stored as its differences
 * from a revision of the main line: `base_seq` (0 for an empty base) and rows in `revision_overlays`, where a null content means
 * a deleted file. A further branch therefore costs only its differences, in rows and in contents.
 */
import { and, desc, eq, inArray, type SQL, sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { revisionRefs, revisions, workspaces } from "../db/schema.ts";

export type Revision = typeof revisions.$inferSelect;

/** Number of refs per workspace whose last revision is kept. */
export const MAX_REFS = 64;

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

/** The current revision of a workspace; undefined before the first run. */
export async function currentRevision(db: Db, workspaceId: string): Promise<Revision | undefined> {
  const rows = await db
    .select({ revision: revisions })
    .from(workspaces)
    .innerJoin(revisions, and(eq(revisions.workspaceId, workspaces.id), eq(revisions.seq, workspaces.currentSeq)))
    .where(eq(workspaces.id, workspaceId));
  return rows[0]?.revision;
}

const COMMIT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i;

/** Possible full names of a ref, best first: branches before tags, as in git. */
export function refNames(ref: string): string[] {
  return ref.startsWith("refs/") ? [ref] : [`refs/heads/${ref}`, `refs/tags/${ref}`];
}

/**
 * The revision to answer from: the current one without `ref`, else the last one of that branch or tag, else one of that full
 * commit id. Undefined if it is not indexed or no longer kept. The caller must check that the tenant owns the workspace.
 */
export async function revisionFor(db: Db, workspaceId: string, ref?: string): Promise<Revision | undefined> {
  if (ref === undefined) return currentRevision(db, workspaceId);
  const names = refNames(ref);
  const named = await db
    .select({ name: revisionRefs.ref, revision: revisions })
    .from(revisionRefs)
    .innerJoin(revisions, and(eq(revisions.workspaceId, revisionRefs.workspaceId), eq(revisions.seq, revisionRefs.seq)))
    .where(and(eq(revisionRefs.workspaceId, workspaceId), inArray(revisionRefs.ref, names)));
  const best = names.map((name) => named.find((row) => row.name === name)).find((row) => row !== undefined);
  if (best) return best.revision;
  if (!COMMIT_ID.test(ref)) return undefined;
  const rows = await db
    .select()
    .from(revisions)
    .where(and(eq(revisions.workspaceId, workspaceId), eq(revisions.gitSha, ref.toLowerCase())))
    .orderBy(desc(revisions.seq))
    .limit(1);
  return rows[0];
}

/** Removes a deleted ref; the next sweep removes its revision. Accepts short and full names. True if the ref existed. */
export async function dropRef(db: Db, workspaceId: string, ref: string): Promise<boolean> {
  const dropped = await db
    .delete(revisionRefs)
    .where(and(eq(revisionRefs.workspaceId, workspaceId), inArray(revisionRefs.ref, refNames(ref))))
    .returning();
  return dropped.length > 0;
}
