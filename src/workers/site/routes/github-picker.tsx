/** The repositories that an installation of a GitHub App can read: listed, searched, and several connected at once. */
import { Hono } from "hono";
import { appConnections, connectInstalled } from "../../../service/github/connect.ts";
import {
  type InstalledRepository,
  listRepositories,
  MAX_PICKED,
  pickRepositories,
  type RepositoryPage,
} from "../../../service/github/installations.ts";
import { done, invalid, readFields } from "../app/answers.tsx";
import { type DashboardContext, type DashboardHono, tenantPath } from "../app/context.ts";
import { DashboardError } from "../app/errors.ts";
import { actorOfSession } from "../app/fields.ts";
import { forEach } from "../app/for-each.ts";
import { requireManager } from "../app/guards.ts";
import { formatCount } from "../views/format.ts";
import { tenantPage } from "../views/layout.tsx";
import { Empty, Field, Form, Head } from "../views/parts.tsx";
import { Table } from "../views/table.tsx";
import { githubDeps, requireApp } from "./github.tsx";
import { startIndexing } from "./runs.tsx";

export const pickerPages = new Hono<DashboardHono>();
export const pickerApi = new Hono<DashboardHono>();

const MAX_TEXT = 200;
const MAX_PAGE = 1_000;

pickerPages.get("/github/:app/:installation", async (c) => {
  requireManager(c);
  const app = await requireApp(c);
  const installationId = requireInstallation(c);
  const text = (c.req.query("q") ?? "").trim().slice(0, MAX_TEXT);
  const page = Math.min(MAX_PAGE, Math.max(1, Math.trunc(Number(c.req.query("page") ?? "1")) || 1));
  const found = await listRepositories(githubDeps(c), app, { installationId, page, text });
  const ids = found.repositories.map(({ id }) => id);
  const connected = await appConnections(c.get("db"), { appId: app.id, installationId, ids });
  return tenantPage(
    c,
    "repositories",
    { title: "Choose repositories" },
    <>
      <Head
        title="Choose repositories"
        crumb={<a href={tenantPath(c, "github")}>GitHub App</a>}
        text={`Those that ${app.name} can read: ${formatCount(found.total)}.`}
      />
      <form method="get" role="search" aria-label="Repositories of the App" class="finder">
        <div class="row">
          <Field label="Name" name="q" type="search" value={text} maxlength={MAX_TEXT} />
          <button type="submit">Find</button>
        </div>
      </form>
      <section class="panel">
        {found.repositories.length === 0 ? (
          <Empty title="No such repository">
            <p>
              {text === ""
                ? "Give the App repositories in the settings of its installation at GitHub."
                : "Only part of the name is needed."}
            </p>
          </Empty>
        ) : (
          <Form action={`/app/api/tenants/${c.get("membership").slug}/github/${app.id}/${installationId}`}>
            <Choice c={c} repositories={found.repositories} connected={connected} />
            <div class="row foot">
              <button type="submit" class="primary">
                Connect and index the selected
              </button>
            </div>
          </Form>
        )}
        <Pages c={c} found={found} page={page} text={text} />
      </section>
    </>,
  );
});

interface ChoiceProps {
  c: DashboardContext;
  repositories: InstalledRepository[];
  /** Workspaces of those that the App reads already, by GitHub's id. */
  connected: ReadonlyMap<number, string>;
}

function Choice({ c, repositories, connected }: ChoiceProps) {
  return (
    <Table label="Repositories of the App" headings={[{ sr: "Select" }, "Repository", "Visibility", "State"]}>
      {repositories.map(({ id, name, isPrivate, isArchived }) => {
        const workspaceId = connected.get(id);
        return (
          <tr>
            <td class="pick">
              {workspaceId === undefined && (
                <input type="checkbox" name="ids" value={id} aria-label={`Select ${name}`} />
              )}
            </td>
            <th scope="row">
              {workspaceId === undefined ? (
                <span class="clip" title={name}>
                  {name}
                </span>
              ) : (
                <a class="clip" href={tenantPath(c, `repositories/${workspaceId}`)} title={name}>
                  {name}
                </a>
              )}
            </th>
            <td>{isPrivate ? "private" : "public"}</td>
            <td>
              {workspaceId === undefined ? (
                <span class="soft">{isArchived ? "archived" : "not connected"}</span>
              ) : (
                <span class="tag ok">connected</span>
              )}
            </td>
          </tr>
        );
      })}
    </Table>
  );
}

interface PagesProps {
  c: DashboardContext;
  found: RepositoryPage;
  page: number;
  text: string;
}

function Pages({ c, found, page, text }: PagesProps) {
  const isPart = found.searched < found.total;
  if (page === 1 && !found.hasNext && !isPart) return null;
  const link = (to: number) => `${c.req.path}?${new URLSearchParams({ q: text, page: String(to) }).toString()}`;
  return (
    <nav class="pager" aria-label="Pages">
      {page > 1 ? <a href={link(page - 1)}>Previous</a> : <span />}
      <span class="soft">
        {isPart && `Found among the first ${formatCount(found.searched)}. Connect others by their address. `}
        Page {page}
      </span>
      {found.hasNext ? <a href={link(page + 1)}>Next</a> : <span />}
    </nav>
  );
}

pickerApi.post("/github/:app/:installation", async (c) => {
  const app = await requireApp(c);
  const installationId = requireInstallation(c);
  const fields = await readFields(c);
  const ids = [...new Set(fields.lines("ids"))];
  if (ids.length === 0) throw invalid("ids", "select at least one repository");
  if (ids.length > MAX_PICKED || !ids.every((id) => /^\d{1,15}$/.test(id)))
    throw invalid("ids", `expected at most ${MAX_PICKED} ids of repositories`);
  const deps = githubDeps(c);
  const picked = await pickRepositories(deps, app, { installationId, ids: ids.map(Number) });
  const { tenantId } = c.get("membership");
  const connection = { tenantId, actor: actorOfSession(c), app, installationId };
  const outcome = await forEach(
    picked,
    ({ name }) => name,
    async (repository) => {
      const made = await connectInstalled(deps, { ...connection, repository });
      const { runId } = await startIndexing(c, made.workspaceId);
      return { ...made, runId };
    },
  );
  if (outcome.made.length === 0) throw new DashboardError("CONFLICT", outcome.reasons || "nothing was connected");
  return done(c, {
    to: tenantPath(c, "repositories?order=newest"),
    data: { repositories: outcome.made, failed: outcome.failed },
    status: 201,
    notice: `${outcome.made.length} of ${ids.length} connected.${outcome.reasons && ` Not connected: ${outcome.reasons}.`}`,
  });
});

function requireInstallation(c: DashboardContext): number {
  const id = c.req.param("installation") ?? "";
  if (!/^\d{1,15}$/.test(id)) throw new DashboardError("NOT_FOUND", "there is no such installation");
  return Number(id);
}
