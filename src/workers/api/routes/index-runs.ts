import { backoffMs } from "../../../lib/backoff.ts";
import {
  ERROR_STATUS,
  type ErrorCode,
  IndexRequest,
  MAX_LIST_VALUES,
  IndexResult,
  ListRunsQuery,
  RunAccepted,
  RunList,
  RunStatus,
} from "../../../contract/index.ts";
import { ApiError } from "../../../lib/errors.ts";
import { databaseOf } from "../../../service/db/databases.ts";
import type { Principal } from "../../../service/gate/types.ts";
import { coordinatorOf } from "../../../service/runs/coordinator.ts";
import type { RunSpec } from "../../../service/db/run-spec.ts";
import { cancelRun, findRun, listRuns, type RunRow, runStatus } from "../../../service/runs/runs.ts";
import { mayUseRepo } from "../../../service/tenancy/restrictions.ts";
import { findWorkspace } from "../../../service/tenancy/workspaces.ts";
import { pause } from "../../../lib/pause.ts";
import type { ApiContext } from "../context.ts";
import { route } from "../route.ts";
import { checkGlobs, checkSource, requireWorkspace, runDeps, startCallersRun, stored } from "../runs.ts";

const TAG = "Hosted indexing";

/** Indexes a workspace. Answers when the run is done, or at once with `Prefer: respond-async`. */
export const index = route({
  id: "index",
  method: "POST",
  path: "/index",
  tag: TAG,
  summary: "Index a Git workspace",
  description:
    "Answers when the run is done; with `Prefer: respond-async` at once. A client that disconnects does not cancel its run. Unchanged files are not embedded again.",
  credential: "worker_token",
  surface: "index",
  parameters: [
    {
      name: "Prefer",
      in: "header",
      description: "`respond-async`: answer 202 at once, and follow the run at `Location`.",
      schema: { type: "string", enum: ["respond-async"] },
    },
  ],
  body: {
    schema: IndexRequest,
    maxValues: MAX_LIST_VALUES,
    example: {
      workspaceId: "7d9f2c1e-3b4a-4c5d-8e6f-0a1b2c3d4e5f",
      source: { type: "git", url: "https://github.com/owner/name.git", ref: "main" },
    },
  },
  responses: {
    200: { description: "The run is done.", schema: IndexResult },
    202: {
      description: "The run has been accepted.",
      schema: RunAccepted,
      headers: { Location: "Where to follow the run." },
    },
  },
  errors: [
    "FORBIDDEN_WORKSPACE",
    "WORKSPACE_NOT_FOUND",
    "RUN_CANCELLED",
    "CLONE_FAILED",
    "EMBED_FAILED",
    "STORAGE_UNAVAILABLE",
  ],
  handle: async (c, { principal, body }) => {
    checkSource(c, body.source);
    checkGlobs(body.options);
    await requireWorkspace(c, principal, body.workspaceId);
    const spec = await startCallersRun(c, principal, { kind: "index", ...body });
    if (!prefersAsync(c)) return c.json(resultOf(await c.get("turn").outside(() => stored(() => waitFor(c, spec)))));
    c.header("Preference-Applied", "respond-async");
    c.header("Location", `${c.req.path.replace(/\/$/, "")}/${spec.runId}`);
    return c.json({ ok: true, accepted: true, runId: spec.runId } satisfies RunAccepted, 202);
  },
});

const RUN_ID = {
  name: "runId",
  in: "path",
  required: true,
  description: "From `POST /index` or `POST /snapshot`.",
  schema: { type: "string", format: "uuid" },
} as const;

/** Status of a run, as JSON or as an event stream. */
export const runStatusRoute = route({
  id: "runStatus",
  method: "GET",
  path: "/index/{runId}",
  tag: TAG,
  summary: "Follow a run",
  credential: "worker_token",
  surface: "index_status",
  parameters: [RUN_ID],
  responses: {
    200: {
      description: "The state of the run; as events, one for each change until it has ended.",
      schema: RunStatus,
      also: { "text/event-stream": { type: "string", description: "Each event's data is a `RunStatus`." } },
    },
  },
  errors: ["RUN_NOT_FOUND", "STORAGE_UNAVAILABLE"],
  handle: async (c, { principal }) => {
    const run = await requireRun(c, principal);
    if ((c.req.header("Accept") ?? "").includes("text/event-stream")) {
      const events = await stored(() => coordinatorOf(c.env.WORKSPACE_RUNS, run.workspaceId).events(run.id));
      const headers = { "Content-Type": "text/event-stream", "X-Accel-Buffering": "no" };
      if (events) return c.body(events, 200, headers);
    }
    return c.json(await stored(() => runStatus(runDeps(c, principal), run)));
  },
});

/** Runs of a workspace, newest first. */
export const listRunsRoute = route({
  id: "listRuns",
  method: "GET",
  path: "/index",
  tag: TAG,
  summary: "List a workspace's runs",
  description: "Newest first. Finished runs are kept for at least 90 days, or for 30 if the team says so.",
  credential: "worker_token",
  surface: "index_status",
  query: ListRunsQuery,
  queryError: "INVALID_SELECTOR",
  responses: { 200: { description: "The runs.", schema: RunList } },
  errors: ["INVALID_SELECTOR", "FORBIDDEN_WORKSPACE", "WORKSPACE_NOT_FOUND", "STORAGE_UNAVAILABLE"],
  handle: async (c, { principal, query: { workspaceId, limit } }) => {
    await requireWorkspace(c, principal, workspaceId);
    const runs = await stored(() => listRuns(runDeps(c, principal), workspaceId, limit));
    return c.json({ ok: true, runs } satisfies RunList);
  },
});

/** Cancels a run that has not ended. */
export const cancelRunRoute = route({
  id: "cancelRun",
  method: "DELETE",
  path: "/index/{runId}",
  tag: TAG,
  summary: "Cancel a run",
  description: "The current index does not change. A run that has ended is left as it is; the answer has its state.",
  credential: "worker_token",
  surface: "index_status",
  parameters: [RUN_ID],
  responses: { 200: { description: "The run after the cancellation.", schema: RunStatus } },
  errors: ["RUN_NOT_FOUND", "STORAGE_UNAVAILABLE"],
  handle: async (c, { principal }) => {
    const run = await requireRun(c, principal);
    return c.json((await stored(() => cancelRun(runDeps(c, principal), run))) satisfies RunStatus);
  },
});

/** Whether the caller's credential reaches a workspace of its tenant. */
async function mayUseWorkspace(c: ApiContext, principal: Principal, workspaceId: string): Promise<boolean> {
  if (principal.repos === undefined) return true;
  const workspace = await stored(() => findWorkspace(databaseOf(c.env, principal.tenantId), workspaceId));
  return workspace !== undefined && mayUseRepo(principal, workspace.repo);
}

async function requireRun(c: ApiContext, principal: Principal): Promise<RunRow> {
  const runId = c.req.param("runId") ?? "";
  const run = await stored(() => findRun(databaseOf(c.env, principal.tenantId), principal.tenantId, runId));
  if (!run || !(await mayUseWorkspace(c, principal, run.workspaceId)))
    throw new ApiError("RUN_NOT_FOUND", "there is no such run");
  return run;
}

/** Consecutive failed calls to the coordinator (as during a deployment) after which the wait ends. */
const MAX_WAIT_FAILURES = 5;
const WAIT_BACKOFF = { baseMs: 500, capMs: 4_000 };

/** Waits for the end of a run. The run continues if the client disconnects. */
async function waitFor(c: ApiContext, spec: RunSpec): Promise<RunStatus> {
  for (let failures = 0; ;) {
    try {
      const status = await coordinatorOf(c.env.WORKSPACE_RUNS, spec.workspaceId).wait(spec.runId);
      if (!status) throw new ApiError("INTERNAL", "the run is no longer known; start it again");
      if (status.state !== "queued" && status.state !== "running") return status;
      failures = 0;
    } catch (error) {
      if (error instanceof ApiError || ++failures > MAX_WAIT_FAILURES) throw error;
      await pause(backoffMs(failures, WAIT_BACKOFF));
    }
  }
}

/** Returns the result of an ended run or throws its error. */
function resultOf(status: RunStatus): Record<string, unknown> {
  if (status.result) return status.result;
  const { code, error, details } = status.error ?? { code: "INTERNAL", error: "the run ended without a result" };
  throw new ApiError(isErrorCode(code) ? code : "INTERNAL", error, details === undefined ? {} : { details });
}

const isErrorCode = (code: string): code is ErrorCode => code in ERROR_STATUS;

/** `Prefer: respond-async`, alone or among other preferences (RFC 7240). */
function prefersAsync(c: ApiContext): boolean {
  return (c.req.header("Prefer") ?? "")
    .split(",")
    .some((preference) => preference.trim().toLowerCase() === "respond-async");
}
