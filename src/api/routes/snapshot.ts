import { and, eq, inArray } from "drizzle-orm";
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
import { coordinatorOf } from "../../indexing/coordinator.ts";
import type { RunSpec } from "../../indexing/run-state.ts";
import type { ApiContext, ApiHono } from "../context.ts";
import { exchangeOf } from "../exchange.ts";
import { authorize } from "../middleware/authorize.ts";
import { readBody, unwrap } from "../middleware/body.ts";
import { checkSource, requireWorkspace, type RunRequest, startRun, stored } from "./index-runs.ts";

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
    (await tryStart(c, principal, job)) ?? ((await buryLost(c, principal)) && (await tryStart(c, principal, job)));
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
async function tryStart(c: ApiContext, principal: Principal, job: RunRequest): Promise<RunSpec | undefined> {
  try {
    return await startRun(c, principal, job);
  } catch (error) {
    if (error instanceof ApiError && pgErrorCode(error.cause) === PG_UNIQUE_VIOLATION) return undefined;
    throw error;
  }
}

/** A job this young may not have reached its coordinator yet. */
const LOST_AFTER_MS = 60_000;

/**
 * Ends a job that was recorded but never reached its coordinator, as when its isolate died in between: nobody else would, and
 * it would keep the tenant from publishing for ever. True when there was one.
 */
async function buryLost(c: ApiContext, principal: Principal): Promise<boolean> {
  const { db, now } = c.get("services");
  const open = and(
    eq(runs.tenantId, principal.tenantId),
    eq(runs.kind, "snapshot"),
    inArray(runs.state, ["queued", "running"]),
  );
  const job = (await stored(() => db.select().from(runs).where(open)))[0];
  if (!job || now() - job.createdAt.getTime() < LOST_AFTER_MS) return job === undefined;
  if (await coordinatorOf(c.env.WORKSPACE_RUNS, job.workspaceId).status(job.id)) return false;
  await stored(() =>
    db
      .update(runs)
      .set({ state: "failed", finishedAt: new Date(now()) })
      .where(eq(runs.id, job.id)),
  );
  return true;
}

/** The code of the first field that is wrong; `BAD_BODY` when the body is no object at all. */
function badField(issues: FieldIssue[]): ApiError {
  const field = issues[0]?.path.split(".")[0] ?? "";
  return invalidBody(issues, CODE_OF_FIELD[field] ?? "BAD_BODY");
}
