/** Queries for the dashboard's repositories: workspaces with the state of their index, snapshot, runs and hooks. */
import { type SQL, sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import type { AccessLost, HookProvider } from "../db/people-schema.ts";
import { arrayOf } from "../db/arrays.ts";
import { isUuid } from "../../lib/uuid.ts";
import { rowsOf } from "../db/rows.ts";

export const PAGE_ROWS = 50;

export interface RepositoryRow {
  workspaceId: string;
  repo: string | null;
  defaultBranch: string | null;
  createdAt: string;
  /** The revision that readers see; null before the first run. */
  index: { gitSha: string; fileCount: number; symbolCount: number; chunkCount: number; indexedAt: string } | null;
  snapshot: { gitSha: string; builtAt: string; sizeBytes: number } | null;
  lastRun: {
    runId: string;
    kind: string;
    state: RunState;
    createdAt: string;
    finishedAt: string | null;
    error: string | null;
  } | null;
  /** Source for runs started by a hook or from the dashboard; null until it is configured. */
  source: {
    cloneUrl: string;
    hasToken: boolean;
    tokenUsername: string | null;
    branches: string[];
    /** Name of the GitHub App that reads it. */
    app: string | null;
    accessLost: AccessLost | null;
  } | null;
  /** `isOfApp`: deliveries come over the webhook of the source's GitHub App. */
  hooks: { id: string; provider: HookProvider; createdAt: string; isOfApp: boolean }[];
}

export type RunState = "queued" | "running" | "succeeded" | "failed" | "cancelled";

const COLUMNS = sql`
  w.id as "workspaceId", w.repo, w.default_branch as "defaultBranch", w.created_at as "createdAt",
  case when r.seq is null then null else json_build_object('gitSha', r.git_sha, 'fileCount', r.file_count,
    'symbolCount', r.symbol_count, 'chunkCount', r.chunk_count, 'indexedAt', r.created_at) end as index,
  case when s.id is null then null else json_build_object('gitSha', s.git_sha, 'builtAt', s.committed_at,
    'sizeBytes', coalesce(s.size_bytes, 0)) end as snapshot,
  (select json_build_object('runId', id, 'kind', kind, 'state', state, 'createdAt', created_at, 'finishedAt', finished_at,
      'error', error ->> 'error')
    from runs where workspace_id = w.id order by created_at desc limit 1) as "lastRun",
  case when o.workspace_id is null then null else json_build_object('cloneUrl', o.clone_url,
    'hasToken', o.sealed_token is not null, 'tokenUsername', o.token_username, 'branches', o.branches,
    'app', (select name from github_apps where id = o.app_id), 'accessLost', o.access_lost) end as source,
  (select coalesce(json_agg(json_build_object('id', id, 'provider', provider, 'createdAt', created_at,
      'isOfApp', app_id is not null) order by provider), '[]')
    from hooks where workspace_id = w.id) as hooks`;
const JOINS = sql`
  left join revisions r on r.workspace_id = w.id and r.seq = w.current_seq
  left join snapshots s on s.id = w.current_snapshot_id
  left join repository_sources o on o.workspace_id = w.id`;

/** What a repository needs: `failed` is its last run's state, whether or not an earlier index can be searched. */
export const REPOSITORY_STATES = ["failed", "indexing", "empty", "indexed"] as const;
export type RepositoryState = (typeof REPOSITORY_STATES)[number];

/** Orders of the list; `state` is that of {@link REPOSITORY_STATES}, failures first. */
const ORDERS = {
  state: sql`array_position(${arrayOf(REPOSITORY_STATES, "text")}, state), name, id`,
  name: sql`name, id`,
  run: sql`ran_at desc nulls last, id`,
  newest: sql`created_at desc, id`,
} as const;
export type RepositoryOrder = keyof typeof ORDERS;
export const REPOSITORY_ORDERS = Object.keys(ORDERS) as RepositoryOrder[];

export interface RepositoryFilter {
  /** Part of the name, in any case. */
  text?: string | undefined;
  state?: RepositoryState | undefined;
  order?: RepositoryOrder | undefined;
  /** Page number from 1: a cursor would skip rows, because states change between two pages. */
  page?: number | undefined;
}

export interface RepositoryPage {
  /** Number of repositories whose name has the text, by state. States without any are absent. */
  counts: Partial<Record<RepositoryState, number>>;
  repositories: RepositoryRow[];
}

/** Repositories that are listed; of a tenant with more, the newest. */
const MAX_LISTED = 10_000;

/** Table expression of a tenant's repositories with their states. Reads one run of each repository. */
const listed = (tenantId: string, text?: string): SQL => sql`
    listed as materialized (
      select w.id, w.name, w.created_at, l.created_at as ran_at,
        case when l.state in ('queued', 'running') then 'indexing' when l.state = 'failed' then 'failed'
          when w.current_seq is null then 'empty' else 'indexed' end as state
      from (
        select id, coalesce(repo, id::text) as name, created_at, current_seq from workspaces
        where tenant_id = ${tenantId}
          ${text === undefined ? sql`` : sql`and strpos(lower(coalesce(repo, id::text)), ${text.toLowerCase()}) > 0`}
        order by created_at desc, id desc limit ${MAX_LISTED}) w
      left join lateral (
        select state, created_at from runs where workspace_id = w.id order by created_at desc limit 1) l on true
    )`;

const COUNTS = sql`(select coalesce(json_object_agg(state, n), '{}') from (select state, count(*) as n from listed group by state) c) as counts`;

/** Query of a page of a tenant's repositories, with the counts by state. */
export function repositoriesQuery(tenantId: string, filter: RepositoryFilter, limit = PAGE_ROWS): SQL {
  const { text, state, order = "state", page = 1 } = filter;
  return sql`
    with ${listed(tenantId, text)}, page as (
      select id, row_number() over (order by ${ORDERS[order]}) as place from listed
      ${state === undefined ? sql`` : sql`where state = ${state}`}
      order by place limit ${limit} offset ${(page - 1) * limit}
    )
    select ${COUNTS},
      (select coalesce(json_agg(row_to_json(row) order by row.place), '[]') from (
        select page.place, ${COLUMNS} from page join workspaces w on w.id = page.id ${JOINS}) row) as repositories`;
}

/** See {@link repositoriesQuery}. */
export async function listRepositories(
  db: Db,
  tenantId: string,
  filter: RepositoryFilter = {},
): Promise<RepositoryPage> {
  const [page] = await rowsOf<RepositoryPage>(db, repositoriesQuery(tenantId, filter));
  return page ?? { counts: {}, repositories: [] };
}

/** Query of the repositories that failed last and of those that are being indexed, up to `limit` of each, with the counts by state. */
export const pressingQuery = (tenantId: string, limit: number): SQL => sql`
    with ${listed(tenantId)}, pressing as (
      select id, state, row_number() over (partition by state order by ran_at desc, id) as place from listed where state in ('failed', 'indexing')
    ), page as (select id, state, place from pressing where place <= ${limit})
    select ${COUNTS},
      (select coalesce(json_agg(row_to_json(row) order by row.state, row.place), '[]') from (
        select page.state, page.place, ${COLUMNS} from page join workspaces w on w.id = page.id ${JOINS}) row) as repositories`;

/** A tenant's repositories that need somebody, or will soon be done. See {@link pressingQuery}. */
export async function listPressing(
  db: Db,
  tenantId: string,
  limit: number,
): Promise<Pick<RepositoryPage, "counts"> & { failed: RepositoryRow[]; indexing: RepositoryRow[] }> {
  type Row = RepositoryRow & { state: RepositoryState };
  const [found] = await rowsOf<{ counts: RepositoryPage["counts"]; repositories: Row[] }>(
    db,
    pressingQuery(tenantId, limit),
  );
  const { counts, repositories } = found ?? { counts: {}, repositories: [] };
  const of = (wanted: RepositoryState) => repositories.filter(({ state }) => state === wanted);
  return { counts, failed: of("failed"), indexing: of("indexing") };
}

/** Finds a tenant's repository by its workspace id. */
export async function findRepository(
  db: Db,
  tenantId: string,
  workspaceId: string,
): Promise<RepositoryRow | undefined> {
  const rows = await rowsOf<RepositoryRow>(
    db,
    sql`select ${COLUMNS} from workspaces w ${JOINS} where w.tenant_id = ${tenantId} and w.id = ${workspaceId}`,
  );
  return rows[0];
}

/** Repositories that are offered by name. */
const MAX_NAMES = 1_000;

/** Names of the repositories that can be searched, in order; a workspace without a repository goes by its id. */
export const repositoryNamesQuery = (tenantId: string): SQL => sql`
  select coalesce(repo, id::text) as name from workspaces
  where tenant_id = ${tenantId} and current_seq is not null order by repo, id limit ${MAX_NAMES}`;

/** See {@link repositoryNamesQuery}. */
export async function listRepositoryNames(db: Db, tenantId: string): Promise<string[]> {
  return (await rowsOf<{ name: string }>(db, repositoryNamesQuery(tenantId))).map(({ name }) => name);
}

/** Workspaces that the names name, by repository or id. */
export const namedRepositoriesQuery = (tenantId: string, names: readonly string[]): SQL => sql`
  select id as "workspaceId", repo from workspaces
  where tenant_id = ${tenantId} and repo = any(${arrayOf(names, "text")})
  union all
  select id, repo from workspaces where tenant_id = ${tenantId} and id = any(${arrayOf(names.filter(isUuid), "uuid")})`;

/** The workspace that one of the names names, by the longest if several do. */
export async function findByLongestName(
  db: Db,
  tenantId: string,
  names: readonly string[],
): Promise<{ workspaceId: string; repo: string | null } | undefined> {
  const rows = await rowsOf<{ workspaceId: string; repo: string | null }>(db, namedRepositoriesQuery(tenantId, names));
  return rows.toSorted((a, b) => (b.repo?.length ?? 0) - (a.repo?.length ?? 0))[0];
}

/** A tenant's workspaces among the ids, with their names; ids of others are left out. */
export function namesOf(
  db: Db,
  tenantId: string,
  ids: readonly string[],
): Promise<{ workspaceId: string; repo: string | null }[]> {
  return rowsOf(
    db,
    sql`select id as "workspaceId", repo from workspaces where tenant_id = ${tenantId} and id = any(${arrayOf(ids, "uuid")}) order by repo, id`,
  );
}

/** A revision that is kept and can be read. */
export interface KeptRevision {
  seq: number;
  /** Revision from which it differs, if it is of another branch than the one that readers see; see `service/revisions/files.ts`. */
  baseSeq: number | null;
  gitSha: string;
  runId: string;
  indexedAt: string;
  isCurrent: boolean;
  /** Branches and tags of which it is the last revision, without `refs/heads/` and `refs/tags/`. */
  refs: string[];
}

/** The newest ones, and the last ones of refs, of which there are at most 64. */
const MAX_REVISIONS = 80;

/** Revisions of a workspace that are kept, newest first. The caller must check that the tenant owns the workspace. */
export function listKeptRevisions(db: Db, workspaceId: string): Promise<KeptRevision[]> {
  return rowsOf(
    db,
    sql`
      select r.seq, r.base_seq as "baseSeq", r.git_sha as "gitSha", r.run_id as "runId", r.created_at as "indexedAt",
        coalesce(r.seq = (select current_seq from workspaces where id = ${workspaceId}), false) as "isCurrent",
        (select coalesce(json_agg(regexp_replace(f.ref, '^refs/(heads|tags)/', '') order by f.ref), '[]') from revision_refs f
          where f.workspace_id = ${workspaceId} and f.seq = r.seq) as refs
      from revisions r where r.workspace_id = ${workspaceId} and r.seq > 0 order by r.seq desc limit ${MAX_REVISIONS}`,
  );
}

export interface RunRow {
  runId: string;
  workspaceId: string;
  kind: "index" | "snapshot";
  state: RunState;
  ref: string | null;
  createdAt: string;
  finishedAt: string | null;
  result: Record<string, unknown> | null;
  error: { code?: string; error?: string; details?: Record<string, unknown> } | null;
}

/** A figure of a run's result; undefined if it has none of this name. */
export function figureOf({ result }: Pick<RunRow, "result">, name: string): number | undefined {
  const value = result?.[name];
  return typeof value === "number" ? value : undefined;
}

/** The commit that a run has indexed; undefined before its result. */
export function gitShaOf({ result }: Pick<RunRow, "result">): string | undefined {
  const value = result?.["gitSha"];
  return typeof value === "string" ? value : undefined;
}

/** Query of a page of a workspace's runs, newest first; `before` is the last run of the previous page. */
export function runsQuery(workspaceId: string, before: string | undefined, limit = PAGE_ROWS): SQL {
  return sql`
    select id as "runId", workspace_id as "workspaceId", kind, state, request ->> 'ref' as ref, created_at as "createdAt", finished_at as "finishedAt",
      result, error
    from runs
    where workspace_id = ${workspaceId} ${
      before === undefined ? sql`` : sql`and (created_at, id) < (select created_at, id from runs where id = ${before})`
    }
    order by created_at desc, id desc limit ${limit}`;
}

/** See {@link runsQuery}. The caller must check that the tenant owns the workspace. */
export function listWorkspaceRuns(db: Db, workspaceId: string, before?: string, limit = 20): Promise<RunRow[]> {
  return rowsOf<RunRow>(db, runsQuery(workspaceId, before, limit));
}

export interface DeliveryRow {
  id: string;
  at: string;
  provider: HookProvider;
  event: string;
  branch: string | null;
  gitSha: string | null;
  outcome: string;
  /** Deliveries that the row stands for: 1, but for the rejected ones of a day, which share a row. */
  times: number;
  detail: string | null;
  runId: string | null;
}

/** Lists the latest deliveries of a workspace's hooks, newest first. */
export function listDeliveries(db: Db, workspaceId: string, limit = 20): Promise<DeliveryRow[]> {
  return rowsOf<DeliveryRow>(
    db,
    sql`
      select d.id, d.at, h.provider, d.event, d.branch, d.git_sha as "gitSha", d.outcome, d.times, d.detail, d.run_id as "runId"
      from hooks h
      cross join lateral (select * from hook_deliveries where hook_id = h.id order by at desc, id desc limit ${limit}) d
      where h.workspace_id = ${workspaceId}
      order by d.at desc, d.id desc limit ${limit}`,
  );
}
