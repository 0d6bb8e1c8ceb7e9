import { slugOf } from "./support/agent.ts";
import { sql } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";
import { usageMonths } from "../../src/service/db/records-schema.ts";
import { rowsOf } from "../../src/service/db/rows.ts";
import { seedDashboard } from "../support/dashboard-seed.ts";
import { memberOf, newTeam } from "./support/dashboard.ts";
import { database, newTenant } from "./support/service.ts";

type Member = Awaited<ReturnType<typeof memberOf>>;

describe("the fleet of a team", () => {
  let owner: Member;
  let tenantId: string;
  let pages: string;
  let base: string;
  const LONG = `git.example.com/acme/${"x".repeat(180)}`;

  beforeAll(async () => {
    ({ tenantId } = await newTenant({ name: "Fleet" }));
    const [row] = await rowsOf<{ slug: string }>(database(), sql`select slug from tenants where id = ${tenantId}`);
    owner = await memberOf(tenantId, "owner");
    [pages, base] = [`/app/${row?.slug}`, `/app/api/tenants/${row?.slug}`];
    await database().execute(sql`delete from workspaces where tenant_id = ${tenantId}`);
    await seedDashboard(database(), tenantId, `user:${owner.userId}`, {
      workspaces: 120,
      runs: 240,
      auditEvents: 1,
      days: 1,
    });
    await database().execute(
      sql`update workspaces set repo = ${LONG} where tenant_id = ${tenantId} and repo = 'github.com/acme/api'`,
    );
  });

  /** Names of the repositories on a page of the list. */
  const names = async (query: string) =>
    Array.from(
      (await owner.page(`${pages}/repositories${query}`)).matchAll(/class="clip"[^>]*title="([^"]+)"/g),
      ([, name]) => name ?? "",
    );

  it("lists failures first with their reasons, and pages without gaps", async () => {
    const html = await owner.page(`${pages}/repositories`);
    expect(html).toContain("the host refused the read token");
    const [failed = "", indexed = ""] = [...html.matchAll(/(?:Failed|Indexed) <span class="soft">(\d+)</g)].map(
      ([, n]) => n,
    );
    expect(Number(failed)).toBeGreaterThan(5);
    const [first, second, third] = await Promise.all(["", "?page=2", "?page=3"].map(names));
    const onFailed = await names("?state=failed");
    expect(first?.slice(0, Number(failed))).toEqual(onFailed);
    const all = new Set([...(first ?? []), ...(second ?? []), ...(third ?? [])]);
    expect(all.size).toBe(120);
    expect(Number(failed) + Number(indexed)).toBe(120);
  });

  it("finds by a part of the name in any case, sorts, and says when there is none", async () => {
    expect(await names("?q=BILLING-1")).toEqual(
      ["github.com/acme/billing-102", "github.com/acme/billing-113", "github.com/acme/billing-14"].toSorted(),
    );
    expect((await names("?order=name"))[0]).toBe("git.example.com/acme/" + "x".repeat(180));
    expect(await owner.page(`${pages}/repositories?q=nothing-of-that-name%25`)).toContain("No such repository");
    expect(await names("?page=99")).toEqual([]);
    for (const query of ["?page=-1", "?page=x", "?state=bad", "?order=bad"])
      expect(await names(query)).toHaveLength(50);
  });

  it("has one list of runs, with filters, and pages without gaps", async () => {
    const ids = async (query: string) =>
      Array.from(
        (await owner.page(`${pages}/runs${query}`)).matchAll(/\/runs\/([\da-f-]{36})"/g),
        ([, id]) => id ?? "",
      );
    const [total] = await rowsOf<{ all: number; failed: number }>(
      database(),
      sql`select count(*)::int as all, (count(*) filter (where state = 'failed'))::int as failed from runs where tenant_id = ${tenantId}`,
    );
    const seen: string[] = [];
    for (let next: string | null = ""; next !== null;) {
      const response = await owner.send(`${base}/runs?before=${next}`);
      const answer = (await response.json()) as { runs: { runId: string }[]; next: string | null };
      seen.push(...answer.runs.map(({ runId }) => runId));
      next = answer.next;
    }
    expect([seen.length, new Set(seen).size]).toEqual([total?.all, total?.all]);
    const failed = await ids("?state=failed");
    expect(failed).toHaveLength(Math.min(50, total?.failed ?? 0));
    expect(await ids("?trigger=hook")).toEqual([]);
    const [run] = await rowsOf<{ id: string; workspaceId: string }>(
      database(),
      sql`select id, workspace_id as "workspaceId" from runs where tenant_id = ${tenantId} and state = 'failed' order by created_at desc limit 1`,
    );
    expect(failed[0]).toBe(run?.id);
    const own = await ids(`?repository=${run?.workspaceId}`);
    expect(own).toHaveLength(2);
    expect(own).toContain(run?.id);
    expect(await ids("?from=2020-01-01T00:00&to=2020-01-02T00:00")).toEqual([]);
    expect(await owner.page(`${pages}/runs?trigger=person`)).toContain("No such run");
  });

  it("has the runs of the repository that is named, by name or id", async () => {
    const [one] = await rowsOf<{ id: string; repo: string }>(
      database(),
      sql`select id, repo from workspaces where tenant_id = ${tenantId} and repo is not null order by repo limit 1`,
    );
    const runsOf = async (repository: string) => {
      const html = await owner.page(`${pages}/runs?${new URLSearchParams({ repository }).toString()}`);
      return {
        shown: new Set(Array.from(html.matchAll(/class="clip" href="[^"]*\/repositories\/([^"]+)"/g), ([, id]) => id)),
        html,
      };
    };
    for (const named of [one?.repo ?? "", one?.id ?? ""]) {
      const { shown, html } = await runsOf(named);
      expect(shown).toEqual(new Set([one?.id]));
      expect(html).toContain(`value="${one?.repo}"`);
    }
    expect((await runsOf("github.com/nobody/nothing")).html).toContain("No such run");
  });

  it("has a page for each run, with the error in words, and figures beside those of the run before", async () => {
    const rows = await rowsOf<{ id: string; state: string }>(
      database(),
      sql`
        select r.id, r.state from runs r where tenant_id = ${tenantId} and request ->> 'ref' is null
          and (state = 'failed' or exists (select 1 from runs e where e.workspace_id = r.workspace_id and e.state = 'succeeded'
            and e.created_at < r.created_at and e.request ->> 'ref' is null)) order by created_at desc`,
    );
    const pageOf = (state: string) => owner.page(`${pages}/runs/${rows.find((row) => row.state === state)?.id}`);
    await database().execute(sql`
      update runs set error = '{"code":"CLONE_FAILED","error":"git: refused","details":{"reason":"AUTH"}}'
      where tenant_id = ${tenantId} and state = 'failed'`);
    const failed = await pageOf("failed");
    expect(failed).toContain("git: refused");
    expect(failed).toContain("Set a read token");
    expect(failed).toContain("Index the default branch again");
    const succeeded = await pageOf("succeeded");
    expect(succeeded).toContain("Compared with the run before");
    expect(succeeded).toContain("Files indexed");
    expect(succeeded).not.toContain("Phases");
    const at = Date.now();
    const history = {
      spans: [
        { phase: "pulling", attempt: 1, from: at - 9_000, to: at - 8_000 },
        { phase: "pulling", attempt: 2, from: at - 5_000, to: at - 1_000 },
      ],
      retries: [
        {
          at: at - 8_000,
          attempt: 1,
          step: "plan",
          action: "restart",
          code: "CLONE_FAILED",
          error: "git: <b>cut</b>",
          reason: "NETWORK",
          waitSec: 3,
        },
      ],
      retryCount: 31,
    };
    await database().execute(
      sql`update runs set history = ${JSON.stringify(history)}::jsonb where tenant_id = ${tenantId} and state = 'failed'`,
    );
    const retried = await pageOf("failed");
    expect(retried).toContain("Pulling, attempt 2");
    expect(retried).toContain("4.0 s");
    expect(retried).toContain("31 times; the last 1 are listed");
    expect(retried).toContain("git: &lt;b&gt;cut&lt;/b&gt;");
    expect(retried).toContain("attempt 2, after a wait of 3 s");
    expect(
      await owner.send(`${pages}/runs/${rows.find(({ state }) => state === "succeeded")?.id}?files=partial&after=%00`),
    ).toMatchObject({ status: 400 });
    const usage = await owner.page(`${pages}/usage`);
    for (const title of ["By person", "By key", "By repository"]) expect(usage).toContain(title);
    expect(usage).toContain(`/runs?repository=`);
    expect(
      (await owner.send(`${pages}/runs/${crypto.randomUUID()}`, { headers: { Accept: "text/html" } })).status,
    ).toBe(404);
  });

  it("indexes the selected repositories, and names those that cannot be", async () => {
    const rows = await rowsOf<{ id: string }>(
      database(),
      sql`select id from workspaces where tenant_id = ${tenantId} and repo like 'github.com/acme/web%' order by repo limit 3`,
    );
    const ids = rows.map(({ id }) => id);
    await database().execute(sql`delete from repository_sources where workspace_id = ${ids[0]}`);
    const answer = await owner.post(`${base}/repositories/index`, { ids });
    expect(answer).toMatchObject({
      status: 202,
      failed: [{ error: "the repository has no source; set its clone address first" }],
    });
    expect(answer["runs"]).toHaveLength(2);
    const form = await owner.send(`${base}/repositories/index`, { form: { all: "on", shown: ids.slice(1).join(" ") } });
    expect(form.status).toBe(303);
    expect(await owner.page(`${pages}/repositories`)).toContain("2 runs are started.");
    for (const bad of [{}, { ids: ["x"] }, { ids: Array.from({ length: 51 }, () => crypto.randomUUID()) }])
      expect(await owner.post(`${base}/repositories/index`, bad)).toMatchObject({
        status: 400,
        details: { issues: [{ path: "ids" }] },
      });
  });
});

describe("several addresses", () => {
  it("are connected in any form, and those that cannot be are named", async () => {
    const { tenantId } = await newTenant({ name: "Several" });
    const owner = await memberOf(tenantId, "owner");
    const [row] = await rowsOf<{ slug: string }>(database(), sql`select slug from tenants where id = ${tenantId}`);
    const to = `/app/api/tenants/${row?.slug}/repositories/several`;
    const urls =
      "git@git.example.com:a/one.git\nhttps://git.example.com/a/two\r\n\nnot an address\ngit.example.com/a/one";
    const form = await owner.send(to, { form: { urls } });
    expect([form.status, form.headers.get("Location")]).toEqual([303, `/app/${row?.slug}/repositories?order=newest`]);
    const html = await owner.page(`/app/${row?.slug}/repositories?order=newest`);
    expect(html).toContain("2 of 3 connected. Not connected: not an address:");
    for (const name of ["one", "two"]) expect(html).toContain(`title="git.example.com/a/${name}"`);
    for (const [fields, field] of [
      [{ urls: " " }, "urls"],
      [{ urls: "git.example.com/a/one" }, "urls"],
      [{ urls: Array.from({ length: 51 }, (_, n) => `git.example.com/a/${n}`).join("\n") }, "urls"],
      [{ urls: "git.example.com/a/x\ngit.example.org/a/x", token: "secret" }, "token"],
    ] as const)
      expect(await owner.post(to, fields)).toMatchObject({ status: 400, details: { issues: [{ path: field }] } });
  });
});

describe("a team's quota", () => {
  it("is on every page from 80 % on", async () => {
    const { tenantId } = await newTenant({ name: "Quota" });
    const member = await memberOf(tenantId, "member");
    const [row] = await rowsOf<{ slug: string }>(
      database(),
      sql`update tenants set monthly_credits = 100 where id = ${tenantId} returning slug`,
    );
    const period = new Date().toISOString().slice(0, 7);
    const unused = { flushSeq: 1, embedTokens: 0, rerankTokens: 0, indexTokens: 0, calls: {} };
    await database()
      .insert(usageMonths)
      .values({ tenantId, period, credits: 79, ...unused });
    for (const [credits, text] of [
      [79, undefined],
      [80, "80 of 100 credits of this month are used. When all are"],
      [100, "100 of 100 credits of this month are used: calls that cost credits are refused until"],
      [105, "105 of 100 credits of this month are used: calls that cost credits are refused until"],
    ] as const) {
      await database().execute(sql`update usage_months set credits = ${credits} where tenant_id = ${tenantId}`);
      for (const page of ["repositories", "usage", "team"]) {
        const html = await member.page(`/app/${row?.slug}/${page}`);
        if (text === undefined) expect(html).not.toContain("quota-banner");
        else expect(html).toContain(text);
      }
    }
  });
});

describe("the members of a large team", () => {
  it("have pages of fifty, and are found on all of them", async () => {
    const { tenantId } = await newTenant({ name: "Large" });
    const owner = await memberOf(tenantId, "owner");
    await database().execute(sql`
      with made as (insert into users (id, email) select gen_random_uuid(), 'p' || i || '-' || ${tenantId} || '@example.com'
        from generate_series(1, 120) i returning id)
      insert into memberships (tenant_id, user_id, role) select ${tenantId}, id, 'member' from made`);
    const page = `/app/${await slugOf(owner)}/team`;
    const addresses = async (query: string) =>
      Array.from(
        (await owner.page(page + query)).matchAll(/<th scope="row">(\S+@example\.com)/g),
        ([, email]) => email,
      );
    const all = [await addresses(""), await addresses("?page=2"), await addresses("?page=3")];
    expect(all.map(({ length }) => length)).toEqual([50, 50, 21]);
    expect(new Set(all.flat()).size).toBe(121);
    expect(await addresses("?page=99")).toEqual(all[2]);
    expect(await addresses("?member=p12-")).toEqual([`p12-${tenantId}@example.com`]);
  });
});

describe("roles of members", () => {
  it("are changed by a button, and those of owners by a question", async () => {
    const { tenantId } = await newTenant({ name: "Roles" });
    const owner = await memberOf(tenantId, "owner");
    const other = await memberOf(tenantId, "owner");
    const member = await memberOf(tenantId, "member");
    const [row] = await rowsOf<{ slug: string }>(database(), sql`select slug from tenants where id = ${tenantId}`);
    const html = await owner.page(`/app/${row?.slug}/team`);
    expect(html).not.toContain("data-submit");
    expect(html).not.toContain(`id="role-${other.userId}"`);
    expect(html).toContain("Make them an admin");
    expect(html).toContain(`id="role-${member.userId}"`);
    const ids = Array.from(html.matchAll(/\sid="([^"]+)"/g), ([, id]) => id);
    expect(ids).toHaveLength(new Set(ids).size);
    // What was typed into one form fills no other.
    const actions = Array.from(html.matchAll(/<form[^>]* action="([^"]+)"/g), ([, action]) => action);
    expect(actions).toHaveLength(new Set(actions).size);
  });
});

describe("how long records are kept", () => {
  it("is chosen by owners and admins, and recorded", async () => {
    const team = await newTeam();
    const days = { runDays: "30", auditDays: "90" };
    expect(await team.owner.post(`${team.base}/settings/retention`, days)).toMatchObject({ status: 200 });
    const short = await team.owner.post(`${team.base}/settings/retention`, { ...days, auditDays: "1" });
    expect(short).toMatchObject({ status: 400, details: { issues: [{ path: "auditDays" }] } });
    const settings = await team.owner.page(`${team.pages}/settings`);
    expect(settings).toMatch(/<option value="30" selected[^>]*>30 days/);
    expect(settings).toMatch(/<option value="90" selected[^>]*>90 days/);
    expect(await team.owner.page(`${team.pages}/audit`)).toContain("set finished runs to be kept for 30 days");
    const member = await memberOf(team.tenantId, "member");
    expect(await member.post(`${team.base}/settings/retention`, days)).toMatchObject({ status: 403 });
    expect(await member.page(`${team.pages}/settings`)).not.toContain("settings/retention");
  });
});
