/** The tenant gate's side of Postgres: what it reads (tenant, credentials, a month's figures) and what it writes. */
import { and, eq, inArray, lt, sql } from "drizzle-orm";
import { recordAuditStatement } from "../audit/index.ts";
import type { Db } from "../db/client.ts";
import { tenants, usageMonths } from "../db/schema.ts";
import { callsFrom, type MirroredMonth, type Month } from "./credits.ts";
import type { DirectoryCredential, DirectoryState } from "./directory.ts";
import type { SurfaceWindow } from "./store.ts";
import { windowEndMs } from "./windows.ts";

export interface LoadedTenant {
  directory: DirectoryState;
  /** The database's figures of the asked month; undefined when it has none. */
  month: MirroredMonth | undefined;
}

/** One query: the tenant, all its unrevoked credentials and its figures of one month. */
export async function loadTenant(db: Db, tenantId: string, period: string): Promise<LoadedTenant> {
  const rows = await db
    .select({
      monthlyCredits: tenants.monthlyCredits,
      sharedIndex: tenants.sharedIndex,
      credentials: sql<DirectoryCredential[]>`(
        select coalesce(json_agg(json_build_object('id', id, 'kind', kind, 'secretHash', encode(secret_hash, 'hex'))), '[]')
        from credentials where tenant_id = ${tenants.id} and revoked_at is null)`,
      month: usageMonths,
    })
    .from(tenants)
    .leftJoin(usageMonths, and(eq(usageMonths.tenantId, tenants.id), eq(usageMonths.period, period)))
    .where(eq(tenants.id, tenantId));
  const row = rows[0];
  if (!row) return { directory: { tenant: null, credentials: [] }, month: undefined };
  const { monthlyCredits, sharedIndex, credentials, month } = row;
  return {
    directory: { tenant: { monthlyCredits, sharedIndex }, credentials },
    month: month ? toMirrored(month) : undefined,
  };
}

/** The database's figures of some months, by period. */
export async function loadMonths(db: Db, tenantId: string, periods: string[]): Promise<Map<string, MirroredMonth>> {
  const rows = await db
    .select()
    .from(usageMonths)
    .where(and(eq(usageMonths.tenantId, tenantId), inArray(usageMonths.period, periods)));
  return new Map(rows.map((row) => [row.period, toMirrored(row)]));
}

/**
 * Writes absolute figures of months and rejection counts of windows, all or nothing. Repeating it changes nothing, and an
 * older state never replaces a newer one.
 */
export async function flush(
  db: Db,
  tenantId: string,
  months: readonly Readonly<Month>[],
  windows: readonly Readonly<SurfaceWindow>[],
): Promise<void> {
  const statements = [
    ...months.map((month) => {
      const { period, version: flushSeq, credits, embedTokens, rerankTokens, indexTokens, calls } = month;
      const figures = { flushSeq, credits, embedTokens, rerankTokens, indexTokens, calls, updatedAt: sql`now()` };
      return db
        .insert(usageMonths)
        .values({ tenantId, period, ...figures })
        .onConflictDoUpdate({
          target: [usageMonths.tenantId, usageMonths.period],
          set: figures,
          setWhere: lt(usageMonths.flushSeq, flushSeq),
        });
    }),
    ...windows.map((window) => recordAuditStatement(db, rateLimited(tenantId, window))),
  ];
  const [first, ...rest] = statements;
  if (first) await db.batch([first, ...rest]);
}

function rateLimited(tenantId: string, window: Readonly<SurfaceWindow>) {
  return {
    event: "RATE_LIMITED" as const,
    tenantId,
    actor: window.actor,
    at: new Date(window.startMs),
    details: {
      surface: window.surface,
      windowStart: new Date(window.startMs).toISOString(),
      windowEnd: new Date(windowEndMs(window)).toISOString(),
      rejected: window.rejected,
    },
  };
}

function toMirrored(row: typeof usageMonths.$inferSelect): MirroredMonth {
  const { flushSeq, credits, embedTokens, rerankTokens, indexTokens, calls } = row;
  return { flushSeq, credits, embedTokens, rerankTokens, indexTokens, calls: callsFrom((kind) => calls[kind] ?? 0) };
}
