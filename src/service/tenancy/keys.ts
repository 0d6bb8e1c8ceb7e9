import { and, desc, eq, isNull } from "drizzle-orm";
import { recordAuditStatement } from "../audit/index.ts";
import type { Db } from "../db/client.ts";
import { credentials } from "../db/schema.ts";
import { loadCredentialKey } from "./credential-key.ts";
import { createCredential, type CredentialKey, type CredentialKind } from "./credentials.ts";
import { TenancyError } from "./errors.ts";
import { checkName, checkUuid } from "./fields.ts";
import { ADMIN_ACTOR, asUnknownTenant } from "./tenants.ts";

export interface KeyInput {
  tenantId: string;
  name: string;
  kind: CredentialKind;
  /** When it expires; default: never. */
  expiresAt?: Date;
  /** Id of the user who creates it; default: the administrator. */
  actor?: string;
}

export interface NewKey {
  /** Public id. */
  id: string;
  /** The whole credential; shown once and never stored. */
  value: string;
}

/**
 * Creates an API key or worker token. Throws `TenancyError` for invalid input or an unknown tenant.
 *
 * @param credentialKey the deployment's key, if the caller has it; default: read from the database
 */
export async function createKey(db: Db, input: KeyInput, credentialKey?: CredentialKey): Promise<NewKey> {
  const tenantId = checkUuid(input.tenantId, "tenant");
  const name = checkName(input.name);
  const { kind, expiresAt, actor = ADMIN_ACTOR } = input;
  if (expiresAt !== undefined && !(expiresAt.getTime() > Date.now())) {
    throw new TenancyError("INVALID", "expires: expected a time in the future", "expires");
  }
  const { id, value, secretHash } = createCredential(kind, tenantId, credentialKey ?? (await loadCredentialKey(db)));
  const details = { credentialId: id, kind, name, ...(expiresAt && { expiresAt: expiresAt.toISOString() }) };
  try {
    await db.batch([
      db.insert(credentials).values({ id, tenantId, kind, name, secretHash, ...(expiresAt && { expiresAt }) }),
      recordAuditStatement(db, { event: "KEY_CREATED", tenantId, actor, details }),
    ]);
  } catch (error) {
    throw asUnknownTenant(error, tenantId);
  }
  return { id, value };
}

/** A credential as shown to its tenant's users, without the secret. */
export interface KeyInfo {
  /** Public id. */
  id: string;
  kind: CredentialKind;
  name: string;
  createdAt: Date;
  /** Up to a few seconds late; null if it was never used. */
  lastUsedAt: Date | null;
  expiresAt: Date | null;
  revokedAt: Date | null;
}

/** Lists all credentials of a tenant, newest first. */
export async function listKeys(db: Db, tenantId: string): Promise<KeyInfo[]> {
  const { id, kind, name, createdAt, lastUsedAt, expiresAt, revokedAt } = credentials;
  return db
    .select({ id, kind, name, createdAt, lastUsedAt, expiresAt, revokedAt })
    .from(credentials)
    .where(eq(credentials.tenantId, checkUuid(tenantId, "tenant")))
    .orderBy(desc(createdAt), desc(id));
}

/**
 * Revokes a credential by its public id, permanently. Returns false if it was already revoked. Throws `TenancyError` if there is no
 * such credential, or if it is not of the kind or the tenant given.
 */
export async function revokeKey(
  db: Db,
  input: { id: string; kind?: CredentialKind; tenantId?: string; actor?: string },
): Promise<boolean> {
  const { id, kind, tenantId, actor = ADMIN_ACTOR } = input;
  const [key] = await db
    .select({ tenantId: credentials.tenantId, kind: credentials.kind, revokedAt: credentials.revokedAt })
    .from(credentials)
    .where(
      and(
        eq(credentials.id, id),
        kind && eq(credentials.kind, kind),
        tenantId === undefined ? undefined : eq(credentials.tenantId, tenantId),
      ),
    );
  if (!key) {
    const what = kind === undefined ? "key" : kind === "api_key" ? "API key" : "worker token";
    throw new TenancyError(
      "NOT_FOUND",
      `there is no ${what} with this id (its public id is the part between cc_… and the last _)`,
      "id",
    );
  }
  if (key.revokedAt !== null) return false;
  const details = { credentialId: id, kind: key.kind };
  await db.batch([
    db
      .update(credentials)
      .set({ revokedAt: new Date() })
      .where(and(eq(credentials.id, id), isNull(credentials.revokedAt))),
    recordAuditStatement(db, { event: "KEY_REVOKED", tenantId: key.tenantId, actor, details }),
  ]);
  return true;
}
