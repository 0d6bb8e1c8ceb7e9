import { and, eq } from "drizzle-orm";
import { Hono } from "hono";
import { z } from "zod";
import {
  DEFAULT_MAX_FILE_SIZE_BYTES,
  type ErrorCode,
  type FieldIssue,
  IndexOptions,
  SnapshotJobRequest,
} from "../../contract/index.ts";
import { PG_UNIQUE_VIOLATION, pgErrorCode } from "../../db/errors.ts";
import { revisions, runs, workspaces } from "../../db/schema.ts";
import { ApiError, invalidBody } from "../../errors.ts";
import type { ApiContext, ApiHono } from "../context.ts";
import { authorize } from "../middleware/authorize.ts";
import { readBody, unwrap } from "../middleware/body.ts";
import { checkSource, requireWorkspace, startRun, stored } from "./index-runs.ts";

/** The worker's CI publish route. */
export const snapshotJobs = new Hono<ApiHono>();

const CODE_OF_FIELD: Record<string, ErrorCode> = {
  tenantId: "BAD_TENANT_ID",
  workspaceId: "BAD_WORKSPACE_ID",
  gitSha: "BAD_GIT_SHA",
  source: "BAD_SOURCE",
};

snapshotJobs.post("/snapshot", async (c) => {
  const body = await readBody(c, SnapshotJobRequest, badField);
  const { principal } = await authorize(c, { credential: "worker_token", surface: "snapshot" });
  const request = unwrap(body);
  checkSource(c, request.source, "BAD_SOURCE");
  if (!c.get("services").presigner) throw new ApiError("NOT_CONFIGURED", "publishing is not configured on this worker");
  if (request.tenantId !== principal.tenantId) {
    throw new ApiError("FORBIDDEN_WORKSPACE", "tenantId: this worker token belongs to another tenant");
  }
  await requireWorkspace(c, principal, request.workspaceId);
  if (!principal.sharedIndex) {
    throw new ApiError(
      "SHARED_INDEX_DISABLED",
      "the organisation has not opted in to shared indexes; turn it on in its settings",
    );
  }
  const { gitSha, workspaceId, source } = request;
  try {
    const { runId } = await startRun(c, principal, {
      kind: "snapshot",
      workspaceId,
      source: { ...source, ref: gitSha },
      options: await optionsOf(c, workspaceId),
    });
    return c.json({ ok: true, accepted: true, runId }, 202);
  } catch (error) {
    if (error instanceof ApiError && pgErrorCode(error.cause) === PG_UNIQUE_VIOLATION) {
      throw new ApiError("SNAPSHOT_IN_PROGRESS", "a snapshot job is already running; wait for it to end", {
        headers: { "Retry-After": "10" },
      });
    }
    throw error;
  }
});

/** The options the workspace is indexed with, so that a snapshot job does not index it in another way. */
async function optionsOf(c: ApiContext, workspaceId: string): Promise<IndexOptions> {
  const rows = await stored(() =>
    c
      .get("services")
      .db.select({ request: runs.request })
      .from(workspaces)
      .innerJoin(revisions, and(eq(revisions.workspaceId, workspaces.id), eq(revisions.seq, workspaces.currentSeq)))
      .innerJoin(runs, eq(runs.id, revisions.runId))
      .where(eq(workspaces.id, workspaceId)),
  );
  const options = z.object({ options: IndexOptions }).safeParse(rows[0]?.request);
  return options.success ? options.data.options : { maxFileSizeBytes: DEFAULT_MAX_FILE_SIZE_BYTES };
}

/** The code of the first field that is wrong; `BAD_BODY` when the body is no object at all. */
function badField(issues: FieldIssue[]): ApiError {
  const field = issues[0]?.path.split(".")[0] ?? "";
  return invalidBody(issues, CODE_OF_FIELD[field] ?? "BAD_BODY");
}
