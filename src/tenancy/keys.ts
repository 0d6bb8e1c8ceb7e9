import { and, eq, isNull } from "drizzle-orm";
import { recordAudit, recordAuditStatement } from "../audit/index.ts";
import type { Db } from "../db/client.ts";
import { credentials } from "../db/schema.ts";
import { createCredential, type CredentialKind } from "./credentials.ts";
import { TenancyError } from "./errors.ts";
import { checkName, checkUuid } from "./fields.ts";
import { ADMIN_ACTOR, asUnknownTenant } from "./tenants.ts";

export interface KeyInput {
  tenantId: string;
  name: string;
  kind: CredentialKind;
}

export interface NewKey {
  /** Public id. */
  id: string;
  /** The whole credential; shown once, stored nowhere. */
  value: string;
}

/** Makes an API key or worker token. Throws `TenancyError` for bad input or an unknown tenant. */
export async function createKey(db: Db, input: KeyInput): Promise<NewKey> {
  const tenantId = checkUuid(input.tenantId, "tenant");
  const name = checkName(input.name);
  const { kind } = input;
  const { id, value, secretHash } = createCredential(kind, tenantId);
  const details = { credentialId: id, kind, name };
  try {
    await db.batch([
      db.insert(credentials).values({ id, tenantId, kind, name, secretHash }),
      recordAuditStatement(db, { event: "KEY_CREATED", tenantId, actor: ADMIN_ACTOR, details }),
    ]);
  } catch (error) {
    throw asUnknownTenant(error, tenantId);
  }
  return { id, value };
}

/**
 * Revokes a credential by its public id, for good; doing it again changes nothing. Throws `TenancyError` when there is none of
 * this kind.
 */
export async function revokeKey(db: Db, input: { id: string; kind: CredentialKind }): Promise<void> {
  const { id, kind } = input;
  const [key] = await db
    .select({ tenantId: credentials.tenantId })
    .from(credentials)
    .where(and(eq(credentials.id, id), eq(credentials.kind, kind)));
  if (!key) {
    const what = kind === "api_key" ? "API key" : "worker token";
    throw new TenancyError(
      "NOT_FOUND",
      `there is no ${what} with this id (its public id is the part between cc_… and the last _)`,
      "id",
    );
  }
  await db
    .update(credentials)
    .set({ revokedAt: new Date() })
    .where(and(eq(credentials.id, id), isNull(credentials.revokedAt)));
  const details = { credentialId: id, kind };
  await recordAudit(db, { event: "KEY_REVOKED", tenantId: key.tenantId, actor: ADMIN_ACTOR, details });
}
