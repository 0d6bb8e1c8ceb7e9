import { and, eq, inArray, isNull, sql } from "drizzle-orm";
import { MAX_LIVE_TOKENS, MAX_TOKEN_DEPTH, type Restrictions, type TokenRequest } from "../../contract/credentials.ts";
import { recordAuditStatement } from "../audit/index.ts";
import { auditInsert } from "../audit/record.ts";
import type { Db } from "../db/client.ts";
import { PG_UNIQUE_VIOLATION, pgErrorCode } from "../db/errors.ts";
import { rowsOf } from "../db/rows.ts";
import { type Agent, credentials } from "../db/credentials-schema.ts";
import { loadCredentialKey } from "./credential-key.ts";
import { createCredential, type CredentialKey, type CredentialKind } from "./credentials.ts";
import { TenancyError } from "./errors.ts";
import { checkName, checkUuid } from "./fields.ts";
import { withLineage } from "./lineage.ts";
import { checkRestrictions, kindOf, narrow, type StoredKind } from "./restrictions.ts";
import { ADMIN_ACTOR, asUnknownTenant } from "./tenants.ts";

export interface KeyInput {
  tenantId: string;
  name: string;
  kind: CredentialKind;
  /** When it expires; default: never. */
  expiresAt?: Date;
  /** What it is limited to; default: nothing. */
  restrictions?: Restrictions;
  /** Id of the member whose personal key it is; default: it is the team's. It ends when that person leaves the team. */
  userId?: string;
  /** Id of the user who creates it; default: the administrator. */
  actor?: string;
  /** Random bytes of the credential (see `createCredential`): with the same ones the same key is made, once. */
  random?: Uint8Array;
}

export interface NewKey {
  /** Public id. */
  id: string;
  /** The whole credential; shown once and never stored. */
  value: string;
  /** Whether the key was made before, with the same random bytes. */
  isRepeated?: true;
}

/**
 * Creates an API key or worker token. Throws `TenancyError` for invalid input, an unknown tenant, and a user who is not a member of it.
 *
 * @param credentialKey the deployment's key, if the caller has it; default: read from the database
 */
export async function createKey(db: Db, input: KeyInput, credentialKey?: CredentialKey): Promise<NewKey> {
  const tenantId = checkUuid(input.tenantId, "tenant");
  const name = checkName(input.name);
  const { kind, expiresAt, userId, actor = ADMIN_ACTOR } = input;
  if (expiresAt !== undefined && !(expiresAt.getTime() > Date.now())) {
    throw new TenancyError("INVALID", "expires: expected a time in the future", "expires");
  }
  const restrictions = checkRestrictions(kind, input.restrictions ?? {});
  const limits = Object.keys(restrictions).length > 0 && { kind: `narrow_${kind}` as const, restrictions };
  const { id, value, secretHash } = createCredential(
    kind,
    tenantId,
    credentialKey ?? (await loadCredentialKey(db)),
    input.random,
  );
  const expiry = expiresAt && { expiresAt: expiresAt.toISOString() };
  const owner = userId !== undefined && { userId };
  const details = { credentialId: id, kind, name, ...owner, ...expiry, ...(limits && { restrictions }) };
  try {
    await db.batch([
      db
        .insert(credentials)
        .values({ id, tenantId, kind, name, secretHash, ...owner, ...(expiresAt && { expiresAt }), ...limits }),
      recordAuditStatement(db, { event: "KEY_CREATED", tenantId, actor, details }),
    ]);
  } catch (error) {
    if (input.random && pgErrorCode(error) === PG_UNIQUE_VIOLATION) return { id, value, isRepeated: true };
    throw asUnknownTenant(error, tenantId);
  }
  return { id, value };
}

/** A credential and those that it was made from, itself first. */
interface Lineage {
  id: string;
  kind: StoredKind;
  name: string;
  restrictions: Restrictions | null;
  /** Unix time in milliseconds. */
  expires: number | null;
}

/**
 * Makes a token from a credential: of its kind and never wider. It expires with that credential if it was to live longer. Throws `TenancyError`: `INVALID` for a field that cannot be
 * read, `FORBIDDEN` for what the credential itself may not do, for tokens of too many generations and for too many of them.
 */
export async function createToken(
  db: Db,
  parent: { tenantId: string; credentialId: string },
  request: TokenRequest,
  credentialKey: CredentialKey,
): Promise<NewKey & { expiresAt: Date }> {
  const { tenantId, credentialId } = parent;
  const { name, ttlSeconds, ...asked } = request;
  const lineage = await readLineage(db, tenantId, credentialId);
  const [made] = lineage;
  if (made === undefined) throw isGone();
  if (lineage.length > MAX_TOKEN_DEPTH)
    throw new TenancyError(
      "FORBIDDEN",
      `tokens are made at most ${MAX_TOKEN_DEPTH} generations deep; make this one from the credential above`,
    );
  const kind = kindOf(made.kind);
  const restrictions = narrow(kind, made.restrictions ?? {}, asked);
  const untilMs = Math.min(...lineage.map(({ expires }) => expires ?? Infinity));
  const expiresAt = new Date(Math.min(Date.now() + ttlSeconds * 1_000, untilMs));
  const { id, value, secretHash } = createCredential(kind, tenantId, credentialKey);
  const given = checkName(name ?? `token of ${made.name}`.slice(0, 200));
  // The lock on the parent makes a revocation or another token wait, so that neither a token of a revoked credential nor one too many is made:
  // the second statement sees what was committed before the lock was granted.
  const [, inserted] = await db.batch([
    db.select({ id: credentials.id }).from(credentials).where(eq(credentials.id, credentialId)).for("update"),
    db.execute(
      sql`insert into credentials (id, tenant_id, kind, name, secret_hash, expires_at, restrictions, parent_id)
          select ${id}, ${tenantId}::uuid, ${`narrow_${kind}`}, ${given}, decode(${Buffer.from(secretHash).toString("hex")}, 'hex'),
            ${expiresAt.toISOString()}::timestamptz, ${JSON.stringify(restrictions)}::jsonb, p.id
          from credentials p where p.id = ${credentialId} and p.tenant_id = ${tenantId}::uuid and p.revoked_at is null and (
            select count(*) from credentials c where c.parent_id = ${credentialId} and c.expires_at > now() and c.revoked_at is null
          ) < ${MAX_LIVE_TOKENS} returning id`,
    ),
  ]);
  if (inserted.rows.length === 0) {
    if ((await readLineage(db, tenantId, credentialId)).length === 0) throw isGone();
    throw new TenancyError(
      "FORBIDDEN",
      `at most ${MAX_LIVE_TOKENS} tokens of one credential are alive at a time; revoke some, or wait until they expire`,
    );
  }
  const madeFrom = lineage.map((each) => each.id).toReversed();
  const details = { credentialId: id, kind, name: given, expiresAt: expiresAt.toISOString(), restrictions, madeFrom };
  await recordAuditStatement(db, { event: "KEY_CREATED", tenantId, actor: credentialId, details });
  return { id, value, expiresAt };
}

function isGone(): TenancyError {
  return new TenancyError("NOT_FOUND", "the credential was revoked in the meantime");
}

async function readLineage(db: Db, tenantId: string, credentialId: string): Promise<Lineage[]> {
  return rowsOf<Lineage>(
    db,
    sql`${withLineage(tenantId, credentialId)}
        select id, kind, name, restrictions, floor(extract(epoch from expires_at) * 1000)::float8 as expires
        from lineage where not exists (select 1 from lineage where revoked_at is not null) order by depth`,
  );
}

/**
 * Revokes a token, or the credential itself, on behalf of the credential that it was made from, directly or not. Tokens made from it are refused
 * as well. Returns false if it was revoked before; throws `TenancyError` `NOT_FOUND` for any other id.
 */
export async function revokeToken(
  db: Db,
  by: { tenantId: string; credentialId: string },
  id: string,
): Promise<boolean> {
  const { tenantId, credentialId } = by;
  const lineage = await rowsOf<{ id: string }>(db, sql`${withLineage(tenantId, id)} select id from lineage`);
  if (!lineage.some((each) => each.id === credentialId))
    throw new TenancyError("NOT_FOUND", "id: this credential has made no token with this public id", "id");
  return revokeKey(db, { id, tenantId, actor: credentialId });
}

/** A credential as shown to its tenant's users, without the secret. */
export interface KeyInfo {
  /** Public id. */
  id: string;
  kind: CredentialKind;
  /** What it is limited to; null if it is not. */
  restrictions: Restrictions | null;
  /** Public id of the credential that it was made from. */
  parentId: string | null;
  name: string;
  createdAt: Date;
  /** Up to a few seconds late; null if it was never used. */
  lastUsedAt: Date | null;
  expiresAt: Date | null;
  revokedAt: Date | null;
  /** Whose it is; null for keys of the team. */
  userId: string | null;
  /** The agent that signed in with it; null for keys. */
  agent: Agent | null;
}

/**
 * Sets what a credential may use; what is absent is not limited any more. Its repositories and scopes stay. Valid within a second. Throws
 * `TenancyError` if the tenant has no such credential that is not revoked.
 */
export async function changeKeyBudget(
  db: Db,
  input: {
    tenantId: string;
    id: string;
    actor: string;
    budget: Pick<Restrictions, "monthlyCredits" | "ratePerMinute">;
  },
): Promise<void> {
  const { tenantId, id, actor, budget } = input;
  const { monthlyCredits = null, ratePerMinute = null } = budget;
  const details = { changeId: crypto.randomUUID(), credentialId: id, monthlyCredits, ratePerMinute };
  // One without restrictions goes by its plain kind, unless it was made from another one: those are narrow always.
  const rows = await rowsOf<{ id: string }>(
    db,
    sql`
      with found as (
        select id, parent_id, replace(kind, 'narrow_', '') as kind,
          coalesce(restrictions, '{}'::jsonb) - 'monthlyCredits' - 'ratePerMinute' || ${JSON.stringify(budget)}::jsonb as limits
        from credentials where id = ${id} and tenant_id = ${tenantId}::uuid and revoked_at is null for update
      ), changed as (
        update credentials c set
          kind = case when f.limits = '{}'::jsonb and f.parent_id is null then f.kind else 'narrow_' || f.kind end,
          restrictions = case when f.limits = '{}'::jsonb and f.parent_id is null then null else f.limits end
        from found f where c.id = f.id returning c.id
      ), audited as (
        ${auditInsert({ event: "KEY_BUDGET_CHANGED", tenantId, actor, details }, sql`changed`)}
      ) select id from changed`,
  );
  if (rows.length === 0) throw new TenancyError("NOT_FOUND", "there is no such key, or it is revoked");
}

/**
 * Revokes a credential by its public id, permanently. Returns false if it was already revoked. Throws `TenancyError` if there is no
 * such credential, or if it is not of the kind, the tenant or the member given.
 */
export async function revokeKey(
  db: Db,
  input: { id: string; kind?: CredentialKind; tenantId?: string; userId?: string; actor?: string },
): Promise<boolean> {
  const { id, kind, tenantId, userId, actor = ADMIN_ACTOR } = input;
  const [key] = await db
    .select({ tenantId: credentials.tenantId, kind: credentials.kind, revokedAt: credentials.revokedAt })
    .from(credentials)
    .where(
      and(
        eq(credentials.id, id),
        kind && inArray(credentials.kind, [kind, `narrow_${kind}`]),
        tenantId === undefined ? undefined : eq(credentials.tenantId, tenantId),
        userId === undefined ? undefined : eq(credentials.userId, userId),
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
  const details = { credentialId: id, kind: kindOf(key.kind) };
  await db.batch([
    db
      .update(credentials)
      .set({ revokedAt: new Date() })
      .where(and(eq(credentials.id, id), isNull(credentials.revokedAt))),
    recordAuditStatement(db, { event: "KEY_REVOKED", tenantId: key.tenantId, actor, details }),
  ]);
  return true;
}
