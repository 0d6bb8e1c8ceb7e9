import { rowsOf } from "../../../src/service/db/rows.ts";
import { sql } from "drizzle-orm";
import type { Role } from "../../../src/service/db/people-schema.ts";
import { addUser } from "../../../src/service/users/index.ts";
import { createTenant, db } from "../support/tenants.ts";

export const KEY = Buffer.alloc(32, 7).toString("base64");

export const newEmail = (): string => `${crypto.randomUUID()}@example.com`;

/** A tenant with a member of each asked role. */
export async function team<R extends Role>(
  ...roles: R[]
): Promise<{ tenantId: string; people: Record<R, { userId: string; email: string; role: R }> }> {
  const { tenantId } = await createTenant();
  const people = {} as Record<R, { userId: string; email: string; role: R }>;
  for (const role of roles) {
    const email = newEmail();
    people[role] = { ...(await addUser(db, { email, tenantId, role })), email, role };
  }
  return { tenantId, people };
}

/** Audit events of a tenant, in order: event and actor. */
export async function auditOf(tenantId: string): Promise<{ event: string; actor: string }[]> {
  return rowsOf(db, sql`select event, actor from audit_events where tenant_id = ${tenantId} order by at, event`);
}
