/** The audit feed, with filters and export. */
import { Hono } from "hono";
import {
  AUDIT_PAGE_ROWS,
  type AuditFilter,
  type AuditRow,
  exportAudit,
  findActor,
  listAudit,
  toCsvLine,
} from "../../../service/dashboard/audit.ts";
import { AUDIT_EVENTS } from "../../../service/audit/events.ts";
import { listMembers } from "../../../service/users/index.ts";
import { invalid } from "../app/answers.tsx";
import { type DashboardContext, type DashboardHono, tenantPath } from "../app/context.ts";
import { isUuid } from "../../../lib/uuid.ts";
import { readTime } from "../app/fields.ts";
import { auditSentence, type People } from "../views/audit-sentences.ts";
import { relativeTime } from "../views/format.ts";
import { tenantPage } from "../views/layout.tsx";
import { cursorOf, Pager } from "../views/pager.tsx";
import { Empty, Field, Head, Select } from "../views/parts.tsx";
import { Table } from "../views/table.tsx";

export const auditPages = new Hono<DashboardHono>();
export const auditApi = new Hono<DashboardHono>();

const MAX_ACTOR_CHARACTERS = 100;

auditPages.get("/audit", async (c) => {
  const { tenantId, slug } = c.get("membership");
  const filter = await readFilter(c);
  const [rows, members] = await Promise.all([
    listAudit(c.get("db"), tenantId, filter),
    listMembers(c.get("accounts"), tenantId),
  ]);
  const query = new URL(c.req.url).searchParams;
  query.delete("before");
  const exportUrl = (format: string) => {
    const search = new URLSearchParams(query);
    search.set("format", format);
    return `/app/api/tenants/${slug}/audit/export?${search.toString()}`;
  };
  const isFiltered = [...query.values()].some((value) => value !== "");
  return tenantPage(
    c,
    "audit",
    { title: "Audit log" },
    <>
      <Head
        title="Audit log"
        crumb={<a href={tenantPath(c, "settings")}>Settings</a>}
        text="Who changed what, and which requests were refused. New events appear automatically."
      >
        <a class="button" href={exportUrl("csv")}>
          Export CSV
        </a>
        <a class="button" href={exportUrl("json")}>
          Export JSON lines
        </a>
      </Head>
      <section class="panel">
        <form method="get" class="filters" aria-label="Filter">
          <div class="row">
            <Select
              label="Event"
              name="event"
              value={filter.event}
              options={[["", "all"], ...AUDIT_EVENTS.map((event) => [event, event] as const)]}
            />
            <div class="field fit">
              <label for="field-actor">Who</label>
              <input
                id="field-actor"
                type="text"
                name="actor"
                list="actors"
                value={c.req.query("actor")?.trim() ?? ""}
                placeholder="name, address or key"
                maxlength={MAX_ACTOR_CHARACTERS}
              />
              <datalist id="actors">
                {members.map((member) => (
                  <option value={member.email}>{member.name ?? member.email}</option>
                ))}
                <option value="admin" />
                <option value="system" />
              </datalist>
            </div>
            <Field label="From (UTC)" name="from" type="datetime-local" value={c.req.query("from") ?? ""} fit />
            <Field label="To (UTC)" name="to" type="datetime-local" value={c.req.query("to") ?? ""} fit />
            <button type="submit">Filter</button>
            {isFiltered && (
              <a class="button quiet" href={tenantPath(c, "audit")}>
                Clear
              </a>
            )}
          </div>
        </form>
        <div id="events" aria-live="polite" {...(filter.before === undefined ? { "data-refresh": "4" } : {})}>
          {rows.length === 0 ? (
            <Empty title={isFiltered ? "Nothing matches" : "Nothing happened yet"}>
              <p>This log records changes of keys, members, repositories and settings, and refused requests.</p>
            </Empty>
          ) : (
            <EventTable
              rows={rows}
              runsPath={tenantPath(c, "runs")}
              repositoriesPath={tenantPath(c, "repositories")}
              people={new Map(members.map((member) => [member.userId, member.email]))}
            />
          )}
        </div>
        <Pager
          c={c}
          page="audit"
          before={filter.before}
          last={rows.length < AUDIT_PAGE_ROWS ? undefined : rows.at(-1)?.id}
        />
      </section>
    </>,
  );
});

function EventTable({
  rows,
  runsPath,
  repositoriesPath,
  people,
}: {
  rows: AuditRow[];
  runsPath: string;
  repositoriesPath: string;
  people: People;
}) {
  const linkOf = (name: string, value: unknown): string | undefined => {
    if (typeof value !== "string" || !isUuid(value)) return undefined;
    return name === "runId"
      ? `${runsPath}/${value}`
      : name === "workspaceId"
        ? `${repositoriesPath}/${value}`
        : undefined;
  };
  return (
    <Table label="Events" headings={["When (UTC)", "Who", "What", "Event"]}>
      {rows.map((row) => (
        <tr>
          <td class="nowrap">
            <time datetime={new Date(row.at).toISOString()} title={relativeTime(new Date(row.at), Date.now())}>
              {new Date(row.at).toISOString().slice(0, 19).replace("T", " ")}
            </time>
          </td>
          <td class="who">
            <a href={`?actor=${encodeURIComponent(row.actor)}`} title={row.actorName ?? row.actor}>
              {row.actorName ?? shortActor(row.actor)}
            </a>
          </td>
          <th scope="row" class="plain">
            {auditSentence(row.event, row.details, people) ?? "did what the details say"}
          </th>
          <td class="wide small">
            <details id={`event-${row.id}`}>
              <summary>
                <span class={TONES[row.event] ?? "tag"}>{row.event}</span>
              </summary>
              {Object.entries(row.details).map(([name, value]) => {
                const link = linkOf(name, value);
                const text = typeof value === "string" ? value : JSON.stringify(value);
                return (
                  <span>
                    <span class="soft">{name}</span> {link === undefined ? text : <a href={link}>{text}</a>}{" "}
                  </span>
                );
              })}
            </details>
          </td>
        </tr>
      ))}
    </Table>
  );
}

const TONES: Record<string, string> = {
  RATE_LIMITED: "tag warn",
  INDEX_RUN_FAILED: "tag bad",
  SNAPSHOT_FAILED: "tag bad",
  KEY_REVOKED: "tag warn",
  MEMBER_REMOVED: "tag warn",
  WORKSPACE_DELETED: "tag warn",
};

function shortActor(actor: string): string {
  return actor.length > 24 ? `…${actor.slice(-8)}` : actor;
}

auditApi.get("/audit", async (c) => {
  const events = await listAudit(c.get("db"), c.get("membership").tenantId, await readFilter(c));
  return c.json({ ok: true, events, next: events.length < AUDIT_PAGE_ROWS ? null : (events.at(-1)?.id ?? null) });
});

auditApi.get("/audit/export", async (c) => {
  const format = c.req.query("format") ?? "csv";
  if (format !== "csv" && format !== "json") throw invalid("format", "expected csv or json");
  const pages = exportAudit(c.get("db"), c.get("membership").tenantId, await readFilter(c));
  const encoder = new TextEncoder();
  const toLine = format === "csv" ? toCsvLine : (row: AuditRow) => `${JSON.stringify(row)}\n`;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      if (format === "csv") controller.enqueue(encoder.encode("at,event,actor,actorName,details\r\n"));
    },
    pull: async (controller) => {
      const { value, done } = await pages.next();
      if (done === true) controller.close();
      else controller.enqueue(encoder.encode(value.map(toLine).join("")));
    },
  });
  const name = `audit-${c.get("membership").slug}-${new Date().toISOString().slice(0, 10)}.${format === "csv" ? "csv" : "jsonl"}`;
  return c.body(body, 200, {
    "Content-Type": format === "csv" ? "text/csv; charset=utf-8" : "application/x-ndjson",
    "Content-Disposition": `attachment; filename="${name}"`,
  });
});

async function readFilter(c: DashboardContext): Promise<AuditFilter> {
  const text = (name: string) => c.req.query(name)?.trim() || undefined;
  const event = text("event");
  const actor = text("actor");
  if (actor !== undefined && (actor.length > MAX_ACTOR_CHARACTERS || actor.includes("\0")))
    throw invalid("actor", "expected the name or address of a person, or the name of a key");
  return {
    event: event === undefined ? undefined : AUDIT_EVENTS.find((known) => known === event),
    actor: actor === undefined ? undefined : await findActor(c.get("db"), c.get("membership").tenantId, actor),
    from: readTime(c, "from"),
    to: readTime(c, "to"),
    before: cursorOf(c, "before"),
  };
}
