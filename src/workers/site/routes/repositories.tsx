/** Repositories: connect, one repository with its index, runs, hooks and settings. */
import { readGitHosts } from "../../../engines/git/wire/url.ts";
import { Hono } from "hono";
import { findByLongestName, listDeliveries, listWorkspaceRuns } from "../../../service/dashboard/repositories.ts";
import { changeSource, connectRepository, disconnectRepository } from "../../../service/sources/sources.ts";
import { cloneAddress } from "../../../service/sources/clone-address.ts";
import { readFlag } from "../../../lib/config.ts";
import { normalizeRepo } from "../../../lib/repo.ts";
import { TenancyError } from "../../../service/tenancy/errors.ts";
import { canManage } from "../../../service/users/index.ts";
import { codeUrl } from "../app/code.ts";
import { done, type Fields, readFields, wantsJson } from "../app/answers.tsx";
import { type DashboardContext, type DashboardHono, tenantPath } from "../app/context.ts";
import { actorOfSession } from "../app/fields.ts";
import { requireManager } from "../app/guards.ts";
import { newOnce } from "../app/once.ts";
import { tenantPage } from "../views/layout.tsx";
import { cursorOf, Pager } from "../views/pager.tsx";
import { Confirm, Form, Head, Panel } from "../views/parts.tsx";
import { requireRepository, startIndexing, withProgress } from "./runs.tsx";
import { nameOf, SourceFields, StatePanel } from "../views/repositories.tsx";
import { isActive } from "../views/state.tsx";
import { DeliveriesPanel, HooksPanel } from "../views/hooks.tsx";
import { RunsPanel } from "../views/runs.tsx";

export const repositoryPages = new Hono<DashboardHono>();
export const repositoryApi = new Hono<DashboardHono>();

const RUNS_SHOWN = 20;

repositoryPages.get("/repositories/new", (c) => {
  requireManager(c);
  return tenantPage(
    c,
    "repositories",
    { title: "Connect a repository" },
    <>
      <Head
        title="Connect a repository"
        crumb={<a href={tenantPath(c, "repositories")}>Repositories</a>}
        text={
          <>
            Its first index run starts at once. Afterwards a hook can index every push.{" "}
            <a href={tenantPath(c, "repositories/several")}>Connect several at once</a>, or choose those of a GitHub
            account with a <a href={tenantPath(c, "github")}>GitHub App</a>.
          </>
        }
      />
      <section class="panel">
        <div class="body">
          <Form action={`/app/api/tenants/${c.get("membership").slug}/repositories`}>
            <SourceFields />
            <button type="submit" class="primary">
              Connect and index
            </button>
          </Form>
        </div>
      </section>
    </>,
  );
});

repositoryPages.get("/repositories/:id", async (c) => {
  const repository = await requireRepository(c);
  const before = cursorOf(c, "before");
  const [runs, deliveries] = await Promise.all([
    withProgress(c, await listWorkspaceRuns(c.get("db"), repository.workspaceId, before, RUNS_SHOWN)),
    repository.hooks.length === 0 ? [] : listDeliveries(c.get("db"), repository.workspaceId),
  ]);
  const base = `/app/api/tenants/${c.get("membership").slug}/repositories/${repository.workspaceId}`;
  const manages = canManage(c.get("membership").role);
  const page = `repositories/${repository.workspaceId}`;
  return tenantPage(
    c,
    "repositories",
    { title: nameOf(repository) },
    <>
      <Head title={nameOf(repository)} crumb={<a href={tenantPath(c, "repositories")}>Repositories</a>}>
        {repository.index && (
          <>
            <a class="button" href={codeUrl(c, { ...repository, path: "" })}>
              Browse files
            </a>
            <a
              class="button"
              href={`${tenantPath(c, "search")}?${new URLSearchParams({ repo: repository.repo ?? repository.workspaceId }).toString()}`}
            >
              Search in it
            </a>
          </>
        )}
        {manages && repository.source && (
          <Form action={`${base}/index`} inline>
            <button type="submit" class="primary">
              Index now
            </button>
          </Form>
        )}
      </Head>
      <div id="index-state" data-refresh={isActive(repository.lastRun?.state) ? "2" : "5"}>
        <StatePanel c={c} repository={repository} />
      </div>
      <RunsPanel
        runs={runs}
        repo={repository.repo}
        runsPath={tenantPath(c, "runs")}
        cancelBase={manages ? `/app/api/tenants/${c.get("membership").slug}/runs` : undefined}
        pager={
          <Pager c={c} page={page} before={before} last={runs.length < RUNS_SHOWN ? undefined : runs.at(-1)?.runId} />
        }
      />
      <HooksPanel repository={repository} base={base} manages={manages} once={await newOnce(c)} />
      {repository.hooks.length > 0 && (
        <DeliveriesPanel deliveries={deliveries} repo={repository.repo} runsPath={tenantPath(c, "runs")} />
      )}
      {manages && (
        <>
          <Panel
            title="Source"
            text={
              repository.source?.app == null
                ? "Used by hooks and by Index now."
                : "Used by hooks and by Index now. A read token or another address takes the place of the GitHub App."
            }
          >
            <div class="body">
              <Form action={`${base}/source`}>
                <SourceFields repository={repository} />
                <button type="submit">Save</button>
              </Form>
            </div>
          </Panel>
          <Panel
            title="Disconnect"
            danger
            aside={
              <Confirm
                label="Disconnect …"
                title={`Disconnect ${nameOf(repository)}?`}
                action={`${base}/disconnect`}
                button="Disconnect for good"
                question={`The index, the snapshots, the hooks and the read token of ${nameOf(repository)} will be deleted. The repository itself is not touched.`}
              />
            }
          />
        </>
      )}
    </>,
  );
});

repositoryApi.post("/repositories", async (c) => {
  const fields = await readFields(c);
  const { tenantId } = c.get("membership");
  const actor = actorOfSession(c);
  const source = sourceInput(fields);
  const made = await connectRepository(depsOf(c), { tenantId, actor, ...source }).catch((error: unknown) => {
    if (wantsJson(c) || !(error instanceof TenancyError) || error.code !== "CONFLICT") throw error;
    return undefined;
  });
  // A form that is sent twice ends on the page of what it has made.
  if (!made) return showKnown(c, source.cloneUrl);
  const { runId } = await startIndexing(c, made.workspaceId);
  const to = tenantPath(c, `repositories/${made.workspaceId}`);
  return done(c, {
    to,
    data: { ...made, runId },
    status: 201,
    notice: `${made.repo} is connected.`,
  });
});

async function showKnown(c: DashboardContext, cloneUrl: string): Promise<Response> {
  const name = normalizeRepo(cloneUrl) ?? "";
  const known = await findByLongestName(c.get("db"), c.get("membership").tenantId, [name]);
  // It may have been disconnected meanwhile.
  const to = tenantPath(c, known ? `repositories/${known.workspaceId}` : "repositories");
  return done(c, { to, notice: `${name} is connected already. Nothing was changed.` });
}

repositoryApi.get("/repositories/:id", async (c) => c.json({ ok: true, repository: await requireRepository(c) }));

repositoryApi.get("/repositories/:id/runs", async (c) => {
  const { workspaceId } = await requireRepository(c);
  return c.json({
    ok: true,
    runs: await listWorkspaceRuns(c.get("db"), workspaceId, cursorOf(c, "before"), RUNS_SHOWN),
  });
});

repositoryApi.post("/repositories/:id/source", async (c) => {
  const { workspaceId } = await requireRepository(c);
  const fields = await readFields(c);
  const { tenantId } = c.get("membership");
  const change = { tenantId, workspaceId, actor: actorOfSession(c), ...sourceInput(fields) };
  const { tokenRemoved } = await changeSource(depsOf(c), change);
  return done(c, {
    to: tenantPath(c, `repositories/${workspaceId}`),
    notice: tokenRemoved
      ? "Saved. The read token is removed, because it was given for another host; enter one for the new address."
      : "Saved.",
    data: { tokenRemoved },
  });
});

repositoryApi.post("/repositories/:id/disconnect", async (c) => {
  const { workspaceId } = await requireRepository(c);
  const { tenantId } = c.get("membership");
  await disconnectRepository(c.get("db"), { tenantId, workspaceId, actor: actorOfSession(c) });
  return done(c, { to: tenantPath(c, "repositories"), notice: "The repository is disconnected." });
});

/** Dependencies of the functions that change a source. */
export function depsOf(c: DashboardContext) {
  return {
    db: c.get("db"),
    encryptionKey: c.env.ENCRYPTION_KEY,
    gitHosts: {
      allowLocal: readFlag("GIT_ALLOW_LOCAL", c.env.GIT_ALLOW_LOCAL),
      hosts: readGitHosts(c.env.GIT_HOSTS),
    },
  };
}

function sourceInput(fields: Fields) {
  const token = fields.flag("removeToken") ? "" : fields.text("token").trim() || undefined;
  return {
    cloneUrl: cloneAddress(fields.text("url")),
    ...(token === undefined ? {} : { token }),
    tokenUsername: fields.text("tokenUsername"),
    branches: fields.lines("branches"),
  };
}
