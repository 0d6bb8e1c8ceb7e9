import { and, eq } from "drizzle-orm";
import { Hono } from "hono";
import * as z from "zod";
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
import type { Principal } from "../../gate/types.ts";
import type { RunSpec } from "../../indexing/run-state.ts";
import { failOrphanedRuns, type RunRequest } from "../../indexing/runs.ts";
import type { ApiContext, ApiHono } from "../context.ts";
import { exchangeOf } from "../exchange.ts";
import { authorize } from "../middleware/authorize.ts";
import { readBody, unwrap } from "../middleware/body.ts";
import { checkSource, requireWorkspace, runDeps, startRun, stored } from "./index-runs.ts";

/** The worker's CI publish route. */
export const snapshotJobs = new Hono<ApiHono>();

const CODE_OF_FIELD: Record<string, ErrorCode> = {
  tenantId: "BAD_TENANT_ID",
  workspaceId: "BAD_WORKSPACE_ID",
  gitSha: "BAD_GIT_SHA",
  source: "BAD_SOURCE",
};

snapshotJobs.post("/snapshot", async (c) => {
  const body = await readBody(c.req.raw, SnapshotJobRequest, { toError: badField });
  const { principal } = await authorize(exchangeOf(c), { credential: "worker_token", surface: "snapshot" });
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
  const job = {
    kind: "snapshot" as const,
    workspaceId,
    source: { ...source, ref: gitSha },
    options: await optionsOf(c, workspaceId),
  };
  const spec =
    (await tryStart(c, principal, job)) ??
    ((await failOrphanedJob(c, principal)) && (await tryStart(c, principal, job)));
  if (!spec) {
    throw new ApiError("SNAPSHOT_IN_PROGRESS", "a snapshot job is already running; wait for it to end", {
      headers: { "Retry-After": "10" },
    });
  }
  return c.json({ ok: true, accepted: true, runId: spec.runId }, 202);
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

/** Starts the job, or returns undefined when the tenant has one already: the database refuses a second. */
async function tryStart(
  c: ApiContext,
  principal: Principal,
  job: Omit<RunRequest, "tenantId" | "actor">,
): Promise<RunSpec | undefined> {
  try {
    return await startRun(c, principal, job);
  } catch (error) {
    if (error instanceof ApiError && pgErrorCode(error.cause) === PG_UNIQUE_VIOLATION) return undefined;
    throw error;
  }
}

/** Fails the tenant's job if it was recorded but never started, which would keep the tenant from publishing. True when it did. */
async function failOrphanedJob(c: ApiContext, principal: Principal): Promise<boolean> {
  const job = and(eq(runs.tenantId, principal.tenantId), eq(runs.kind, "snapshot"));
  return (await stored(() => failOrphanedRuns(runDeps(c), c.get("services").now(), job))) > 0;
}

/** The code of the first field that is wrong; `BAD_BODY` when the body is no object at all. */
function badField(issues: FieldIssue[]): ApiError {
  const field = issues[0]?.path.split(".")[0] ?? "";
  return invalidBody(issues, CODE_OF_FIELD[field] ?? "BAD_BODY");
}
