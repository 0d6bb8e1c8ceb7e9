/** The gate's queries to Postgres: looks up credentials, mirrors counters and records audit events. */
import { and, eq, inArray, isNull, lt, sql } from "drizzle-orm";
import { recordAuditStatement } from "../audit/index.ts";
import { MAX_TOKEN_DEPTH, type Restrictions } from "../../contract/credentials.ts";
import { type Surface, SURFACES } from "../../contract/surfaces.ts";
import type { Db } from "../db/client.ts";
import { usageDays } from "../db/people-schema.ts";
import { usageMonths } from "../db/records-schema.ts";
import { credentials } from "../db/credentials-schema.ts";
import { tenants } from "../db/schema.ts";
import { rowsOf } from "../db/rows.ts";
import type { CredentialFacts, NarrowFacts } from "./credential-cache.ts";
import { callsFrom, type MirroredMonth, type Month } from "./credits.ts";
import type { KeyDay } from "./key-usage.ts";
import type { Rejections } from "./windows.ts";

interface LoadedCredential {
  /** Null if the tenant has no valid credential with this id. */
  facts: CredentialFacts | null;
  /** Figures of the requested month; undefined if there are none. */
  month: MirroredMonth | undefined;
}

/** Loads a credential, its tenant's settings and the tenant's figures of one month in one query. */
export async function loadCredential(
  db: Db,
  tenantId: string,
  credentialId: string,
  period: string,
): Promise<LoadedCredential> {
  const [row] = await db
    .select({
      kind: credentials.kind,
      secretHash: credentials.secretHash,
      expiresAt: credentials.expiresAt,
      monthlyCredits: tenants.monthlyCredits,
      sharedIndex: tenants.sharedIndex,
      month: usageMonths,
      lineage: sql<
        LineageRow[] | null
      >`case when ${credentials.kind} like 'narrow%' then (${lineageOf(credentialId)}) end`,
    })
    .from(credentials)
    .innerJoin(tenants, eq(tenants.id, credentials.tenantId))
    .leftJoin(usageMonths, and(eq(usageMonths.tenantId, tenants.id), eq(usageMonths.period, period)))
    .where(and(eq(credentials.id, credentialId), eq(credentials.tenantId, tenantId), isNull(credentials.revokedAt)));
  if (!row || row.lineage?.some(({ revoked }) => revoked) === true) return { facts: null, month: undefined };
  const { kind, secretHash, expiresAt, monthlyCredits, sharedIndex, month, lineage } = row;
  const facts = {
    kind,
    secretHash: Buffer.from(secretHash).toString("hex"),
    expiresAtMs: expiresAt === null ? null : timeOf(expiresAt),
    monthlyCredits,
    sharedIndex,
    ...(lineage && { narrow: narrowFacts(lineage) }),
  };
  return { facts, month: month ? toMirrored(month) : undefined };
}

/** A credential, or one that it was made from. */
interface LineageRow {
  id: string;
  revoked: boolean;
  restrictions: Restrictions | null;
}

/** A credential and those that it was made from, itself first, as a JSON array of {@link LineageRow}. */
function lineageOf(credentialId: string) {
  return sql`
    with recursive lineage as (
      select id, parent_id, revoked_at, restrictions, 0 as depth from credentials where id = ${credentialId}
      union all
      select p.id, p.parent_id, p.revoked_at, p.restrictions, depth + 1 from lineage join credentials p on p.id = lineage.parent_id
      where depth < ${MAX_TOKEN_DEPTH}
    )
    select json_agg(json_build_object('id', id, 'revoked', revoked_at is not null, 'restrictions', restrictions) order by depth)
    from lineage`;
}

/** A token has the repositories and scopes of its own row (`narrow` made sure that they are among its parent's), and everyone's budgets. */
function narrowFacts(lineage: readonly LineageRow[]): NarrowFacts {
  const { repos, scopes } = lineage[0]?.restrictions ?? {};
  const limits = lineage.flatMap(({ id, restrictions }) => {
    const { monthlyCredits, ratePerMinute } = restrictions ?? {};
    if (monthlyCredits === undefined && ratePerMinute === undefined) return [];
    return [
      {
        id,
        ...(monthlyCredits !== undefined && { monthlyCredits }),
        ...(ratePerMinute !== undefined && { ratePerMinute }),
      },
    ];
  });
  return { ...(repos && { repos }), ...(scopes && { scopes }), limits };
}

/**
 * Credits of one month that a credential and the tokens made from it have been charged, as far as they were flushed. For a gate that does not
 * know them, such as that of a restored database.
 */
export async function loadSpent(db: Db, tenantId: string, credentialId: string, period: string): Promise<number> {
  const rows = await rowsOf<{ spent: number }>(
    db,
    sql`with recursive family as (
          select id, 0 as depth from credentials where id = ${credentialId} and tenant_id = ${tenantId}::uuid
          union all
          select c.id, depth + 1 from family join credentials c on c.parent_id = family.id where depth < ${MAX_TOKEN_DEPTH}
        )
        select coalesce(sum(d.credits), 0)::float8 as spent from family join usage_days d
          on d.tenant_id = ${tenantId}::uuid and d.credential_id = family.id
          and d.day >= ${`${period}-01`}::date and d.day < ${`${period}-01`}::date + interval '1 month'`,
  );
  return rows[0]?.spent ?? 0;
}

/** Loads a tenant's figures of some months, by period. */
export async function loadMonths(db: Db, tenantId: string, periods: string[]): Promise<Map<string, MirroredMonth>> {
  const rows = await db
    .select()
    .from(usageMonths)
    .where(and(eq(usageMonths.tenantId, tenantId), inArray(usageMonths.period, periods)));
  return new Map(rows.map((row) => [row.period, toMirrored(row)]));
}

/** Whether the tenant still exists. */
export async function hasTenant(db: Db, tenantId: string): Promise<boolean> {
  return (await db.select({ id: tenants.id }).from(tenants).where(eq(tenants.id, tenantId))).length > 0;
}

/**
 * Writes absolute figures of months and credentials, and rejection counts of windows, in one transaction. Idempotent; an older
 * state never replaces a newer one.
 */
export async function flush(
  db: Db,
  tenantId: string,
  {
    months,
    keyDays,
    rejections,
  }: { months: readonly Month[]; keyDays: readonly KeyDay[]; rejections: readonly Rejections[] },
): Promise<void> {
  const statements = [
    ...months.map((month) => saveMonth(db, tenantId, month)),
    ...keyDays.map((day) => saveKeyDay(db, tenantId, day)),
    ...keyDays.map(({ credentialId, lastUsedMs }) =>
      db
        .update(credentials)
        .set({ lastUsedAt: sql`greatest(last_used_at, ${new Date(lastUsedMs).toISOString()}::timestamptz)` })
        .where(and(eq(credentials.id, credentialId), eq(credentials.tenantId, tenantId))),
    ),
    ...rejectionStatements(db, rejections),
  ];
  const [first, ...rest] = statements;
  if (first) await db.batch([first, ...rest]);
}

/** Records rejections in the audit log; idempotent. */
export async function flushRejections(db: Db, rejections: readonly Rejections[]): Promise<void> {
  const [first, ...rest] = rejectionStatements(db, rejections);
  if (first) await db.batch([first, ...rest]);
}

function saveMonth(db: Db, tenantId: string, month: Month) {
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
}

function saveKeyDay(
  db: Db,
  tenantId: string,
  { credentialId, day, version: flushSeq, calls, credits, tokens }: KeyDay,
) {
  const figures = { flushSeq, calls, credits, tokens };
  return db
    .insert(usageDays)
    .values({ tenantId, credentialId, day, ...figures })
    .onConflictDoUpdate({
      target: [usageDays.tenantId, usageDays.day, usageDays.credentialId],
      set: figures,
      setWhere: lt(usageDays.flushSeq, flushSeq),
    });
}

function rejectionStatements(db: Db, rejections: readonly Rejections[]) {
  return rejections.map(({ surface, tenantId, actor, startMs, endMs, firstMs, rejected }) =>
    recordAuditStatement(db, {
      event: "RATE_LIMITED",
      tenantId,
      actor,
      at: new Date(firstMs),
      details: {
        surface,
        ...(isSurface(surface) && SURFACES[surface].subject === "user" && { subject: actor }),
        windowStart: new Date(startMs).toISOString(),
        windowEnd: new Date(endMs).toISOString(),
        rejected,
      },
    }),
  );
}

/** A release that was rolled back may have stored surfaces that this one does not know. */
function isSurface(name: string): name is Surface {
  return name in SURFACES;
}

function toMirrored(row: typeof usageMonths.$inferSelect): MirroredMonth {
  const { flushSeq, credits, embedTokens, rerankTokens, indexTokens, calls } = row;
  return { flushSeq, credits, embedTokens, rerankTokens, indexTokens, calls: callsFrom((kind) => calls[kind] ?? 0) };
}

/** Throws for a time that was not readable: it must not count as one that never comes. */
function timeOf(date: Date): number {
  const ms = date.getTime();
  if (Number.isNaN(ms)) throw new Error("the database writes times in a form that is not read: set DateStyle to ISO");
  return ms;
}
