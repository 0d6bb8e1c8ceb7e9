/** The list of a team's repositories: found, filtered, sorted. */
import { Hono } from "hono";
import {
  listRepositories,
  PAGE_ROWS,
  REPOSITORY_ORDERS,
  REPOSITORY_STATES,
  type RepositoryFilter,
  type RepositoryOrder,
  type RepositoryState,
} from "../../../service/dashboard/repositories.ts";
import { canManage } from "../../../service/users/index.ts";
import { invalid } from "../app/answers.tsx";
import { type DashboardContext, type DashboardHono, tenantPath } from "../app/context.ts";
import { formatCount } from "../views/format.ts";
import { tenantPage } from "../views/layout.tsx";
import { NumberPager } from "../views/pager.tsx";
import { Empty, Field, Form, Head, Select } from "../views/parts.tsx";
import { RepositoryTable } from "../views/repositories.tsx";
import { isActive } from "../views/state.tsx";

export const repositoryListPages = new Hono<DashboardHono>();
export const repositoryListApi = new Hono<DashboardHono>();

const MAX_TEXT = 200;
const MAX_PAGE = 1_000;

const STATE_NAMES: Record<RepositoryState, string> = {
  failed: "Failed",
  indexing: "Indexing",
  empty: "Not indexed",
  indexed: "Indexed",
};
const ORDER_NAMES: Record<RepositoryOrder, string> = {
  state: "Failures first",
  name: "Name",
  run: "Last run",
  newest: "Newest",
};

repositoryListPages.get("/repositories", async (c) => {
  const filter = readFilter(c);
  const { counts, repositories } = await listRepositories(c.get("db"), c.get("membership").tenantId, filter);
  const all = REPOSITORY_STATES.reduce((sum, state) => sum + (counts[state] ?? 0), 0);
  const manages = canManage(c.get("membership").role);
  const isNew = all === 0 && filter.text === undefined;
  const connect = (
    <a class="button primary" href={tenantPath(c, "repositories/new")}>
      Connect a repository
    </a>
  );
  const isBusy = repositories.some(({ lastRun }) => isActive(lastRun?.state));
  return tenantPage(
    c,
    "repositories",
    { title: "Repositories" },
    <>
      <Head title="Repositories" text="The code your agents can search. With a hook, every push is indexed.">
        {manages && !isNew && (
          <>
            <a class="button" href={tenantPath(c, "github")}>
              GitHub App
            </a>
            {connect}
          </>
        )}
      </Head>
      {!isNew && <Filters c={c} filter={filter} counts={counts} all={all} />}
      <section class="panel" id="repositories" {...(isBusy ? { "data-refresh": "2" } : {})}>
        {isNew ? (
          <Empty title="No repository yet">
            <p>
              Connect a Git repository by its address. A public one needs nothing else; a private one needs a read token
              {manages && (
                <>
                  , or a <a href={tenantPath(c, "github")}>GitHub App</a>
                </>
              )}
              .
            </p>
            {manages && connect}
          </Empty>
        ) : repositories.length === 0 ? (
          <Empty title="No such repository">
            <p>
              <a href={tenantPath(c, "repositories")}>Show all repositories</a>
            </p>
          </Empty>
        ) : manages ? (
          <Form action={`/app/api/tenants/${c.get("membership").slug}/repositories/index`}>
            <RepositoryTable c={c} rows={repositories} selects />
            <input type="hidden" name="shown" value={repositories.map((row) => row.workspaceId).join(" ")} />
            <div class="row foot">
              <button type="submit">Index the selected</button>
              <button type="submit" name="all" value="on">
                Index all {repositories.length} shown
              </button>
            </div>
          </Form>
        ) : (
          <RepositoryTable c={c} rows={repositories} selects={false} />
        )}
        <NumberPager
          page={filter.page ?? 1}
          rows={PAGE_ROWS}
          total={filter.state === undefined ? all : (counts[filter.state] ?? 0)}
          linkTo={(page) => linkTo(c, { ...filter, page })}
        />
      </section>
    </>,
  );
});

interface FiltersProps {
  c: DashboardContext;
  filter: RepositoryFilter;
  counts: Partial<Record<RepositoryState, number>>;
  all: number;
}

function Filters({ c, filter, counts, all }: FiltersProps) {
  const tab = (state: RepositoryState | undefined, label: string, count: number) => (
    <li>
      <a
        href={linkTo(c, { ...filter, state, page: 1 })}
        {...(filter.state === state ? { "aria-current": "page" } : {})}
      >
        {label} <span class="soft">{formatCount(count)}</span>
      </a>
    </li>
  );
  return (
    <>
      <form method="get" role="search" aria-label="Repositories">
        {filter.state !== undefined && <input type="hidden" name="state" value={filter.state} />}
        <div class="row">
          <Field label="Name" name="q" type="search" value={filter.text ?? ""} maxlength={MAX_TEXT} />
          <Select
            label="Order"
            name="order"
            value={filter.order ?? "state"}
            options={REPOSITORY_ORDERS.map((order) => [order, ORDER_NAMES[order]])}
          />
          <button type="submit">Show</button>
        </div>
      </form>
      <nav aria-label="States">
        <ul class="tabs">
          {tab(undefined, "All", all)}
          {REPOSITORY_STATES.map((state) => tab(state, STATE_NAMES[state], counts[state] ?? 0))}
        </ul>
      </nav>
    </>
  );
}

repositoryListApi.get("/repositories", async (c) => {
  const page = await listRepositories(c.get("db"), c.get("membership").tenantId, readFilter(c));
  return c.json({ ok: true, ...page });
});

function readFilter(c: DashboardContext): RepositoryFilter {
  const text = c.req.query("q")?.trim() || undefined;
  if (text !== undefined && (text.length > MAX_TEXT || text.includes("\0")))
    throw invalid("q", `expected at most ${MAX_TEXT} characters`);
  const page = Number(c.req.query("page") ?? 1);
  return {
    text,
    state: REPOSITORY_STATES.find((state) => state === c.req.query("state")),
    order: REPOSITORY_ORDERS.find((order) => order === c.req.query("order")),
    page: Number.isInteger(page) && page >= 1 && page <= MAX_PAGE ? page : 1,
  };
}

/** Address of the list with a filter. */
function linkTo(c: DashboardContext, { text, state, order, page = 1 }: RepositoryFilter): string {
  const search = new URLSearchParams({
    ...(text === undefined ? {} : { q: text }),
    ...(state === undefined ? {} : { state }),
    ...(order === undefined ? {} : { order }),
    ...(page === 1 ? {} : { page: String(page) }),
  });
  return `${tenantPath(c, "repositories")}${search.size === 0 ? "" : `?${search.toString()}`}`;
}
