/** A tenant's runs: a filtered list over all repositories, and one run with the one before it. */
import { type SQL, sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { rowsOf } from "../db/rows.ts";
import type { RunHistory } from "../runs/history.ts";
import { PAGE_ROWS, type RunRow, type RunState } from "./repositories.ts";

/** What starts runs: a person in the dashboard, a push hook, or a key over the API. */
export const TRIGGERS = ["person", "hook", "key"] as const;
export type Trigger = (typeof TRIGGERS)[number];

export const RUN_STATES = ["queued", "running", "succeeded", "failed", "cancelled"] as const satisfies RunState[];

export interface RunFilter {
  workspaceId?: string | undefined;
  state?: RunState | undefined;
  trigger?: Trigger | undefined;
  /** First and last moment of the start, inclusive. */
  from?: Date | undefined;
  to?: Date | undefined;
  /** Run after which the page starts. */
  before?: string | undefined;
}

/** A run with its repository and its trigger. */
export interface TeamRun extends RunRow {
  repo: string | null;
  /** `user:<id>`, `hook:<id>` or a credential's id; null for runs of versions that did not record it. */
  actor: string | null;
  /** Name or address of the person, or name of the key. */
  actorName: string | null;
}

export interface RunPage {
  runs: TeamRun[];
  /** `before` of the next page; null on the last. A page may have fewer rows than its size and still not be the last. */
  next: string | null;
}

/** Runs that a page looks at: state and trigger have no index. */
const MAX_SCANNED = 5_000;

const RUN = sql`
  r.id as "runId", r.workspace_id as "workspaceId", r.kind, r.state, r.request ->> 'ref' as ref,
  r.created_at as "createdAt", r.finished_at as "finishedAt", r.result, r.error, r.request ->> 'actor' as actor, w.repo,
  coalesce(
    (select coalesce(name, email) from users where id = case
      when r.request ->> 'actor' ~ '^user:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then substr(r.request ->> 'actor', 6)::uuid end),
    (select name from credentials where id = r.request ->> 'actor')) as "actorName"`;

const TRIGGER_TESTS: Record<Trigger, SQL> = {
  person: sql`actor like 'user:%'`,
  hook: sql`actor like 'hook:%'`,
  key: sql`actor not like 'user:%' and actor not like 'hook:%'`,
};

/** Query of a page of a tenant's runs, newest first: one row with `runs` and `next`. */
function teamRunsQuery(tenantId: string, filter: RunFilter, limit = PAGE_ROWS): SQL {
  const scanned = [sql`tenant_id = ${tenantId}`];
  if (filter.workspaceId !== undefined) scanned.push(sql`workspace_id = ${filter.workspaceId}`);
  if (filter.from) scanned.push(sql`created_at >= ${filter.from.toISOString()}::timestamptz`);
  if (filter.to) scanned.push(sql`created_at <= ${filter.to.toISOString()}::timestamptz`);
  if (filter.before !== undefined)
    scanned.push(
      sql`(created_at, id) < (select created_at, id from runs where id = ${filter.before} and tenant_id = ${tenantId})`,
    );
  const shown = [sql`true`];
  if (filter.state !== undefined) shown.push(sql`state = ${filter.state}`);
  if (filter.trigger !== undefined) shown.push(TRIGGER_TESTS[filter.trigger]);
  // Without these filters the first rows are the page.
  const rows = shown.length === 1 ? limit : MAX_SCANNED;
  return sql`
    with scanned as materialized (
      select id, created_at, state, request ->> 'actor' as actor from runs where ${sql.join(scanned, sql` and `)}
      order by created_at desc, id desc limit ${rows}
    ), page as materialized (
      select id, created_at from scanned where ${sql.join(shown, sql` and `)} order by created_at desc, id desc limit ${limit}
    )
    select
      (select coalesce(json_agg(row_to_json(row) order by row."createdAt" desc, row."runId" desc), '[]') from (
        select ${RUN} from page p join runs r on r.id = p.id join workspaces w on w.id = r.workspace_id) row) as runs,
      case
        when (select count(*) from page) = ${limit} then (select id from page order by created_at, id limit 1)
        when (select count(*) from scanned) = ${rows} then (select id from scanned order by created_at, id limit 1)
      end as next`;
}

/** See {@link teamRunsQuery}. */
export async function listTeamRuns(db: Db, tenantId: string, filter: RunFilter = {}): Promise<RunPage> {
  const [page] = await rowsOf<RunPage>(db, teamRunsQuery(tenantId, filter));
  return page ?? { runs: [], next: null };
}

/** A tenant's run; undefined if there is none with this id. */
export async function findTeamRun(
  db: Db,
  tenantId: string,
  runId: string,
): Promise<(TeamRun & { history: RunHistory | null }) | undefined> {
  const rows = await rowsOf<TeamRun & { history: RunHistory | null }>(
    db,
    sql`select ${RUN}, r.history from runs r join workspaces w on w.id = r.workspace_id where r.id = ${runId} and r.tenant_id = ${tenantId}`,
  );
  return rows[0];
}

/** Earlier runs of a workspace in which the last successful one of the same kind and ref is looked for. */
const MAX_EARLIER = 200;

/** The last successful run of the same kind and ref before a run, among the {@link MAX_EARLIER} before it. */
export async function findRunBefore(db: Db, { workspaceId, runId, kind, ref }: RunRow): Promise<RunRow | undefined> {
  const rows = await rowsOf<RunRow>(
    db,
    sql`
      select id as "runId", workspace_id as "workspaceId", kind, state, request ->> 'ref' as ref, created_at as "createdAt",
        finished_at as "finishedAt", result, error
      from (
        select * from runs where workspace_id = ${workspaceId}
          and created_at < (select created_at from runs where id = ${runId}) order by created_at desc limit ${MAX_EARLIER}) r
      where state = 'succeeded' and kind = ${kind} and request ->> 'ref' is not distinct from ${ref}
      order by created_at desc limit 1`,
  );
  return rows[0];
}
