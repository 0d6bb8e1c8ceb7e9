/** A tenant's credentials with their usage, for the dashboard. */
import { and, desc, eq, sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { credentials } from "../db/credentials-schema.ts";
import { kindOf } from "../tenancy/restrictions.ts";
import type { KeyInfo } from "../tenancy/keys.ts";

export interface KeyUsage extends KeyInfo {
  /** Name or e-mail address of the member whose it is; null for keys of the team. */
  owner: string | null;
  /** Credits of the last 30 days. */
  credits: number;
}

const MAX_KEYS = 500;

/**
 * Lists up to {@link MAX_KEYS} credentials of a tenant: active ones first, then newest first.
 *
 * @param userId only those of this member
 */
export async function listKeyUsage(db: Db, tenantId: string, userId?: string): Promise<KeyUsage[]> {
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
      userId: credentials.userId,
      agent: credentials.agent,
      owner: sql<string | null>`(select coalesce(name, email) from users where id = ${credentials.userId})`,
      credits: sql<number>`(
        select coalesce(sum(credits), 0)::float8 from usage_days
        where tenant_id = ${tenantId} and credential_id = ${credentials.id} and day > current_date - 30)`,
    })
    .from(credentials)
    .where(and(eq(credentials.tenantId, tenantId), userId === undefined ? undefined : eq(credentials.userId, userId)))
    .orderBy(sql`${credentials.revokedAt} is not null`, desc(credentials.createdAt), desc(credentials.id))
    .limit(MAX_KEYS);
  return rows.map((row) => Object.assign(row, { kind: kindOf(row.kind) }));
}
