/** The audit feed: a tenant's events, filtered and paged by key. */
import { type SQL, sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { rowsOf } from "../db/rows.ts";

export interface AuditFilter {
  event?: string | undefined;
  /** Id of the actor. */
  actor?: string | undefined;
  /** First and last moment, inclusive. */
  from?: Date | undefined;
  to?: Date | undefined;
  /** Id of the previous page's last event. */
  before?: string | undefined;
}

export interface AuditRow {
  id: string;
  at: string;
  event: string;
  actor: string;
  /** E-mail address of the user, or name of the credential. */
  actorName: string | null;
  details: Record<string, unknown>;
}

export const AUDIT_PAGE_ROWS = 50;
const EXPORT_PAGE_ROWS = 1_000;
/** Row limit of an export. */
const MAX_EXPORT_ROWS = 100_000;

/**
 * Query of a page of events, newest first. Each filter has an index in this order, so a page reads only its own rows. The actors are
 * looked up by their keys, one by one: with a join PostgreSQL may read all people instead.
 */
export function auditQuery(tenantId: string, filter: AuditFilter, limit: number): SQL {
  const conditions = [sql`e.tenant_id = ${tenantId}`];
  if (filter.event !== undefined) conditions.push(sql`e.event = ${filter.event}`);
  if (filter.actor !== undefined) conditions.push(sql`e.actor = ${filter.actor}`);
  if (filter.from) conditions.push(sql`e.at >= ${filter.from.toISOString()}::timestamptz`);
  if (filter.to) conditions.push(sql`e.at <= ${filter.to.toISOString()}::timestamptz`);
  if (filter.before !== undefined) {
    conditions.push(
      sql`(e.at, e.id) < (select at, id from audit_events where id = ${filter.before} and tenant_id = ${tenantId})`,
    );
  }
  return sql`
    with page as (
      select e.id, e.at, e.event, e.actor, e.details,
        case when e.actor ~ '^user:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then substr(e.actor, 6)::uuid end as user_id
      from audit_events e
      where ${sql.join(conditions, sql` and `)}
      order by e.at desc, e.id desc limit ${limit}
    )
    select page.id, page.at, page.event, page.actor, page.details, coalesce(
        (select coalesce(u.name, u.email) from users u where u.id = page.user_id),
        (select k.name from credentials k where k.id = page.actor)
      ) as "actorName"
    from page order by page.at desc, page.id desc`;
}

/**
 * Id of the actor that a text means: the e-mail address of a person, the name of a member or of a key (of one of them, if several share
 * it), else the text itself.
 */
export async function findActor(db: Db, tenantId: string, text: string): Promise<string> {
  const [found] = await rowsOf<{ actor: string }>(db, actorsQuery(tenantId, text));
  return found?.actor ?? text;
}

/** See {@link findActor}. */
function actorsQuery(tenantId: string, text: string): SQL {
  return sql`
    (select 'user:' || id as actor from users where email = ${text.toLowerCase()})
    union all
    (select 'user:' || u.id from memberships m join users u on u.id = m.user_id where m.tenant_id = ${tenantId} and u.name = ${text} limit 1)
    union all
    (select id from credentials where tenant_id = ${tenantId} and name = ${text} limit 1)`;
}

/** See {@link auditQuery}. */
export function listAudit(db: Db, tenantId: string, filter: AuditFilter, limit = AUDIT_PAGE_ROWS): Promise<AuditRow[]> {
  return rowsOf<AuditRow>(db, auditQuery(tenantId, filter, limit));
}

/** Yields all events of a filter page by page, newest first, up to {@link MAX_EXPORT_ROWS}. */
export async function* exportAudit(db: Db, tenantId: string, filter: AuditFilter): AsyncGenerator<AuditRow[]> {
  let before = filter.before;
  for (let count = 0; count < MAX_EXPORT_ROWS; count += EXPORT_PAGE_ROWS) {
    const rows = await listAudit(db, tenantId, { ...filter, before }, EXPORT_PAGE_ROWS);
    if (rows.length > 0) yield rows;
    if (rows.length < EXPORT_PAGE_ROWS) return;
    before = rows.at(-1)?.id;
  }
}

/** Formats an event as CSV (RFC 4180). An apostrophe is put before text that a spreadsheet would run as a formula. */
export function toCsvLine({ at, event, actor, actorName, details }: AuditRow): string {
  const cells = [new Date(at).toISOString(), event, actor, actorName ?? "", JSON.stringify(details)];
  return `${cells.map(toCell).join(",")}\r\n`;
}

function toCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}
