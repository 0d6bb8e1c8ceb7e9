/** What the `list` commands of `npm run admin` show, the oldest rows first. Hashes of credentials are not selected. */
import { and, asc, count, eq, inArray } from "drizzle-orm";
import type { Db } from "../../../service/db/client.ts";
import { credentials } from "../../../service/db/credentials-schema.ts";
import { memberships, users } from "../../../service/db/people-schema.ts";
import { tenants, workspaces } from "../../../service/db/schema.ts";
import type { CredentialKind } from "../../../service/tenancy/index.ts";

/** Maximum rows of a list. */
export const MAX_ROWS = 1_000;

/** A row of a list, or the result of another command. */
export type Row = Record<string, string | number | boolean | null>;

export async function listTenants(db: Db): Promise<Row[]> {
  const found = await db
    .select({
      tenantId: tenants.id,
      name: tenants.name,
      monthlyCredits: tenants.monthlyCredits,
      sharedIndex: tenants.sharedIndex,
      members: count(memberships.userId),
      createdAt: tenants.createdAt,
    })
    .from(tenants)
    .leftJoin(memberships, eq(memberships.tenantId, tenants.id))
    .groupBy(tenants.id)
    .orderBy(asc(tenants.createdAt), asc(tenants.id))
    .limit(MAX_ROWS);
  return found.map(withTimes);
}

export async function listWorkspaces(db: Db, tenantId: string): Promise<Row[]> {
  const found = await db
    .select({
      workspaceId: workspaces.id,
      repo: workspaces.repo,
      defaultBranch: workspaces.defaultBranch,
      createdAt: workspaces.createdAt,
    })
    .from(workspaces)
    .where(eq(workspaces.tenantId, tenantId))
    .orderBy(asc(workspaces.createdAt), asc(workspaces.id))
    .limit(MAX_ROWS);
  return found.map(withTimes);
}

/** The members of a tenant, or of all: a row for each membership, by address. */
export function listUsers(db: Db, tenantId?: string): Promise<Row[]> {
  return db
    .select({ email: users.email, role: memberships.role, tenantId: memberships.tenantId, userId: users.id })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(tenantId === undefined ? undefined : eq(memberships.tenantId, tenantId))
    .orderBy(asc(users.email), asc(memberships.tenantId))
    .limit(MAX_ROWS);
}

/** The API keys or worker tokens of a tenant, with revoked and expired ones. `email` is that of the member whose key it is. */
export async function listCredentials(db: Db, tenantId: string, kind: CredentialKind): Promise<Row[]> {
  const found = await db
    .select({
      id: credentials.id,
      name: credentials.name,
      email: users.email,
      createdAt: credentials.createdAt,
      expiresAt: credentials.expiresAt,
      lastUsedAt: credentials.lastUsedAt,
      revokedAt: credentials.revokedAt,
    })
    .from(credentials)
    .leftJoin(users, eq(users.id, credentials.userId))
    .where(and(eq(credentials.tenantId, tenantId), inArray(credentials.kind, [kind, `narrow_${kind}`])))
    .orderBy(asc(credentials.createdAt), asc(credentials.id))
    .limit(MAX_ROWS);
  return found.map(withTimes);
}

/** A row whose times are ISO 8601. */
function withTimes(row: Record<string, Row[string] | Date>): Row {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => [column, value instanceof Date ? value.toISOString() : value]),
  );
}
