import { eq, sql } from "drizzle-orm";
import { recordAuditStatement } from "../audit/index.ts";
import { DEFAULT_MONTHLY_CREDITS } from "../../contract/limits.ts";
import type { Db } from "../db/client.ts";
import { PG_FOREIGN_KEY_VIOLATION, PG_UNIQUE_VIOLATION, pgErrorCode } from "../db/errors.ts";
import { credentials } from "../db/credentials-schema.ts";
import { tenants } from "../db/schema.ts";
import { loadCredentialKey } from "./credential-key.ts";
import { createCredential } from "./credentials.ts";
import { TenancyError } from "./errors.ts";
import { checkCredits, checkName, checkUuid } from "./fields.ts";
import { newSlug } from "./slug.ts";

/** Actor of the administration command in the audit log. */
export const ADMIN_ACTOR = "admin";

export interface TenantInput {
  name: string;
  /** Monthly quota in credits. */
  monthlyCredits?: number;
  sharedIndex?: boolean;
}

export interface NewTenant {
  tenantId: string;
  /** Shown once and never stored. */
  apiKey: string;
  workerToken: string;
}

/** Creates a tenant with a first API key and worker token, in one transaction. Throws `TenancyError` for invalid input. */
export async function createTenant(db: Db, input: TenantInput): Promise<NewTenant> {
  const name = checkName(input.name);
  const monthlyCredits = checkCredits(input.monthlyCredits ?? DEFAULT_MONTHLY_CREDITS);
  const tenantId = crypto.randomUUID();
  const credentialKey = await loadCredentialKey(db);
  const apiKey = createCredential("api_key", tenantId, credentialKey);
  const workerToken = createCredential("worker_token", tenantId, credentialKey);
  const first = [
    { kind: "api_key", id: apiKey.id, secretHash: apiKey.secretHash },
    { kind: "worker_token", id: workerToken.id, secretHash: workerToken.secretHash },
  ] as const;
  const audit = { tenantId, actor: ADMIN_ACTOR } as const;
  const insert = () =>
    db.batch([
      db.insert(tenants).values({
        id: tenantId,
        name,
        slug: slugUnlessTaken(name),
        monthlyCredits,
        sharedIndex: input.sharedIndex ?? false,
      }),
      db
        .insert(credentials)
        .values(first.map(({ id, kind, secretHash }) => ({ id, tenantId, kind, name: "default", secretHash }))),
      recordAuditStatement(db, { ...audit, event: "TENANT_CREATED", details: { name } }),
      ...first.map(({ id, kind }) =>
        recordAuditStatement(db, {
          ...audit,
          event: "KEY_CREATED",
          details: { credentialId: id, kind, name: "default" },
        }),
      ),
    ]);
  // On a race between two tenants with the same name, the second attempt sees the other's slug.
  await insert().catch((error: unknown) => {
    if (pgErrorCode(error) !== PG_UNIQUE_VIOLATION) throw error;
    return insert();
  });
  return { tenantId, apiKey: apiKey.value, workerToken: workerToken.value };
}

/** The plain slug of a name, or one with a suffix if it is taken; decided by the insert statement itself. */
function slugUnlessTaken(name: string) {
  const plain = newSlug(name);
  return sql`case when exists (select 1 from tenants where slug = ${plain}) then ${newSlug(name, true)} else ${plain} end`;
}

interface TenantChange {
  tenantId: string;
  monthlyCredits?: number;
  sharedIndex?: boolean;
}

/** Changes a tenant's quota or opt-in. Throws `TenancyError` if there is no such tenant or nothing to change. */
export async function setTenant(db: Db, change: TenantChange): Promise<void> {
  const tenantId = checkUuid(change.tenantId, "tenant");
  const values = {
    ...(change.monthlyCredits !== undefined && { monthlyCredits: checkCredits(change.monthlyCredits) }),
    ...(change.sharedIndex !== undefined && { sharedIndex: change.sharedIndex }),
  };
  if (Object.keys(values).length === 0) throw new TenancyError("INVALID", "nothing to change was given");
  const details = { changeId: crypto.randomUUID(), ...values };
  try {
    await db.batch([
      db.update(tenants).set(values).where(eq(tenants.id, tenantId)),
      // Its foreign key also fails the batch if there is no such tenant.
      recordAuditStatement(db, { event: "TENANT_CHANGED", tenantId, actor: ADMIN_ACTOR, details }),
    ]);
  } catch (error) {
    throw asUnknownTenant(error, tenantId);
  }
}

/** Maps a foreign-key violation to `NOT_FOUND`; returns any other error unchanged. */
export function asUnknownTenant(error: unknown, tenantId: string): unknown {
  return pgErrorCode(error) === PG_FOREIGN_KEY_VIOLATION
    ? new TenancyError("NOT_FOUND", `there is no tenant ${tenantId}`, "tenant")
    : error;
}
