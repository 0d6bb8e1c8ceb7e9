import { and, eq } from "drizzle-orm";
import { type ErrorCode, type FieldIssue, SnapshotJobAccepted, SnapshotJobRequest } from "../../../contract/index.ts";
import { databaseOf } from "../../../service/db/databases.ts";
import { PG_UNIQUE_VIOLATION, pgErrorCode } from "../../../service/db/errors.ts";
import { runs } from "../../../service/db/schema.ts";
import { ApiError, invalidBody } from "../../../lib/errors.ts";
import type { Principal } from "../../../service/gate/types.ts";
import { lastOptions } from "../../../service/runs/options.ts";
import type { RunSpec } from "../../../service/db/run-spec.ts";
import { settleOrphanedRuns, type RunRequest } from "../../../service/runs/start.ts";
import type { ApiContext } from "../context.ts";
import { route } from "../route.ts";
import { checkSource, requireWorkspace, runDeps, startCallersRun, stored } from "../runs.ts";

const CODE_OF_FIELD: Record<string, ErrorCode> = {
  tenantId: "BAD_TENANT_ID",
  workspaceId: "BAD_WORKSPACE_ID",
  gitSha: "BAD_GIT_SHA",
  source: "BAD_SOURCE",
};

/** Builds and publishes a snapshot in the background, for CI. */
export const startSnapshotJob = route({
  id: "startSnapshotJob",
  method: "POST",
  path: "/snapshot",
  tag: "Snapshots",
  summary: "Build and publish a snapshot of a commit",
  description: "The job runs in the background, one at a time; poll `GET /index-snapshot` for its result.",
  credential: "worker_token",
  surface: "snapshot",
  body: {
    schema: SnapshotJobRequest,
    example: {
      tenantId: "1b4e28ba-2fa1-41d2-883f-0016d3cca427",
      workspaceId: "7d9f2c1e-3b4a-4c5d-8e6f-0a1b2c3d4e5f",
      gitSha: "a".repeat(40),
      source: { type: "git", url: "https://github.com/owner/name.git", ref: "main" },
    },
    toError: badField,
  },
  responses: { 202: { description: "The job has been accepted.", schema: SnapshotJobAccepted } },
  bodyErrors: ["BAD_TENANT_ID", "BAD_WORKSPACE_ID", "BAD_GIT_SHA", "BAD_SOURCE", "BAD_BODY"],
  errors: [
    "FORBIDDEN_WORKSPACE",
    "WORKSPACE_NOT_FOUND",
    "SHARED_INDEX_DISABLED",
    "SNAPSHOT_IN_PROGRESS",
    "NOT_CONFIGURED",
    "STORAGE_UNAVAILABLE",
  ],
  handle: async (c, { principal, body: { tenantId, workspaceId, gitSha, source } }) => {
    checkSource(c, source, "BAD_SOURCE");
    if (!c.get("services").presigner) {
      throw new ApiError("NOT_CONFIGURED", "publishing is not configured on this worker");
    }
    if (tenantId !== principal.tenantId) {
      throw new ApiError("FORBIDDEN_WORKSPACE", "tenantId: this worker token belongs to another tenant");
    }
    await requireWorkspace(c, principal, workspaceId);
    if (!principal.sharedIndex) {
      const message = "the organisation has not opted in to shared indexes; turn it on in its settings";
      throw new ApiError("SHARED_INDEX_DISABLED", message);
    }
    const options = await stored(() => lastOptions(databaseOf(c.env, principal.tenantId), workspaceId));
    const job = { kind: "snapshot" as const, workspaceId, source: { ...source, ref: gitSha }, options };
    let spec = await tryStart(c, principal, job);
    if (!spec && (await failOrphanedJob(c, principal))) spec = await tryStart(c, principal, job);
    if (!spec) {
      throw new ApiError("SNAPSHOT_IN_PROGRESS", "a snapshot job is already running; wait for it to end", {
        headers: { "Retry-After": "10" },
      });
    }
    return c.json({ ok: true, accepted: true, runId: spec.runId } satisfies SnapshotJobAccepted, 202);
  },
});

/** Starts the job; undefined if the tenant already has one (enforced by a unique index). */
async function tryStart(
  c: ApiContext,
  principal: Principal,
  job: Omit<RunRequest, "tenantId" | "actor">,
): Promise<RunSpec | undefined> {
  try {
    return await startCallersRun(c, principal, job);
  } catch (error) {
    if (error instanceof ApiError && pgErrorCode(error.cause) === PG_UNIQUE_VIOLATION) return undefined;
    throw error;
  }
}

/** Fails a job that was recorded but never started and so blocks the tenant's publishing. Returns whether there was one. */
async function failOrphanedJob(c: ApiContext, principal: Principal): Promise<boolean> {
  const job = and(eq(runs.tenantId, principal.tenantId), eq(runs.kind, "snapshot"));
  return (await stored(() => settleOrphanedRuns(runDeps(c, principal), c.get("services").now(), job))).failed > 0;
}

/** The error code of the first rejected field; `BAD_BODY` if the body is not an object. */
function badField(issues: FieldIssue[]): ApiError {
  const field = issues[0]?.path.split(".")[0] ?? "";
  return invalidBody(issues, CODE_OF_FIELD[field] ?? "BAD_BODY");
}
