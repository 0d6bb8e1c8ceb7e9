/** A tenant's credentials with their usage, for the dashboard. */
import { desc, eq, sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { credentials } from "../db/schema.ts";
import { kindOf } from "../tenancy/restrictions.ts";
import type { KeyInfo } from "../tenancy/keys.ts";

export interface KeyUsage extends KeyInfo {
  /** Credits of the last 30 days. */
  credits: number;
}

const MAX_KEYS = 500;

/** Lists up to {@link MAX_KEYS} credentials of a tenant: active ones first, then newest first. */
export async function listKeyUsage(db: Db, tenantId: string): Promise<KeyUsage[]> {
  const rows = await db
    .select({
      id: credentials.id,
      kind: credentials.kind,
      restrictions: credentials.restrictions,
      parentId: credentials.parentId,
      name: credentials.name,
      createdAt: credentials.createdAt,
      lastUsedAt: credentials.lastUsedAt,
      expiresAt: credentials.expiresAt,
      revokedAt: credentials.revokedAt,
      credits: sql<number>`(
        select coalesce(sum(credits), 0)::float8 from usage_days
        where tenant_id = ${tenantId} and credential_id = ${credentials.id} and day > current_date - 30)`,
    })
    .from(credentials)
    .where(eq(credentials.tenantId, tenantId))
    .orderBy(sql`${credentials.revokedAt} is not null`, desc(credentials.createdAt), desc(credentials.id))
    .limit(MAX_KEYS);
  return rows.map((row) => Object.assign(row, { kind: kindOf(row.kind) }));
}
