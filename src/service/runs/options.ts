import { eq, and } from "drizzle-orm";
import * as z from "zod";
import { DEFAULT_MAX_FILE_SIZE_BYTES, IndexOptions } from "../../contract/index.ts";
import type { Db } from "../db/client.ts";
import { revisions, runs, workspaces } from "../db/schema.ts";

/** The options of the workspace's last index run, so that a snapshot job indexes it the same way. */
export async function lastOptions(db: Db, workspaceId: string): Promise<IndexOptions> {
  const [row] = await db
    .select({ request: runs.request })
    .from(workspaces)
    .innerJoin(revisions, and(eq(revisions.workspaceId, workspaces.id), eq(revisions.seq, workspaces.currentSeq)))
    .innerJoin(runs, eq(runs.id, revisions.runId))
    .where(eq(workspaces.id, workspaceId));
  const options = z.object({ options: IndexOptions }).safeParse(row?.request);
  return options.success ? options.data.options : { maxFileSizeBytes: DEFAULT_MAX_FILE_SIZE_BYTES };
}
