import { Hono } from "hono";
import { ERROR_STATUS, type ErrorCode, IndexRequest, type RunStatus, type Source } from "../../contract/index.ts";
import { ApiError, invalidBody } from "../../errors.ts";
import { count } from "../../gate/client.ts";
import type { Principal } from "../../gate/types.ts";
import { checkRemoteUrl, GitError } from "../../git/index.ts";
import { coordinatorOf } from "../../indexing/coordinator.ts";
import type { RunSpec } from "../../indexing/run-state.ts";
import { findRun, type RunRequest, runStatus, startRun as startIndexRun } from "../../indexing/runs.ts";
import { findWorkspace } from "../../tenancy/index.ts";
import { pause } from "../../pause.ts";
import type { ApiContext, ApiHono } from "../context.ts";
import { exchangeOf } from "../exchange.ts";
import { authorize } from "../middleware/authorize.ts";
import { readBody, unwrap } from "../middleware/body.ts";

/** Hosted indexing: `POST /index` and the status of its runs. */
export const indexRuns = new Hono<ApiHono>();

indexRuns.post("/index", async (c) => {
  const body = await readBody(c.req.raw, IndexRequest);
  const { principal } = await authorize(exchangeOf(c), { credential: "worker_token", surface: "index" });
  const request = unwrap(body);
  checkSource(c, request.source);
  await requireWorkspace(c, principal, request.workspaceId);
  const spec = await startRun(c, principal, { kind: "index", ...request });
  if (prefersAsync(c)) {
    c.header("Preference-Applied", "respond-async");
    c.header("Location", c.req.path.replace(/\/$/, "") + `/${spec.runId}`);
    return c.json({ ok: true, accepted: true, runId: spec.runId }, 202);
  }
  return c.json(resultOf(await waitFor(c, spec)));
});

indexRuns.get("/index/:runId", async (c) => {
  const { principal } = await authorize(exchangeOf(c), { credential: "worker_token", surface: "index_status" });
  const run = await stored(() => findRun(c.get("services").db, principal.tenantId, c.req.param("runId")));
  if (!run) throw new ApiError("RUN_NOT_FOUND", "there is no such run");
  const coordinator = coordinatorOf(c.env.WORKSPACE_RUNS, run.workspaceId);
  if ((c.req.header("Accept") ?? "").includes("text/event-stream")) {
    const events = await coordinator.events(run.id);
    if (events) {
      return c.body(events, 200, {
        "Content-Type": "text/event-stream",
        "Cache-Control": "no-store",
        "X-Accel-Buffering": "no",
      });
    }
  }
  return c.json(await runStatus(runDeps(c), run), 200, { "Cache-Control": "no-store" });
});

/** Rejects a source whose URL the service will not contact. `code` is the route's code for a bad source. */
export function checkSource(c: ApiContext, source: Source, code: ErrorCode = "INVALID_BODY"): void {
  try {
    checkRemoteUrl(source.url, c.get("services").allowLocalGit);
  } catch (error) {
    if (error instanceof GitError) throw invalidBody([{ path: "source.url", message: error.message }], code);
    throw error;
  }
}

/** The workspace, if the caller may index into it. Throws 404, 403 or, when the database is away, 502. */
export async function requireWorkspace(c: ApiContext, principal: Principal, workspaceId: string): Promise<void> {
  const workspace = await stored(() => findWorkspace(c.get("services").db, workspaceId));
  if (!workspace) throw new ApiError("WORKSPACE_NOT_FOUND", "workspaceId: there is no such workspace; create it first");
  if (workspace.tenantId !== principal.tenantId) {
    throw new ApiError("FORBIDDEN_WORKSPACE", "workspaceId: this worker token does not own the workspace");
  }
}

/** Does a database call of the indexing routes: a failure is `STORAGE_UNAVAILABLE`, unless it is an answer already. */
export async function stored<T>(query: () => Promise<T>): Promise<T> {
  try {
    return await query();
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError("STORAGE_UNAVAILABLE", "the database cannot be reached; try again with a growing wait", {
      cause: error,
      headers: { "Retry-After": "5" },
    });
  }
}

/** What the run functions of `src/indexing` need. */
export const runDeps = (c: ApiContext) => ({ db: c.get("services").db, coordinators: c.env.WORKSPACE_RUNS });

/** Starts a run for the caller and counts the call. */
export async function startRun(
  c: ApiContext,
  principal: Principal,
  request: Omit<RunRequest, "tenantId" | "actor">,
): Promise<RunSpec> {
  const deps = { ...runDeps(c), encryptionKey: c.env.ENCRYPTION_KEY };
  const spec = await stored(() =>
    startIndexRun(deps, { ...request, tenantId: principal.tenantId, actor: principal.credentialId }),
  );
  await count(c.env.TENANT_GATE, principal.tenantId, `run:${spec.runId}`, request.kind);
  return spec;
}

/** RPCs to the coordinator that broke in a row, as they do when a new version is rolled out, before a wait is given up. */
const MAX_BROKEN_WAITS = 5;
const BROKEN_WAIT_MS = 500;

/** Waits for the end of a run. The run goes on when the client leaves. */
async function waitFor(c: ApiContext, spec: RunSpec): Promise<RunStatus> {
  for (let broken = 0; ;) {
    try {
      const status = await coordinatorOf(c.env.WORKSPACE_RUNS, spec.workspaceId).wait(spec.runId);
      if (!status) throw new ApiError("INTERNAL", "the run is not known any more; start it again");
      if (status.state !== "queued" && status.state !== "running") return status;
      broken = 0;
    } catch (error) {
      if (error instanceof ApiError || ++broken > MAX_BROKEN_WAITS) throw error;
      await pause(BROKEN_WAIT_MS * broken * (1 + Math.random() / 4));
    }
  }
}

/** The result of an ended run, or its error thrown. */
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
