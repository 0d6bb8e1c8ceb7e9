/** Creates and deletes hooks of workspaces. */
import { and, eq } from "drizzle-orm";
import { isAudited, recordAudit, recordAuditStatement } from "../audit/record.ts";
import type { Db } from "../db/client.ts";
import { PG_UNIQUE_VIOLATION, pgErrorCode } from "../db/errors.ts";
import { HOOK_PROVIDERS, type HookProvider, hooks } from "../db/people-schema.ts";
import { seal } from "../../lib/seal.ts";
import { TenancyError } from "../tenancy/errors.ts";
import { newToken } from "../users/tokens.ts";
import { newHookId } from "./ids.ts";

/** Binds a sealed secret to its hook. */
export const hookSecretPurpose = (hookId: string): string => `hook-secret:${hookId}`;

export interface NewHook {
  id: string;
  provider: HookProvider;
  /** Shown once; sealed in the database. */
  secret: string;
  /** Path of the hook below the api's address. */
  path: string;
}

/**
 * Creates a hook, with `random` the same one again. Throws `TenancyError` for an unknown provider, if the workspace already has a hook for
 * it, or if the hook of this `random` was deleted.
 */
export async function createHook(
  { db, encryptionKey }: { db: Db; encryptionKey: string },
  input: { tenantId: string; workspaceId: string; provider: string; actor: string; random?: Uint8Array | undefined },
): Promise<NewHook> {
  const { tenantId, workspaceId, actor, random } = input;
  const provider = HOOK_PROVIDERS.find((known) => known === input.provider);
  if (!provider)
    throw new TenancyError("INVALID", `provider: expected one of ${HOOK_PROVIDERS.join(", ")}`, "provider");
  const { id, secret, sealedSecret } = await newSecret(encryptionKey, random);
  const made: NewHook = { id, provider, secret, path: `/hooks/${provider}/${id}` };
  const details = { hookId: id, workspaceId, provider };
  if (random && (await isAudited(db, { tenantId, event: "HOOK_DELETED", details })))
    throw new TenancyError("CONFLICT", "the hook that this form has made is deleted; load the page again for another");
  try {
    await db.batch([
      db.insert(hooks).values({ id, tenantId, workspaceId, provider, sealedSecret }),
      recordAuditStatement(db, { event: "HOOK_CREATED", tenantId, actor, details }),
    ]);
  } catch (error) {
    if (pgErrorCode(error) !== PG_UNIQUE_VIOLATION) throw error;
    // The same form, sent again.
    const [known] = await db
      .select({ workspaceId: hooks.workspaceId })
      .from(hooks)
      .where(and(eq(hooks.tenantId, tenantId), eq(hooks.id, id)));
    if (known?.workspaceId === workspaceId) return made;
    throw new TenancyError("CONFLICT", `provider: the repository has a ${provider} hook already`, "provider");
  }
  return made;
}

async function newSecret(encryptionKey: string, random?: Uint8Array) {
  const id = newHookId(encryptionKey, random?.subarray(0, 32));
  const secret = newToken(random?.subarray(32)).value;
  return { id, secret, sealedSecret: await seal(encryptionKey, hookSecretPurpose(id), secret) };
}

/**
 * A new hook under which the deliveries of a GitHub App are recorded, for {@link insertAppHook}. Nobody learns its secret, so nothing can be
 * delivered at its own address.
 */
export async function newAppHook(
  encryptionKey: string,
  owner: { tenantId: string; workspaceId: string; appId: string },
): Promise<typeof hooks.$inferInsert> {
  const { id, sealedSecret } = await newSecret(encryptionKey);
  return { ...owner, id, sealedSecret, provider: "github" };
}

/** The statement that inserts it, unless the workspace has a GitHub hook: the deliveries are then recorded under that one. */
export function insertAppHook(db: Db, hook: typeof hooks.$inferInsert) {
  return db
    .insert(hooks)
    .values(hook)
    .onConflictDoNothing({ target: [hooks.workspaceId, hooks.provider] });
}

/** Deletes a hook and its deliveries; `isUndone` as in the audit log. Throws `TenancyError` if there is none. */
export async function deleteHook(
  db: Db,
  hook: { tenantId: string; workspaceId: string; id: string; actor: string; isUndone?: true },
): Promise<void> {
  const { tenantId, workspaceId, id, actor, isUndone } = hook;
  const [gone] = await db
    .delete(hooks)
    .where(and(eq(hooks.tenantId, tenantId), eq(hooks.workspaceId, workspaceId), eq(hooks.id, id)))
    .returning({ provider: hooks.provider });
  if (!gone) throw new TenancyError("NOT_FOUND", "there is no such hook");
  await recordAudit(db, {
    event: "HOOK_DELETED",
    tenantId,
    actor,
    details: { hookId: id, workspaceId, provider: gone.provider, ...(isUndone && { isUndone }) },
  });
}
