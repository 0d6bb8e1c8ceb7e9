/** A team's first page: what failed, what runs, the quota, and what the person still has to set up. */
import { Hono } from "hono";
import { listPressing, type RepositoryRow } from "../../../service/dashboard/repositories.ts";
import { type FirstSteps, readFirstSteps } from "../../../service/dashboard/tenant.ts";
import type { Quota } from "../../../service/dashboard/usage.ts";
import { canManage } from "../../../service/users/index.ts";
import { type DashboardContext, type DashboardHono, sessionOf, tenantPath } from "../app/context.ts";
import { MAX_QUERY_CHARACTERS } from "./search.tsx";
import { formatCount } from "../views/format.ts";
import { Icon } from "../views/icons.tsx";
import { tenantPage } from "../views/layout.tsx";
import { Field, Form, Head, Panel, Time } from "../views/parts.tsx";
import { nextMonth } from "../views/quota.tsx";
import { nameOf } from "../views/repositories.tsx";
import { RunTag } from "../views/state.tsx";
import { Table } from "../views/table.tsx";

export const overviewPages = new Hono<DashboardHono>();

/** Repositories that are shown of each kind; the list has the others. */
const SHOWN = 5;
const REFRESH_SEC = 3;

overviewPages.get("/", async (c) => {
  const { tenantId, role } = c.get("membership");
  const manages = canManage(role);
  const db = c.get("db");
  const [steps, { counts, failed, indexing }, quota] = await Promise.all([
    readFirstSteps(db, { tenantId, userId: sessionOf(c).user.id, manages }),
    listPressing(db, tenantId, SHOWN),
    c.get("quota"),
  ]);
  const isSetUp = steps.hasKey && steps.lastCallAt !== null && steps.hasIndex && steps.hasSearched;
  const numberRunning = counts.indexing ?? 0;
  // What failed comes first, but for a team that has only begun.
  const numberFailed = counts.failed ?? 0;
  const isFirst = !isSetUp && numberFailed === 0;
  const mine = <Steps c={c} steps={steps} manages={manages} />;
  return tenantPage(
    c,
    "",
    { title: "Overview" },
    <>
      <Head title="Overview" text="What needs you, what runs now, and what is left of the month." />
      {steps.hasIndex && <SearchBox c={c} />}
      <div id="overview" {...(isSetUp && numberRunning === 0 ? {} : { "data-refresh": String(REFRESH_SEC) })}>
        {isFirst && mine}
        {Object.keys(counts).length > 0 && (
          <>
            <Failed c={c} rows={failed} total={numberFailed} manages={manages} />
            <Running c={c} rows={indexing} total={numberRunning} />
          </>
        )}
        {quota && <QuotaPanel c={c} quota={quota} />}
        {!isFirst && mine}
      </div>
    </>,
  );
});

/** The address of this page in earlier versions. */
overviewPages.get("/start", (c) => c.redirect(tenantPath(c), 301));

/** The search of all repositories, on the page that people come to first. */
function SearchBox({ c }: { c: DashboardContext }) {
  return (
    <form method="get" action={tenantPath(c, "search")} role="search" class="finder">
      <div class="row">
        <Field label="Search the code" name="q">
          <input
            id="field-q"
            name="q"
            type="search"
            maxlength={MAX_QUERY_CHARACTERS}
            placeholder="Words, identifiers, or a whole error message"
            aria-keyshortcuts="/"
            data-search
          />
        </Field>
        <button type="submit" class="primary">
          Search
        </button>
      </div>
    </form>
  );
}

interface RowsProps {
  c: DashboardContext;
  rows: RepositoryRow[];
  /** How many there are beside those in `rows`. */
  total: number;
}

function Failed({ c, rows, total, manages }: RowsProps & { manages: boolean }) {
  const base = `/app/api/tenants/${c.get("membership").slug}/repositories`;
  return (
    <Panel
      title={`Failed (${formatCount(total)})`}
      text={total === 0 ? "The last run of no repository has failed." : undefined}
      aside={total > SHOWN && <a href={`${tenantPath(c, "repositories")}?state=failed`}>Show all</a>}
    >
      {total > 0 && (
        <ul class="mends">
          {rows.map((row) => (
            <li>
              <div>
                <strong>
                  <RepositoryLink c={c} row={row} />
                </strong>
                <div class="small">
                  {row.lastRun && (
                    <a href={tenantPath(c, `runs/${row.lastRun.runId}`)}>
                      {row.lastRun.error ?? "The run ended without a reason."}
                    </a>
                  )}{" "}
                  <span class="soft">
                    <Time at={row.lastRun?.finishedAt ?? null} />
                  </span>
                </div>
              </div>
              {manages &&
                (row.source === null ? (
                  <a class="button" href={tenantPath(c, `repositories/${row.workspaceId}`)}>
                    Set up its source<span class="sr"> of {nameOf(row)}</span>
                  </a>
                ) : (
                  <Form action={`${base}/${row.workspaceId}/index`} inline>
                    <button type="submit">
                      Index again<span class="sr"> {nameOf(row)}</span>
                    </button>
                  </Form>
                ))}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

function Running({ c, rows, total }: RowsProps) {
  return (
    <Panel
      title={`Running (${formatCount(total)})`}
      text={total === 0 ? "No repository is being indexed." : undefined}
      aside={total > SHOWN && <a href={`${tenantPath(c, "repositories")}?state=indexing`}>Show all</a>}
    >
      {total > 0 && (
        <Table label="Repositories that are being indexed" headings={["Repository", "State", "Started"]}>
          {rows.map((row) => (
            <tr>
              <th scope="row">
                <RepositoryLink c={c} row={row} />
              </th>
              <td>
                {row.lastRun && (
                  <a href={tenantPath(c, `runs/${row.lastRun.runId}`)}>
                    <RunTag state={row.lastRun.state} />
                    <span class="sr"> run of {nameOf(row)}</span>
                  </a>
                )}
              </td>
              <td>
                <Time at={row.lastRun?.createdAt ?? null} />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Panel>
  );
}

function RepositoryLink({ c, row }: { c: DashboardContext; row: RepositoryRow }) {
  return (
    <a class="clip" href={tenantPath(c, `repositories/${row.workspaceId}`)} title={nameOf(row)}>
      {nameOf(row)}
    </a>
  );
}

function QuotaPanel({ c, quota: { credits, limit } }: { c: DashboardContext; quota: Quota }) {
  return (
    <Panel title="Quota" aside={<a href={tenantPath(c, "usage")}>Usage by day and key</a>}>
      <div class="body">
        <progress max={Math.max(1, limit)} value={Math.min(credits, limit)} aria-label="Used part of the quota" />
        <p class="soft">
          {formatCount(credits)} of {formatCount(limit)} credits are used. They are renewed on {nextMonth(Date.now())}{" "}
          (UTC).
        </p>
      </div>
    </Panel>
  );
}

function Steps({ c, steps, manages }: { c: DashboardContext; steps: FirstSteps; manages: boolean }) {
  return (
    <Panel title="Your key and your agent">
      <ol class="steps">
        <Step done={steps.hasKey} number={1} title="Make an API key">
          <p class="soft">Agents and the command line send it with every request. An agent that signs in needs none.</p>
          <a class={steps.hasKey ? "button" : "button primary"} href={tenantPath(c, "keys")}>
            {steps.hasKey ? "See the keys" : "Make a key"}
          </a>
        </Step>
        <Step done={steps.lastCallAt !== null} number={2} title="Connect an agent">
          <p class="soft">
            {steps.lastCallAt === null ? (
              "The step is done some seconds after its first call has arrived."
            ) : (
              <>
                {steps.lastCallBy} has called, last <Time at={steps.lastCallAt} />.
              </>
            )}
          </p>
          <a class="button" href={tenantPath(c, "connect")}>
            {steps.lastCallAt === null ? "See how" : "Connect another"}
          </a>
        </Step>
        <Step done={steps.hasIndex} number={3} title="Connect a repository">
          {!steps.hasIndex && <RepositoryStep c={c} isConnected={steps.hasRepository} manages={manages} />}
        </Step>
        <Step done={steps.hasSearched} number={4} title="Search">
          {!steps.hasSearched && (
            <p class="soft">
              {steps.hasIndex ? "Here, or from an agent." : "Possible as soon as a repository is indexed."}
            </p>
          )}
        </Step>
      </ol>
    </Panel>
  );
}

function RepositoryStep({ c, isConnected, manages }: { c: DashboardContext; isConnected: boolean; manages: boolean }) {
  if (isConnected)
    return (
      <>
        <p class="soft">It is connected; its first index run is not done yet.</p>
        <a class="button" href={tenantPath(c, "repositories")}>
          See its state
        </a>
      </>
    );
  if (!manages) return <p class="soft">An owner or admin of the team connects it.</p>;
  return (
    <>
      <p class="soft">Its first index run starts at once, and a hook can index every push.</p>
      <a class="button primary" href={tenantPath(c, "repositories/new")}>
        Connect a repository
      </a>
    </>
  );
}

function Step({ done, number, title, children }: { done: boolean; number: number; title: string; children?: unknown }) {
  return (
    <li class={done ? "done" : ""}>
      <span class="mark" aria-hidden="true">
        {done ? <Icon name="check" /> : number}
      </span>
      <div>
        <h3>
          {title}
          <span class="sr">{done ? " (done)" : " (to do)"}</span>
        </h3>
        {children}
      </div>
    </li>
  );
}
