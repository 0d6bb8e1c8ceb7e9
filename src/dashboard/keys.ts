/** A tenant's credentials as its people see and manage them. */
import { and, desc, eq, isNull, sql } from "drizzle-orm";
import { recordAuditStatement } from "../audit/record.ts";
import type { Db } from "../db/client.ts";
import { credentials } from "../db/schema.ts";
import { createCredential, type CredentialKind, deriveCredentialKey } from "../tenancy/credentials.ts";
import { TenancyError } from "../tenancy/errors.ts";
import { checkName } from "../tenancy/fields.ts";

export interface KeyInfo {
  /** Public id. */
  id: string;
  kind: CredentialKind;
  name: string;
  createdAt: Date;
  /** As of a few seconds ago. */
  lastUsedAt: Date | null;
  expiresAt: Date | null;
  revokedAt: Date | null;
  /** Credits of the last 30 days. */
  credits: number;
}

/** More than these are not listed; those that still work come first. */
const MAX_KEYS = 500;

/** A tenant's credentials: those that still work first, then the newest first. */
export function listTenantKeys(db: Db, tenantId: string): Promise<KeyInfo[]> {
  return db
    .select({
      id: credentials.id,
      kind: credentials.kind,
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
}

export interface NewKeyInput {
  tenantId: string;
  name: string;
  kind: CredentialKind;
  actor: string;
  expiresAt?: Date;
}

/** Makes a credential; its value is returned once and stored nowhere. Throws `TenancyError` for a bad name. */
export async function createTenantKey(
  db: Db,
  encryptionKey: string,
  input: NewKeyInput,
): Promise<{ id: string; value: string }> {
  const { tenantId, kind, actor, expiresAt } = input;
  const name = checkName(input.name);
  const { id, value, secretHash } = createCredential(kind, tenantId, deriveCredentialKey(encryptionKey));
  await db.batch([
    db.insert(credentials).values({ id, tenantId, kind, name, secretHash, ...(expiresAt && { expiresAt }) }),
    recordAuditStatement(db, { event: "KEY_CREATED", tenantId, actor, details: { credentialId: id, kind, name } }),
  ]);
  return { id, value };
}

/** Revokes a tenant's credential. Throws `TenancyError` where the tenant has none of this id, or it is revoked already. */
export async function revokeTenantKey(
  db: Db,
  { tenantId, id, actor }: { tenantId: string; id: string; actor: string },
): Promise<void> {
  const [gone] = await db
    .update(credentials)
    .set({ revokedAt: sql`now()` })
    .where(and(eq(credentials.tenantId, tenantId), eq(credentials.id, id), isNull(credentials.revokedAt)))
    .returning({ kind: credentials.kind });
  if (!gone) throw new TenancyError("NOT_FOUND", "there is no such key, or it is revoked already");
  await recordAuditStatement(db, {
    event: "KEY_REVOKED",
    tenantId,
    actor,
    details: { credentialId: id, kind: gone.kind },
  });
}
