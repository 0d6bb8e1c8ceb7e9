import { and, eq, inArray } from "drizzle-orm";
import { runs } from "../../service/db/schema.ts";
import type { StepContext } from "../../service/indexing/context.ts";
import { buildSnapshot } from "../../service/snapshots/build.ts";

/**
 * The last step of a snapshot run: builds the artifact of the indexed commit, publishes it, and records the outcome. Throws
 * `StalePlanError` when newer runs and the sweep have removed the revision since; the commit must be indexed again.
 */
export async function buildSnapshotRun(step: StepContext, bucket: R2Bucket): Promise<Record<string, unknown>> {
  const { run, db, search, parser, log, now } = step;
  const gitSha = run.source.ref;
  if (gitSha === undefined) throw new Error("a snapshot run requires a commit");
  const built = await buildSnapshot(
    { db, bucket, search, parser, log, now },
    {
      tenantId: run.tenantId,
      workspaceId: run.workspaceId,
      actor: run.actor,
      runId: run.runId,
      revision: { gitSha },
      onProgress: step.beat,
    },
  );
  const { gitSha: sha, storagePath, checksum, sizeBytes, fileCount, symbolCount } = built;
  const result = { ok: true, runId: run.runId, gitSha: sha, storagePath, checksum, sizeBytes, fileCount, symbolCount };
  await db
    .update(runs)
    .set({ state: "succeeded", result, error: null, finishedAt: new Date(now()) })
    .where(and(eq(runs.id, run.runId), inArray(runs.state, ["queued", "running"])));
  return result;
}
