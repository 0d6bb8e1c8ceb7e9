import { type SQL, sql } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";
import { auditQuery } from "../../../src/service/dashboard/audit.ts";
import {
  namedRepositoriesQuery,
  repositoriesQuery,
  repositoryNamesQuery,
  runsQuery,
} from "../../../src/service/dashboard/repositories.ts";
import { rowsOf } from "../../../src/service/db/rows.ts";
import { seedDashboard } from "../../support/dashboard-seed.ts";
import { createTenant, db } from "../support/tenants.ts";

interface Plan {
  "Node Type": string;
  "Index Name"?: string;
  "Relation Name"?: string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  Plans?: Plan[];
}

/** The plan of a query with what each node read. */
async function explain(query: SQL): Promise<Plan[]> {
  const rows = await rowsOf<{ "QUERY PLAN": [{ Plan: Plan }] }>(db, sql`explain (analyze, format json) ${query}`);
  const flatten = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(flatten)];
  const root = rows[0]?.["QUERY PLAN"][0].Plan;
  return root ? flatten(root) : [];
}

/** Rows that a plan has taken from a table, dropped ones among them. */
const read = (plan: Plan[], table: string) =>
  plan
    .filter((node) => node["Relation Name"] === table)
    .reduce(
      (sum, node) => sum + (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0)) * node["Actual Loops"],
      0,
    );

describe("a page of a large tenant", () => {
  let tenantId: string;
  let workspaceId: string;
  beforeAll(async () => {
    // Beside it another large one, so that a plan that reads all of the table shows.
    for (let i = 0; i < 2; i++) {
      ({ tenantId } = await createTenant());
      await seedDashboard(db, tenantId, "user:someone", {
        workspaces: 100,
        runs: 3_000,
        auditEvents: 20_000,
        days: 30,
      });
    }
    const [row] = await rowsOf<{ id: string }>(
      db,
      sql`select id from workspaces where tenant_id = ${tenantId} limit 1`,
    );
    workspaceId = row?.id ?? "";
    // One busy workspace: with a few dozen rows, sorting all of them is as cheap as an index and the plan is a toss-up.
    await db.execute(
      sql`update runs set workspace_id = ${workspaceId} where tenant_id = ${tenantId} and state = 'succeeded'`,
    );
    await db.execute(sql`analyze`);
  });

  it.each([
    ["the audit feed", {}],
    ["one event", { event: "KEY_CREATED" }],
    ["one actor", { actor: "system" }],
    ["a range of time", { from: new Date(Date.now() - 86_400_000), to: new Date() }],
  ])("of %s reads its rows by an index, in their order", async (_name, filter) => {
    const first = await explain(auditQuery(tenantId, filter, 50));
    expect(read(first, "audit_events")).toBeLessThanOrEqual(60);
    expect(
      first.some((node) => node["Node Type"].includes("Seq Scan") && node["Relation Name"] === "audit_events"),
    ).toBe(false);
    const [middle] = await rowsOf<{ id: string }>(
      db,
      sql`select id from audit_events where tenant_id = ${tenantId} order by at desc offset 500 limit 1`,
    );
    const later = await explain(auditQuery(tenantId, { ...filter, before: middle?.id }, 50));
    expect(read(later, "audit_events")).toBeLessThanOrEqual(60);
  });

  it("of runs reads its rows by an index", async () => {
    const plan = await explain(runsQuery(workspaceId, undefined, 20));
    expect(read(plan, "runs")).toBeLessThanOrEqual(21);
  });

  it("of repositories reads one run of each, however many there are", async () => {
    const plan = await explain(repositoriesQuery(tenantId, {}, 50));
    // One of each for its state, and once more for those of the page.
    expect(read(plan, "runs")).toBeLessThanOrEqual(150);
    expect(read(plan, "revisions")).toBeLessThanOrEqual(400);
  });

  it("of repositories by name reads those that are named", async () => {
    await db.execute(
      sql`insert into workspaces (id, tenant_id, repo) select gen_random_uuid(), ${tenantId}::uuid, 'github.com/other/' || i from generate_series(1, 5000) i`,
    );
    await db.execute(sql`analyze workspaces`);
    const one = await explain(namedRepositoriesQuery(tenantId, ["github.com/a", "github.com/other/7", workspaceId]));
    expect(read(one, "workspaces")).toBeLessThanOrEqual(10);
    expect(read(await explain(repositoryNamesQuery(tenantId)), "workspaces")).toBeLessThanOrEqual(6_000);
  });
});
