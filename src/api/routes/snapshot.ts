import { Hono } from "hono";
import { DEFAULT_MAX_FILE_SIZE_BYTES, type ErrorCode, type FieldIssue, SnapshotJobRequest } from "../../contract/index.ts";
import { PG_UNIQUE_VIOLATION, pgErrorCode } from "../../db/errors.ts";
import { ApiError, invalidBody } from "../../errors.ts";
import type { ApiHono } from "../context.ts";
import { authorize } from "../middleware/authorize.ts";
import { readBody, unwrap } from "../middleware/body.ts";
import { checkSource, requireWorkspace, startRun } from "./index-runs.ts";

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
  const { gitSha, workspaceId, source } = request;
  try {
    const { runId } = await startRun(c, principal, {
      kind: "snapshot",
      workspaceId,
      source: { ...source, ref: gitSha },
      options: { maxFileSizeBytes: DEFAULT_MAX_FILE_SIZE_BYTES },
    });
    return c.json({ ok: true, accepted: true, runId }, 202);
  } catch (error) {
    if (error instanceof ApiError && pgErrorCode(error.cause) === PG_UNIQUE_VIOLATION) {
      throw new ApiError("SNAPSHOT_IN_PROGRESS", "a snapshot job is already running; wait for it to end", { headers: { "Retry-After": "10" } });
    }
    throw error;
  }
});

/** The code of the first field that is wrong; `BAD_BODY` when the body is no object at all. */
function badField(issues: FieldIssue[]): ApiError {
  const field = issues[0]?.path.split(".")[0] ?? "";
  return invalidBody(issues, CODE_OF_FIELD[field] ?? "BAD_BODY");
}
