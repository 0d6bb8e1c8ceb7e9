import { eq } from "drizzle-orm";
import { Hono } from "hono";
import { ERROR_STATUS, type ErrorCode, IndexRequest, type RunStatus, type Source } from "../../contract/index.ts";
import { runs } from "../../db/schema.ts";
import { ApiError, invalidBody } from "../../errors.ts";
import { count } from "../../gate/client.ts";
import type { Principal } from "../../gate/types.ts";
import { checkRemoteUrl, GitError } from "../../git/index.ts";
import { coordinatorOf } from "../../indexing/coordinator.ts";
import type { RunSpec, SealedSource } from "../../indexing/run-state.ts";
import { seal } from "../../indexing/seal.ts";
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
  const run = await findRun(c, principal, c.req.param("runId"));
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
  return c.json((await coordinator.status(run.id)) ?? storedStatus(run), 200, { "Cache-Control": "no-store" });
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

export interface RunRequest {
  kind: RunSpec["kind"];
  workspaceId: string;
  source: Source;
  options: RunSpec["options"];
}

/** Records a run and hands it to its workspace's coordinator. The source's token is sealed before it goes anywhere. */
export async function startRun(c: ApiContext, principal: Principal, request: RunRequest): Promise<RunSpec> {
  const runId = crypto.randomUUID();
  const { auth, ...open } = request.source;
  const source: SealedSource = {
    url: open.url,
    ...(open.ref === undefined ? {} : { ref: open.ref }),
    ...(auth === undefined
      ? {}
      : {
          auth: {
            sealed: await seal(c.env.ENCRYPTION_KEY, runId, auth.token),
            ...(auth.username === undefined ? {} : { username: auth.username }),
          },
        }),
  };
  const spec: RunSpec = {
    runId,
    tenantId: principal.tenantId,
    workspaceId: request.workspaceId,
    kind: request.kind,
    source,
    options: request.options,
    actor: principal.credentialId,
  };
  await stored(() =>
    c
      .get("services")
      .db.insert(runs)
      .values({
        id: runId,
        tenantId: principal.tenantId,
        workspaceId: request.workspaceId,
        kind: request.kind,
        state: "queued",
        request: { url: open.url, ref: open.ref ?? null, options: request.options },
      }),
  );
  try {
    await coordinatorOf(c.env.WORKSPACE_RUNS, request.workspaceId).submit(spec);
  } catch (error) {
    // Nobody would ever end a run that its coordinator does not know of.
    await stored(() =>
      c.get("services").db.update(runs).set({ state: "failed", finishedAt: new Date() }).where(eq(runs.id, runId)),
    );
    throw error;
  }
  await count(c.env.TENANT_GATE, principal.tenantId, `run:${runId}`, request.kind);
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
      if (status.state === "succeeded" || status.state === "failed") return status;
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

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

async function findRun(c: ApiContext, principal: Principal, runId: string): Promise<typeof runs.$inferSelect> {
  const rows = UUID.test(runId)
    ? await stored(() => c.get("services").db.select().from(runs).where(eq(runs.id, runId.toLowerCase())))
    : [];
  const run = rows[0];
  if (!run || run.tenantId !== principal.tenantId) throw new ApiError("RUN_NOT_FOUND", "there is no such run");
  return run;
}

/** The status of a run that its coordinator has forgotten. */
function storedStatus(run: typeof runs.$inferSelect): RunStatus {
  const result = run.result as RunStatus["result"] | null;
  const error = run.error as RunStatus["error"] | null;
  const files = typeof result?.["fileCount"] === "number" ? result["fileCount"] : 0;
  return {
    ok: true,
    runId: run.id,
    state: run.state,
    progress: { filesDone: files, filesTotal: files, phase: run.finishedAt ? "done" : "queued" },
    ...(result ? { result } : {}),
    ...(error ? { error } : {}),
  };
}

/** `Prefer: respond-async`, alone or among other preferences (RFC 7240). */
function prefersAsync(c: ApiContext): boolean {
  return (c.req.header("Prefer") ?? "")
    .split(",")
    .some((preference) => preference.trim().toLowerCase() === "respond-async");
}
