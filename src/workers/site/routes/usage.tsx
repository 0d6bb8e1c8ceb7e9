/** Usage against the quota, and the limits. */
import { Hono } from "hono";
import { SURFACES, type Surface } from "../../../contract/surfaces.ts";
import { type DayUsage, projectMonth, readUsage, type UsageReport } from "../../../service/dashboard/usage.ts";
import { flushUsage, usage as readGate } from "../../../service/gate/client.ts";
import { type DashboardContext, type DashboardHono, tenantPath } from "../app/context.ts";
import { DayBars, MonthLine, type Point } from "../views/charts.tsx";
import { formatCount, isoDay } from "../views/format.ts";
import { tenantPage } from "../views/layout.tsx";
import { Head, Panel } from "../views/parts.tsx";
import { Table } from "../views/table.tsx";
import { SharePanels } from "../views/usage-shares.tsx";

export const usagePages = new Hono<DashboardHono>();
export const usageApi = new Hono<DashboardHono>();

const DAY_MS = 86_400_000;
const DAYS_SHOWN = 30;

/**
 * The month's figures from the gate, or from the mirror if the gate does not answer. Figures of a month only grow, so the larger one
 * is the newer: a gate that has just started may not have read the database yet.
 */
async function currentUsage(c: DashboardContext, nowMs: number): Promise<UsageReport> {
  const { tenantId } = c.get("membership");
  await flushUsage(c.env.TENANT_GATE, tenantId);
  const [report, gate] = await Promise.all([
    readUsage(c.get("db"), tenantId, nowMs),
    readGate(c.env.TENANT_GATE, tenantId),
  ]);
  if (!("periodStart" in gate)) return report;
  const { month } = report;
  const calls = Object.fromEntries(
    Object.entries(gate.calls).map(([kind, count]) => [kind, Math.max(count, month.calls[kind] ?? 0)]),
  );
  return {
    ...report,
    month: {
      limit: month.limit,
      credits: Math.max(month.credits, gate.used),
      embedTokens: Math.max(month.embedTokens, gate.embedTokens),
      rerankTokens: Math.max(month.rerankTokens, gate.rerankTokens),
      indexTokens: Math.max(month.indexTokens, gate.indexTokens),
      calls,
    },
  };
}

/** Sums by day, with zeros for days without usage. */
function byDay(days: DayUsage[], value: (day: DayUsage) => number, firstMs: number, count: number): Point[] {
  const sums = new Map<string, number>();
  for (const day of days) sums.set(day.day, (sums.get(day.day) ?? 0) + value(day));
  return Array.from({ length: count }, (_, i) => {
    const day = isoDay(new Date(firstMs + i * DAY_MS));
    return { day, value: sums.get(day) ?? 0 };
  });
}

usagePages.get("/usage", async (c) => {
  const nowMs = Date.now();
  const now = new Date(nowMs);
  const { month, days, keys, repositories } = await currentUsage(c, nowMs);
  const todayMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
  const credits = byDay(days, (day) => day.credits, todayMs - (DAYS_SHOWN - 1) * DAY_MS, DAYS_SHOWN);
  const calls = byDay(days, (day) => day.calls, todayMs - (DAYS_SHOWN - 1) * DAY_MS, DAYS_SHOWN);
  const monthStartMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1);
  const daysInMonth = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 0)).getUTCDate();
  let sum = 0;
  const cumulative = byDay(days, (day) => day.credits, monthStartMs, now.getUTCDate()).map(({ day, value }) => ({
    day,
    value: (sum += value),
  }));
  // The gate's figure includes the last seconds, which the days lack.
  const lastDay = cumulative.at(-1);
  if (lastDay) lastDay.value = Math.max(lastDay.value, month.credits);
  const projected = projectMonth(
    lastDay?.value ?? month.credits,
    new Map(credits.map(({ day, value }) => [day, value])),
    nowMs,
  );
  const used = month.limit === 0 ? 100 : (month.credits / month.limit) * 100;
  return tenantPage(
    c,
    "usage",
    { title: "Usage" },
    <>
      <Head
        title="Usage"
        text="One credit per started 1,000 tokens of embedding and reranking. Hosted indexing is not charged."
      />
      {projected > month.limit && month.credits < month.limit && (
        <p class="notice error" role="status">
          At this rate the quota will be used up before the month ends.
        </p>
      )}
      <div class="cards">
        <div class="card">
          <div class="soft small">Credits this month</div>
          <div class="figure">{formatCount(month.credits)}</div>
          <progress
            max={Math.max(1, month.limit)}
            value={month.credits}
            aria-label={`${used.toFixed(0)} % of the quota used`}
          />
          <div class="soft small">
            of {formatCount(month.limit)} ({used.toFixed(used < 10 ? 1 : 0)} %)
          </div>
        </div>
        <div class="card">
          <div class="soft small">Expected at the month's end</div>
          <div class="figure">{formatCount(projected)}</div>
          <div class="soft small">from the last seven days</div>
        </div>
        <div class="card">
          <div class="soft small">Calls this month</div>
          <div class="figure">{formatCount(Object.values(month.calls).reduce((a, b) => a + b, 0))}</div>
          <div class="soft small">{describeCalls(month.calls)}</div>
        </div>
        <div class="card">
          <div class="soft small">Tokens of hosted indexing</div>
          <div class="figure">{formatCount(month.indexTokens)}</div>
          <div class="soft small">not charged</div>
        </div>
      </div>
      <Panel title="This month against the quota">
        <div class="body">
          <MonthLine points={cumulative} daysInMonth={daysInMonth} limit={month.limit} projected={projected} />
        </div>
      </Panel>
      <Panel title="Credits by day" text="The last 30 days, in UTC.">
        <div class="body">
          <DayBars points={credits} unit="credits" title="Credits by day" />
        </div>
      </Panel>
      <Panel
        title="Requests by day"
        text="Every request with a key or token. Calls are those of them that were answered with an embedding, a ranking, a search, a run or a snapshot, and those of the dashboard and of pushes."
      >
        <div class="body">
          <DayBars points={calls} unit="requests" title="Requests by day" />
        </div>
      </Panel>
      <SharePanels c={c} days={days} keys={keys} repositories={repositories} />
      <LimitsPanel />
    </>,
  );
});

function describeCalls(calls: Record<string, number>): string {
  const parts = Object.entries(calls)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${formatCount(count)} ${kind}`);
  return parts.length === 0 ? "none yet" : parts.join(", ");
}

const LIMIT_TEXTS: Partial<Record<Surface, string>> = {
  metered: "Embed, rerank and usage calls",
  index: "Index runs started",
  index_status: "Status of runs",
  index_snapshot: "Snapshots: probe, pull, publish",
  snapshot: "Snapshot jobs",
  search: "Searches",
  mcp: "MCP tool calls",
  dashboard_read: "Dashboard pages, per person",
  dashboard_mutation: "Dashboard changes, per person",
  sign_in_email: "Sign-in codes, per address",
  invitation: "Invitations",
};

// The page of the limits is a part of this one.
usagePages.get("/limits", (c) => c.redirect(`${tenantPath(c, "usage")}#limits`, 301));

function LimitsPanel() {
  const rows = Object.entries(LIMIT_TEXTS) as [Surface, string][];
  return (
    <div id="limits">
      <Panel
        title="Rate limits"
        text="All keys of the team share these budgets, counted in fixed windows. A refused request's answer says how long to wait."
      >
        <Table label="Rate limits" fits headings={["What", { num: "Requests" }, "In"]}>
          {rows.map(([surface, text]) => (
            <tr>
              <th scope="row">{text}</th>
              <td class="num">{formatCount(SURFACES[surface].limit)}</td>
              <td>{windowText(SURFACES[surface].windowSec)}</td>
            </tr>
          ))}
        </Table>
      </Panel>
    </div>
  );
}

function windowText(seconds: number): string {
  if (seconds === 60) return "a minute";
  return seconds === 3_600 ? "an hour" : `${seconds / 60} minutes`;
}

usageApi.get("/usage", async (c) => {
  const { month, days, keys, repositories } = await currentUsage(c, Date.now());
  const names = Array.from(keys, ([id, { name }]) => [id, name] as const);
  return c.json({ ok: true, month, days, keys: Object.fromEntries(names), repositories });
});
