/** Branches and tags of a workspace, and the revisions they name. */
import { and, eq, inArray, type SQL, sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { revisionRefs } from "../db/schema.ts";

/** Number of refs per workspace whose last revision is kept. */
export const MAX_REFS = 64;

/** Possible full names of a ref, best first: branches before tags, as in git. */
function refNames(ref: string): string[] {
  return ref.startsWith("refs/") ? [ref] : [`refs/heads/${ref}`, `refs/tags/${ref}`];
}

/**
 * The revision of `workspaces w` to answer from, as a subquery: the current one without `ref`, else the last one of that branch or tag,
 * else that of a full commit id; never that of an overlay. No row if it is not indexed or no longer kept.
 */
export function revisionOf(ref: string | undefined): SQL {
  if (ref === undefined) return sql`select * from revisions where workspace_id = w.id and seq = w.current_seq`;
  const named = refNames(ref).map(
    (name) => sql`(select n.seq from revision_refs n where n.workspace_id = w.id and n.ref = ${name})`,
  );
  const choices = [
    ...named,
    sql`(select max(c.seq) from revisions c where c.workspace_id = w.id and c.git_sha = lower(${ref}) and c.seq > 0)`,
    sql`case when w.default_branch = ${ref} then w.current_seq end`,
  ];
  return sql`select * from revisions where workspace_id = w.id and seq = coalesce(${sql.join(choices, sql`, `)})`;
}

/** Removes a deleted ref; the next sweep removes its revision. Accepts short and full names. True if the ref existed. */
export async function dropRef(db: Db, workspaceId: string, ref: string): Promise<boolean> {
  const dropped = await db
    .delete(revisionRefs)
    .where(and(eq(revisionRefs.workspaceId, workspaceId), inArray(revisionRefs.ref, refNames(ref))))
    .returning();
  return dropped.length > 0;
}

/** Drops the refs beyond the most recent ones. */
export async function trimRefs(db: Db, workspaceId: string, kept: number): Promise<void> {
  await db.execute(
    sql`delete from revision_refs where workspace_id = ${workspaceId} and ref in (
          select ref from revision_refs where workspace_id = ${workspaceId} order by updated_at desc, ref offset ${kept})`,
  );
}
