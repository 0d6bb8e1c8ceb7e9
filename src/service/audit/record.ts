import { type SQL, sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { rowsOf } from "../db/rows.ts";
import { auditEvents } from "../db/records-schema.ts";
import { type AuditEvent, dedupeKeyOf } from "./events.ts";

/**
 * Records an event once. Recording it again changes nothing, except that the count of a `RATE_LIMITED` event grows. Throws
 * database errors.
 */
export async function recordAudit(db: Db, event: AuditEvent): Promise<void> {
  await recordAuditStatement(db, event);
}

/** Whether an event is in the log: one of its name, with the details that identify it. */
export async function isAudited(
  db: Db,
  event: { tenantId: string } & Pick<AuditEvent, "event" | "details">,
): Promise<boolean> {
  const { tenantId } = event;
  const key = dedupeKeyOf(event);
  // The first key from this one on: a planner that does not know the tenant would look for the key itself among all of the tenant's events.
  const rows = await rowsOf(
    db,
    sql`
      select 1 from (
        select tenant_id, dedupe_key from audit_events where (tenant_id, dedupe_key) >= (${tenantId}::uuid, ${key})
        order by tenant_id, dedupe_key limit 1) e
      where tenant_id = ${tenantId}::uuid and dedupe_key = ${key}`,
  );
  return rows.length > 0;
}

/** `recordAudit` as a statement, to be run in one batch with the change it records. */
export function recordAuditStatement(db: Db, event: AuditEvent) {
  const row = {
    id: crypto.randomUUID(),
    tenantId: event.tenantId,
    at: event.at ?? new Date(),
    event: event.event,
    actor: event.actor,
    dedupeKey: dedupeKeyOf(event),
    details: { ...event.details },
  };
  const grown = sql`${auditEvents.event} = 'RATE_LIMITED' and (${auditEvents.details} ->> 'rejected')::bigint < (excluded.details ->> 'rejected')::bigint`;
  return db
    .insert(auditEvents)
    .values(row)
    .onConflictDoUpdate({
      target: [auditEvents.tenantId, auditEvents.dedupeKey],
      set: { details: sql`excluded.details` },
      setWhere: grown,
    });
}

/**
 * Insert of a new event in a statement with the change it records: one event per row of `source`, the name of a common table
 * expression. `details` is added to the event's details.
 */
export function auditInsert(event: AuditEvent, source: SQL, details: SQL = sql`'{}'::jsonb`): SQL {
  return sql`
    insert into audit_events (id, tenant_id, at, event, actor, dedupe_key, details)
    select gen_random_uuid(), ${event.tenantId}::uuid, now(), ${event.event}, ${event.actor}, ${dedupeKeyOf(event)},
      ${JSON.stringify(event.details)}::jsonb || ${details} from ${source}`;
}
