/** The tables of what has happened: usage by month, and the audit log. */
import { bigint, index, jsonb, pgTable, primaryKey, text, timestamp, unique, uuid } from "drizzle-orm/pg-core";
import { tenants } from "./schema.ts";

/** Mirror of a tenant gate's counters: absolute figures, replaced only by a later flush. */
export const usageMonths = pgTable(
  "usage_months",
  {
    tenantId: uuid("tenant_id")
      .notNull()
      .references(() => tenants.id, { onDelete: "cascade" }),
    /** UTC month, `YYYY-MM`. */
    period: text("period").notNull(),
    /** Counts up with every flush of the gate; an older flush never overwrites a newer one. */
    flushSeq: bigint("flush_seq", { mode: "number" }).notNull(),
    credits: bigint("credits", { mode: "number" }).notNull(),
    embedTokens: bigint("embed_tokens", { mode: "number" }).notNull(),
    rerankTokens: bigint("rerank_tokens", { mode: "number" }).notNull(),
    indexTokens: bigint("index_tokens", { mode: "number" }).notNull(),
    calls: jsonb("calls").$type<Record<string, number>>().notNull(),
    updatedAt: timestamp("updated_at", { withTimezone: true }).notNull().defaultNow(),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.period] })],
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
    /** Same key, same event: a second write replaces the counts of the first. */
    dedupeKey: text("dedupe_key").notNull(),
    details: jsonb("details").$type<Record<string, unknown>>().notNull(),
  },
  (t) => [
    unique("audit_events_dedupe").on(t.tenantId, t.dedupeKey),
    // One for each way that the feed is filtered, each in the order in which it is read.
    index("audit_events_tenant_at").on(t.tenantId, t.at, t.id),
    // For the sweep. BRIN suits rows that come in order of time, and pages of the feed are never read by it.
    index("audit_events_time").using("brin", t.at),
    index("audit_events_tenant_event").on(t.tenantId, t.event, t.at, t.id),
    index("audit_events_tenant_actor").on(t.tenantId, t.actor, t.at, t.id),
  ],
);
