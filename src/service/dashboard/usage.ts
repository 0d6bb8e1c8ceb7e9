/** A tenant's usage for the dashboard: figures of the month, and of its days by credential. */
import { and, eq, gte, sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { usageDays } from "../db/people-schema.ts";
import { usageMonths } from "../db/records-schema.ts";
import { credentials } from "../db/credentials-schema.ts";
import { tenants } from "../db/schema.ts";

const DAY_MS = 86_400_000;

export interface DayUsage {
  /** UTC day, `YYYY-MM-DD`. */
  day: string;
  credentialId: string;
  credits: number;
  tokens: number;
  calls: number;
}

interface MonthUsage {
  limit: number;
  credits: number;
  embedTokens: number;
  rerankTokens: number;
  indexTokens: number;
  calls: Record<string, number>;
}

/** The month's credits and their limit. */
export type Quota = Pick<MonthUsage, "limit" | "credits">;

/** Reads a tenant's quota from the gate's mirror, which is some seconds late. */
export async function readQuota(db: Db, tenantId: string, nowMs: number): Promise<Quota> {
  const period = new Date(nowMs).toISOString().slice(0, 7);
  const [row] = await db
    .select({ limit: tenants.monthlyCredits, credits: usageMonths.credits })
    .from(tenants)
    .leftJoin(usageMonths, and(eq(usageMonths.tenantId, tenants.id), eq(usageMonths.period, period)))
    .where(eq(tenants.id, tenantId));
  return { limit: row?.limit ?? 0, credits: row?.credits ?? 0 };
}

export interface UsageReport {
  month: MonthUsage;
  /** Starts at the first day of the month or 30 days ago, whichever is earlier. */
  days: DayUsage[];
  /** The credentials in `days`, by public id. */
  keys: Map<string, KeyOwner>;
  /** Runs of the last 30 days by repository, most chunks first. */
  repositories: RepositoryUsage[];
}

interface KeyOwner {
  name: string;
  /** Name and address of the member whose it is, two of whom may have one name; null for keys of the team. */
  owner: string | null;
}

export interface RepositoryUsage {
  workspaceId: string;
  repo: string | null;
  runs: number;
  failed: number;
  /** Chunks that the runs have embedded, and their time together. */
  chunks: number;
  seconds: number;
}

/** Runs that are summed up, the newest first, and repositories that are listed. */
const MAX_RUNS = 5_000;
const MAX_REPOSITORIES = 20;

/** Query of what hosted indexing has done for each repository in the last 30 days. */
const repositoryUsageQuery = (tenantId: string) => sql<RepositoryUsage>`
  select u.*, (select repo from workspaces where id = u."workspaceId") as repo from (
    select workspace_id as "workspaceId", count(*)::int as runs, (count(*) filter (where state = 'failed'))::int as failed,
      coalesce(sum(case when jsonb_typeof(result -> 'embeddedCount') = 'number' then (result ->> 'embeddedCount')::float8 end), 0) as chunks,
      coalesce(sum(extract(epoch from finished_at - created_at)), 0)::float8 as seconds
    from (
      select workspace_id, state, result, created_at, finished_at from runs
      where tenant_id = ${tenantId} and created_at > now() - interval '30 days' order by created_at desc, id desc limit ${MAX_RUNS}) r
    group by workspace_id order by chunks desc, runs desc, workspace_id limit ${MAX_REPOSITORIES}) u
  order by u.chunks desc, u.runs desc, u."workspaceId"`;

/** Reads a tenant's usage from the gate's mirror; call `flushUsage` first for the newest figures. One round trip. */
export async function readUsage(db: Db, tenantId: string, nowMs: number): Promise<UsageReport> {
  const period = new Date(nowMs).toISOString().slice(0, 7);
  const since = [`${period}-01`, new Date(nowMs - 29 * DAY_MS).toISOString().slice(0, 10)].toSorted()[0] ?? period;
  const [months, days, keys, repositories] = await db.batch([
    db
      .select({ limit: tenants.monthlyCredits, month: usageMonths })
      .from(tenants)
      .leftJoin(usageMonths, and(eq(usageMonths.tenantId, tenants.id), eq(usageMonths.period, period)))
      .where(eq(tenants.id, tenantId)),
    db
      .select({
        day: usageDays.day,
        credentialId: usageDays.credentialId,
        credits: usageDays.credits,
        tokens: usageDays.tokens,
        calls: usageDays.calls,
      })
      .from(usageDays)
      .where(and(eq(usageDays.tenantId, tenantId), gte(usageDays.day, sql`${since}::date`)))
      .orderBy(usageDays.day),
    db
      .select({
        id: credentials.id,
        name: credentials.name,
        owner: sql<
          string | null
        >`(select coalesce(name || ', ' || email, email) from users where id = ${credentials.userId})`,
      })
      .from(credentials)
      .where(eq(credentials.tenantId, tenantId)),
    db.execute(repositoryUsageQuery(tenantId)),
  ]);
  const month = months[0]?.month;
  return {
    month: {
      limit: months[0]?.limit ?? 0,
      credits: month?.credits ?? 0,
      embedTokens: month?.embedTokens ?? 0,
      rerankTokens: month?.rerankTokens ?? 0,
      indexTokens: month?.indexTokens ?? 0,
      calls: month?.calls ?? {},
    },
    days,
    keys: new Map(keys.map(({ id, name, owner }) => [id, { name, owner }])),
    repositories: repositories.rows as unknown as RepositoryUsage[],
  };
}

/**
 * Projects the credits of the whole month: credits used, plus the mean of the last seven full days (or as many as there are) for
 * each remaining day.
 */
export function projectMonth(used: number, byDay: ReadonlyMap<string, number>, nowMs: number): number {
  const now = new Date(nowMs);
  const end = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS;
  const first = [...byDay.keys()].toSorted()[0];
  const span = first === undefined ? 0 : Math.min(7, Math.round((today - Date.parse(first)) / DAY_MS));
  if (span < 1) {
    // On the first day, extrapolate from its hours so far.
    const passed = Math.max(nowMs - today, 3_600_000);
    return Math.round(used + (used / passed) * (end - nowMs));
  }
  let recent = 0;
  for (let i = 1; i <= span; i++) recent += byDay.get(new Date(today - i * DAY_MS).toISOString().slice(0, 10)) ?? 0;
  return Math.round(used + ((recent / span) * (end - nowMs)) / DAY_MS);
}
