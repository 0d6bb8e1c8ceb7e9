/** The table of credentials: keys of teams and of their members, and the agents that members have connected. */
import { sql } from "drizzle-orm";
import { type AnyPgColumn, check, foreignKey, index, jsonb, pgTable, text, timestamp, uuid } from "drizzle-orm/pg-core";
import type { Restrictions } from "../../contract/credentials.ts";
import { bytea, createdAt } from "./columns.ts";
import { memberships } from "./people-schema.ts";
import { tenants } from "./schema.ts";

/** A client that a member has signed in to. */
export interface Agent {
  /** Its OAuth client id: an address (CIMD), or what registration gave it. */
  clientId: string;
  /** Host to which it had itself sent back. */
  host: string;
}

/** API keys and worker tokens. Only the SHA-256 of the secret part is kept. */
export const credentials = pgTable(
  "credentials",
  {
    id: text("id").primaryKey(),
    tenantId: uuid("tenant_id")
      .notNull()
      .references(() => tenants.id, { onDelete: "cascade" }),
    /**
     * A narrow credential has a kind of its own, so that a release which does not know restrictions (`deploy rollback`) refuses it instead of
     * taking it for an unrestricted one.
     */
    kind: text("kind", { enum: ["api_key", "worker_token", "narrow_api_key", "narrow_worker_token"] }).notNull(),
    name: text("name").notNull(),
    secretHash: bytea("secret_hash").notNull(),
    createdAt: createdAt(),
    revokedAt: timestamp("revoked_at", { withTimezone: true }),
    /** When it expires; null: never. */
    expiresAt: timestamp("expires_at", { withTimezone: true }),
    /** Mirrored by the tenant's gate with some seconds of delay. */
    lastUsedAt: timestamp("last_used_at", { withTimezone: true }),
    /** See `src/service/tenancy/restrictions.ts`; null for credentials that are not narrow. */
    restrictions: jsonb("restrictions").$type<Restrictions>(),
    /** The credential that it was made from. It is valid only while that one is. */
    parentId: text("parent_id").references((): AnyPgColumn => credentials.id, { onDelete: "cascade" }),
    /** Whose it is: a member's personal key, or the agent that a member has connected; null for keys of the team. */
    userId: uuid("user_id"),
    /** The agent that signed in with it by OAuth; null for keys. */
    agent: jsonb("agent").$type<Agent>(),
  },
  (t) => [
    index("credentials_tenant").on(t.tenantId),
    index("credentials_parent")
      .on(t.parentId, t.expiresAt)
      .where(sql`${t.parentId} is not null`),
    index("credentials_member")
      .on(t.tenantId, t.userId)
      .where(sql`${t.userId} is not null`),
    // Removing a membership deletes the member's credentials in the same statement, even during concurrent changes.
    foreignKey({
      name: "credentials_member",
      columns: [t.tenantId, t.userId],
      foreignColumns: [memberships.tenantId, memberships.userId],
    }).onDelete("cascade"),
    check("credentials_kind", sql`${t.kind} in ('api_key', 'worker_token', 'narrow_api_key', 'narrow_worker_token')`),
    check("credentials_secret_hash", sql`octet_length(${t.secretHash}) = 32`),
  ],
);
