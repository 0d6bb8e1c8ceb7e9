/** Runs: the list of a team, the page of one, start, progress, cancel. */
import { Hono } from "hono";
import { indexFromSource } from "../../../service/sources/index-source.ts";
import {
  findByLongestName,
  findRepository,
  gitShaOf,
  listRepositoryNames,
  type RepositoryRow,
  type RunRow,
} from "../../../service/dashboard/repositories.ts";
import {
  findRunBefore,
  findTeamRun,
  listTeamRuns,
  RUN_STATES,
  type RunFilter,
  type TeamRun,
  TRIGGERS,
} from "../../../service/dashboard/runs.ts";
import { filesByOutcome, PARSE_OUTCOMES } from "../../../service/dashboard/run-files.ts";
import { findRevision } from "../../../service/snapshots/revision.ts";
import { canManage } from "../../../service/users/index.ts";
import { count } from "../../../service/gate/client.ts";
import { coordinatorOf } from "../../../service/runs/coordinator.ts";
import { cancelRun, findRun, runStatus } from "../../../service/runs/runs.ts";
import type { RunSpec } from "../../../service/db/run-spec.ts";
import { done, invalid } from "../app/answers.tsx";
import { tryCode } from "../app/code.ts";
import { type DashboardContext, type DashboardHono, tenantPath } from "../app/context.ts";
import { DashboardError } from "../app/errors.ts";
import { isUuid, NIL_UUID } from "../../../lib/uuid.ts";
import { actorOfSession, readTime } from "../app/fields.ts";
import type { ShownRun } from "../views/runs.tsx";
import { formatCount } from "../views/format.ts";
import { Empty, Head } from "../views/parts.tsx";
import { cursorOf, Pager } from "../views/pager.tsx";
import { nameOf } from "../views/repositories.tsx";
import { FilesPanel, leftOut, type ListedPaths } from "../views/run-files.tsx";
import { PhasesPanel, RetriesPanel } from "../views/run-history.tsx";
import { ComparisonPanel, RunFacts } from "../views/run-page.tsx";
import { RunFilters, TeamRunsTable } from "../views/team-runs.tsx";
import { tenantPage } from "../views/layout.tsx";
import { isActive } from "../views/state.tsx";

export const runPages = new Hono<DashboardHono>();
export const runApi = new Hono<DashboardHono>();

/** Dependencies of the run functions in `src/service/runs`. */
function runDeps(c: DashboardContext) {
  return { db: c.get("db"), coordinators: c.env.WORKSPACE_RUNS, encryptionKey: c.env.ENCRYPTION_KEY };
}

/** Starts a run of the default branch, and counts it like a run started over the API. */
export async function startIndexing(c: DashboardContext, workspaceId: string): Promise<RunSpec> {
  const { tenantId } = c.get("membership");
  const run = await indexFromSource(runDeps(c), { tenantId, workspaceId, current: true, actor: actorOfSession(c) });
  await count(c.env.TENANT_GATE, tenantId, `run:${run.runId}`, "index");
  return run;
}

/** Adds the live progress of active runs. */
export async function withProgress(c: DashboardContext, runs: RunRow[]): Promise<ShownRun[]> {
  if (!runs.some(({ state }) => isActive(state))) return runs;
  const workspaceId = runs[0]?.workspaceId ?? "";
  const live = await coordinatorOf(c.env.WORKSPACE_RUNS, workspaceId).unfinished();
  const byId = new Map(live.map((status) => [status.runId, status]));
  return runs.map((run) => {
    const status = byId.get(run.runId);
    return status === undefined ? run : Object.assign(run, { state: status.state, progress: status.progress });
  });
}

/** Loads the path's repository. Throws 404 unless the tenant owns it. */
export async function requireRepository(c: DashboardContext): Promise<RepositoryRow> {
  const id = c.req.param("id") ?? "";
  const repository = isUuid(id) ? await findRepository(c.get("db"), c.get("membership").tenantId, id) : undefined;
  if (!repository) throw new DashboardError("NOT_FOUND", "there is no such repository");
  return repository;
}

/** Paths on a page of a run's files. */
const FILES_LISTED = 50;
const MAX_REASON = 64;
const MAX_CURSOR = 4_096;

runPages.get("/runs", async (c) => {
  const { tenantId } = c.get("membership");
  const [{ filter, repository }, names] = await Promise.all([
    readFilter(c),
    listRepositoryNames(c.get("db"), tenantId),
  ]);
  const { runs, next } = await listTeamRuns(c.get("db"), tenantId, filter);
  const isBusy = runs.some(({ state }) => isActive(state));
  return tenantPage(
    c,
    "runs",
    { title: "Runs" },
    <>
      <Head title="Runs" text="Every run of the team's repositories, newest first." />
      <RunFilters c={c} filter={filter} repository={repository} names={names} />
      <section class="panel" id="runs" {...(isBusy ? { "data-refresh": "2" } : {})}>
        {runs.length === 0 ? (
          <Empty title={next === null ? "No such run" : "None among the latest runs"}>
            <p>
              {next === null ? <a href={tenantPath(c, "runs")}>Show all runs</a> : "Older runs are on the next page."}
            </p>
          </Empty>
        ) : (
          <TeamRunsTable c={c} runs={runs} />
        )}
        <Pager c={c} page="runs" before={filter.before} last={next ?? undefined} />
      </section>
    </>,
  );
});

runPages.get("/runs/:id", async (c) => {
  const id = c.req.param("id");
  const { tenantId, slug, role } = c.get("membership");
  const run = isUuid(id) ? await findTeamRun(c.get("db"), tenantId, id) : undefined;
  if (!run) throw new DashboardError("NOT_FOUND", "there is no such run");
  const [[live], before, paths, history] = await Promise.all([
    withProgress(c, [run]),
    findRunBefore(c.get("db"), run),
    listPaths(c, run),
    // The row gets it some moments after the end.
    run.history ?? coordinatorOf(c.env.WORKSPACE_RUNS, run.workspaceId).history(run.runId),
  ]);
  const shown = live ?? run;
  const endMs = run.finishedAt === null ? Date.now() : Date.parse(run.finishedAt);
  return tenantPage(
    c,
    "runs",
    { title: `Run of ${nameOf(run)}` },
    <>
      <Head title={nameOf(run)} crumb={<a href={tenantPath(c, "runs")}>Runs</a>} />
      <div id="run" {...(isActive(shown.state) ? { "data-refresh": "1" } : {})}>
        <RunFacts
          c={c}
          run={Object.assign({}, run, shown)}
          cancelAction={canManage(role) ? `/app/api/tenants/${slug}/runs/${run.runId}/cancel` : undefined}
          retryAction={canManage(role) ? `/app/api/tenants/${slug}/repositories/${run.workspaceId}/index` : undefined}
        />
        {history && <PhasesPanel history={history} createdAt={run.createdAt} endMs={endMs} />}
        {history && <RetriesPanel history={history} />}
        {run.state === "succeeded" && <FilesPanel c={c} run={run} paths={paths} />}
        {before && run.state === "succeeded" && <ComparisonPanel c={c} run={run} before={before} />}
      </div>
    </>,
  );
});

/** Paths of the run's files that the query chooses; undefined unless its commit is indexed. */
async function listPaths(c: DashboardContext, run: TeamRun): Promise<ListedPaths | undefined> {
  const after = c.req.query("after");
  if (after !== undefined && (after.length > MAX_CURSOR || !after.isWellFormed() || after.includes("\0")))
    throw invalid("after", `expected a path of at most ${MAX_CURSOR} characters`);
  const gitSha = gitShaOf(run);
  if (run.kind !== "index" || run.state !== "succeeded" || gitSha === undefined) return undefined;
  const { workspaceId } = run;
  const chosen = c.req.query("files")?.slice(0, MAX_REASON);
  const isFirst = after === undefined;
  const outcome = PARSE_OUTCOMES.find((each) => each === chosen);
  if (outcome !== undefined) {
    const revision = await findRevision(
      c.get("db"),
      { tenantId: c.get("membership").tenantId, workspaceId },
      { gitSha },
    );
    if (revision === undefined) return undefined;
    const page = await filesByOutcome(c.get("db"), revision, outcome, { after, limit: FILES_LISTED });
    const files = page.files.map(({ path, language, redacted }) => ({
      path,
      detail: outcome === "redacted" ? `${formatCount(redacted)} withheld` : language,
      isReadable: true,
    }));
    return { chosen, files, next: page.next ?? undefined, isFirst };
  }
  const coverage = await tryCode(c, "coverage", {
    workspaceId,
    ref: gitSha,
    limit: String(FILES_LISTED),
    ...(chosen !== undefined && { reason: chosen }),
    ...(after !== undefined && { cursor: after }),
  });
  if (!("ok" in coverage)) return undefined;
  return { chosen, files: coverage.paths.map(leftOut), next: coverage.next, isFirst };
}

const MAX_REPOSITORY = 2_000;

/** The filter of the address; `repository` is the name, or the id, of the one that it names. */
async function readFilter(c: DashboardContext): Promise<{ filter: RunFilter; repository: string }> {
  const asked = (c.req.query("repository") ?? "").trim();
  if (asked.length > MAX_REPOSITORY || !asked.isWellFormed() || asked.includes("\0"))
    throw invalid("repository", `expected at most ${MAX_REPOSITORY} characters of text`);
  const found = asked === "" ? undefined : await findByLongestName(c.get("db"), c.get("membership").tenantId, [asked]);
  const filter = {
    workspaceId: asked === "" ? undefined : (found?.workspaceId ?? NIL_UUID),
    state: RUN_STATES.find((state) => state === c.req.query("state")),
    trigger: TRIGGERS.find((trigger) => trigger === c.req.query("trigger")),
    from: readTime(c, "from"),
    to: readTime(c, "to"),
    before: cursorOf(c, "before"),
  };
  return { filter, repository: found?.repo ?? asked };
}

runApi.get("/runs", async (c) => {
  const page = await listTeamRuns(c.get("db"), c.get("membership").tenantId, (await readFilter(c)).filter);
  return c.json({ ok: true, ...page });
});

runApi.post("/repositories/:id/index", async (c) => {
  const { workspaceId } = await requireRepository(c);
  const { runId } = await startIndexing(c, workspaceId);
  const to = tenantPath(c, `repositories/${workspaceId}`);
  return done(c, { to, data: { runId }, status: 202, notice: "The run is started." });
});

runApi.get("/runs/:id", async (c) => {
  const run = await findRun(c.get("db"), c.get("membership").tenantId, c.req.param("id"));
  if (!run) throw new DashboardError("NOT_FOUND", "there is no such run");
  return c.json(await runStatus(runDeps(c), run));
});

runApi.post("/runs/:id/cancel", async (c) => {
  const run = await findRun(c.get("db"), c.get("membership").tenantId, c.req.param("id"));
  if (!run) throw new DashboardError("NOT_FOUND", "there is no such run");
  const { state } = await cancelRun(runDeps(c), run);
  const notice = state === "cancelled" ? "The run is cancelled." : "The run had already ended.";
  return done(c, { to: tenantPath(c, `repositories/${run.workspaceId}`), data: { state }, notice });
});
