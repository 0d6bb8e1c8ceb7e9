/** Tables of usage by month and of the audit log. */
import { bigint, index, jsonb, pgTable, primaryKey, text, timestamp, unique, uuid } from "drizzle-orm/pg-core";
import { tenants } from "./schema.ts";

/** Mirror of a tenant gate's counters, as absolute figures. */
export const usageMonths = pgTable(
  "usage_months",
  {
    tenantId: uuid("tenant_id")
      .notNull()
      .references(() => tenants.id, { onDelete: "cascade" }),
    /** UTC month, `YYYY-MM`. */
    period: text("period").notNull(),
    /** Version of the gate's counters; an older flush never overwrites a newer one. */
    flushSeq: bigint("flush_seq", { mode: "number" }).notNull(),
    credits: bigint("credits", { mode: "number" }).notNull(),
    embedTokens: bigint("embed_tokens", { mode: "number" }).notNull(),
    rerankTokens: bigint("rerank_tokens", { mode: "number" }).notNull(),
    indexTokens: bigint("index_tokens", { mode: "number" }).notNull(),
    calls: jsonb("calls").$type<Record<string, number>>().notNull(),
    updatedAt: timestamp("updated_at", { withTimezone: true }).notNull().defaultNow(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.period] }),
    // For the notices, which look at the current month of all tenants.
    index("usage_months_period").on(t.period, t.tenantId),
  ],
);

/**
 * Credits that were used this month in teams that have been deleted. They count against the next teams of the same account, so that
 * deleting a team does not renew its quota.
 */
export const accountCredits = pgTable(
  "account_credits",
  {
    userId: uuid("user_id").notNull(),
    /** The deleted team, so that a repeated deletion counts once; random for a remainder. */
    tenantId: uuid("tenant_id").notNull(),
    /** UTC month, `YYYY-MM`. */
    period: text("period").notNull(),
    credits: bigint("credits", { mode: "number" }).notNull(),
  },
  (t) => [primaryKey({ columns: [t.userId, t.period, t.tenantId] })],
);

export const auditEvents = pgTable(
  "audit_events",
  {
    id: uuid("id").primaryKey(),
    tenantId: uuid("tenant_id")
      .notNull()
      .references(() => tenants.id, { onDelete: "cascade" }),
    at: timestamp("at", { withTimezone: true }).notNull(),
    event: text("event").notNull(),
    /** Public id of the credential, or `admin` / `system`. */
    actor: text("actor").notNull(),
    /** Identifies the event: a second write with the same key replaces the counts of the first. */
    dedupeKey: text("dedupe_key").notNull(),
    details: jsonb("details").$type<Record<string, unknown>>().notNull(),
  },
  (t) => [
    unique("audit_events_dedupe").on(t.tenantId, t.dedupeKey),
    // One index for each filter of the feed, in the feed's order.
    index("audit_events_tenant_at").on(t.tenantId, t.at, t.id),
    // For the sweep. BRIN suits rows that arrive in order of time, and the planner never uses it for pages of the feed.
    index("audit_events_time").using("brin", t.at),
    index("audit_events_tenant_event").on(t.tenantId, t.event, t.at, t.id),
    index("audit_events_tenant_actor").on(t.tenantId, t.actor, t.at, t.id),
  ],
);

/** Tenants that were erased, and what of theirs outside of Postgres is or was to be removed. Has no reference to `tenants`: those rows are gone. */
export const erasures = pgTable("erasures", {
  tenantId: uuid("tenant_id").primaryKey(),
  requestedAt: timestamp("requested_at", { withTimezone: true }).notNull().defaultNow(),
  workspaceIds: jsonb("workspace_ids").$type<string[]>().notNull(),
  /** Prefixes of keys in the two buckets. */
  prefixes: jsonb("prefixes").$type<string[]>().notNull(),
  finishedAt: timestamp("finished_at", { withTimezone: true }),
  /** Counts of what was removed; null until it is finished. */
  report: jsonb("report").$type<Record<string, number>>(),
});
