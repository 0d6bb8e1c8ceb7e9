import { and, eq, sql } from "drizzle-orm";
import type { Db } from "../../src/service/db/client.ts";
import { rowsOf } from "../../src/service/db/rows.ts";
import { revisions } from "../../src/service/db/schema.ts";
import type { Revision } from "../../src/service/revisions/files.ts";
import { revisionOf } from "../../src/service/revisions/refs.ts";

/** The revision that a question with `ref` is answered from; undefined if there is none. */
export async function revisionAt(db: Db, workspaceId: string, ref?: string): Promise<Revision | undefined> {
  const [found] = await rowsOf<{ seq: number }>(
    db,
    sql`select r.seq from workspaces w cross join lateral (${revisionOf(ref)}) r where w.id = ${workspaceId}::uuid`,
  );
  if (!found) return undefined;
  const own = and(eq(revisions.workspaceId, workspaceId), eq(revisions.seq, found.seq));
  return (await db.select().from(revisions).where(own))[0];
}
