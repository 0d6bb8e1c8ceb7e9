import { readdirSync, readFileSync } from "node:fs";
import { sql } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";
import { rowsOf } from "../../src/service/db/rows.ts";
import { connectRepository } from "../../src/service/sources/sources.ts";
import { createHook } from "../../src/service/hooks/manage.ts";
import { githubApps } from "../../src/service/db/github-schema.ts";
import { runs } from "../../src/service/db/schema.ts";
import { invite } from "../../src/service/users/index.ts";
import { type DashboardRequest, mailOf, memberOf, newEmail, newTeam, Profile, type Team } from "./support/dashboard.ts";
import { api, database, service } from "./support/service.ts";

const PAGES = ["repositories", "repositories/new", "connect", "keys", "team", "usage", "audit", "settings"];

describe("pages", () => {
  let team: Team;
  beforeAll(async () => {
    team = await newTeam();
  });

  it("show an empty team what it can do, and stay small", async () => {
    const fresh = await new Profile().signIn(newEmail());
    const { slug } = await fresh.post("/app/api/tenants", { name: "Fresh" });
    for (const page of PAGES) expect(await fresh.page(`/app/${String(slug)}/${page}`)).toContain("</html>");
    const overview = await fresh.page(`/app/${String(slug)}`);
    expect(overview).toContain("Make an API key");
    expect(overview).toContain("0 of 10,000 credits are used");
    for (const [old, to] of [
      ["start", ""],
      ["limits", "/usage#limits"],
    ]) {
      const moved = await fresh.send(`/app/${String(slug)}/${old}`, { headers: { Accept: "text/html" } });
      expect([moved.status, moved.headers.get("Location")]).toEqual([301, `/app/${String(slug)}${to}`]);
    }
    const html = await fresh.page(`/app/${String(slug)}/repositories`);
    expect(html).toContain("No repository yet");
    const assets = [...html.matchAll(/(?:href|src)="(\/app\/assets\/[^"]+)"/g)].map(([, asset]) => asset ?? "");
    const bodies = await Promise.all(
      [...new Set(assets)].map(async (asset) => Buffer.from(await (await fresh.send(asset)).arrayBuffer())),
    );
    const { gzipSync } = await import("node:zlib");
    const compressed = [Buffer.from(html), ...bodies].reduce((sum, body) => sum + gzipSync(body).length, 0);
    expect(compressed).toBeLessThanOrEqual(60_000);
  });

  it("are there for members, without the means to change anything", async () => {
    const member = await memberOf(team.tenantId, "member");
    const managed = ["repositories/new", "repositories/several", "github"];
    for (const page of managed) expect((await member.send(`${team.pages}/${page}`)).status).toBe(403);
    const open = [...PAGES, "runs", "search", `repositories/${team.workspaceId}`];
    for (const page of open.filter((one) => !managed.includes(one))) {
      const html = await member.page(`${team.pages}/${page}`);
      if (page === "keys") expect(html).not.toContain("New key");
      if (page === "team") expect(html).not.toContain("Invite people");
      // No form that would refuse them.
      for (const [, action = ""] of html.matchAll(/<form method="post" action="([^"]+)"/g))
        expect([page, action]).toEqual([page, expect.stringMatching(/\/(?:keys|leave|sign-out)$/)]);
    }
    await database()
      .insert(runs)
      .values({
        id: crypto.randomUUID(),
        tenantId: team.tenantId,
        workspaceId: team.workspaceId,
        kind: "index",
        state: "failed",
        request: {},
        error: { code: "GIT_AUTH", error: "the host refused the token" },
        finishedAt: new Date(),
      });
    for (const [profile, mends] of [
      [member, false],
      [team.owner, true],
    ] as const) {
      const overview = await profile.page(team.pages);
      expect(overview).toContain("Failed (1)");
      expect(overview).toContain("the host refused the token");
      expect(/Index again|Set up its source/.test(overview)).toBe(mends);
    }
  });

  it("of a team are no pages for anybody else", async () => {
    const stranger = await newTeam();
    for (const page of ["", ...PAGES.map((page) => `/${page}`), `/repositories/${team.workspaceId}`]) {
      const response = await stranger.owner.send(`${team.pages}${page}`, { headers: { Accept: "text/html" } });
      expect([page, response.status]).toEqual([page, 404]);
    }
    const own = await stranger.owner.send(`${stranger.pages}/repositories/${team.workspaceId}`, {
      headers: { Accept: "text/html" },
    });
    expect(own.status).toBe(404);
  });

  it("redirect to the sign-in and back without a session", async () => {
    const response = await new Profile().send(`${team.pages}/usage`, { headers: { Accept: "text/html" } });
    expect(response.headers.get("Location")).toBe(`/app/sign-in?next=${encodeURIComponent(`${team.pages}/usage`)}`);
    expect((await new Profile().send(`${team.base}/usage`)).status).toBe(401);
  });

  it("count for the user, with the contract's headers", async () => {
    const first = await team.owner.send(`${team.pages}/settings`);
    expect(first.headers.get("X-RateLimit-Limit")).toBe("600");
    const second = await team.owner.send(`${team.pages}/settings`);
    const [a, b] = [first, second].map(({ headers }) => Number(headers.get("X-RateLimit-Remaining")));
    if (first.headers.get("X-RateLimit-Reset") === second.headers.get("X-RateLimit-Reset"))
      expect(b).toBe((a ?? 0) - 1);
    else expect(b).toBe(599);
  });
});

describe("keys", () => {
  it("are shown once, work at once, and are refused within a second of being revoked", async () => {
    const team = await newTeam();
    const made = await team.owner.send(`${team.base}/keys`, {
      form: { name: "laptop <b>\u001b[2J\u202e\u{e0041}", kind: "api_key", expiresInDays: "30" },
    });
    // A reload of the page that shows the key makes no other, since the form's answer is a redirect.
    expect([made.status, made.headers.get("Location")]).toEqual([303, `${team.pages}/keys`]);
    const html = await team.owner.page(`${team.pages}/keys`);
    const key = /cc_live_\w+/.exec(html)?.[0] ?? "";
    expect(html).not.toContain("<b>");
    expect((await api("/embed", { key })).status).toBe(200);
    const page = await team.owner.page(`${team.pages}/keys`);
    expect(page).not.toContain(key);
    for (const text of [html, page]) expect(text).not.toMatch(/(?![\n\t])\p{C}/u);
    for (const name of ["keys", "audit"])
      expect(await team.owner.page(`${team.pages}/${name}`)).toContain(String.raw`\x1b[2J\u202e\u{e0041}`);
    const id = key.split("_")[2] ?? "";
    expect((await team.owner.post(`${team.base}/keys/${id}/revoke`)).status).toBe(200);
    await expect.poll(async () => (await api("/embed", { key })).status).toBe(401);
    expect((await team.owner.post(`${team.base}/keys/${id}/revoke`)).status).toBe(404);
    const dump = await rowsOf<{ text: string }>(database(), sql`select c::text as text from credentials c`);
    expect(JSON.stringify(dump)).not.toContain(key.split("_")[3]);
  });

  it("name what is wrong", async () => {
    const team = await newTeam();
    for (const [body, field] of [
      [{ name: "", kind: "api_key" }, "name"],
      [{ name: "x".repeat(201), kind: "api_key" }, "name"],
      [{ name: "x\u0000", kind: "api_key" }, "name"],
      [{ name: "x", kind: "admin" }, "kind"],
      [{ name: "x", kind: "api_key", expiresInDays: "-1" }, "expiresInDays"],
    ] as const) {
      expect(await team.owner.post(`${team.base}/keys`, body)).toMatchObject({
        status: 400,
        code: "INVALID_BODY",
        details: { issues: [{ path: field }] },
      });
    }
  });
});

describe("invitations", () => {
  it("reach the invited person by mail, who joins with another browser", async () => {
    const team = await newTeam();
    const email = newEmail();
    expect((await team.owner.post(`${team.base}/invitations`, { email, role: "admin" })).status).toBe(201);
    const link = /\/app\/join\/[\w-]{43}/.exec(mailOf(email).at(-1) ?? "")?.[0] ?? "";
    const guest = new Profile();
    const html = await guest.page(link);
    expect(html).toContain("Sign in to accept");
    await guest.signIn(email);
    expect((await guest.send(`${team.pages}/keys`)).status).toBe(404);
    const token = link.split("/").at(-1) ?? "";
    expect(await guest.post("/app/api/invitations/accept", { token })).toMatchObject({ status: 200, slug: team.slug });
    // The key of the new member waits for the page of agents, once.
    const key = /Authorization: Bearer (cc_live_\w+)/.exec(await guest.page(`${team.pages}/connect`))?.[1] ?? "";
    const answer = await api("/embed", { key });
    expect([key, answer.status, await answer.json()]).toMatchObject([key, 200, { ok: true }]);
    expect(await guest.page(`${team.pages}/connect`)).not.toContain("cc_live_");
    expect((await guest.send(`${team.pages}/keys`)).status).toBe(200);
    expect((await guest.post("/app/api/invitations/accept", { token })).status).toBe(404);
    const dump = await rowsOf<{ text: string }>(database(), sql`select i::text as text from invitations i`);
    expect(JSON.stringify(dump)).not.toContain(token);
  });
});

describe("the audit feed", () => {
  it("filters, pages by key without gaps, and exports all of it", async () => {
    const team = await newTeam();
    await database().execute(sql`
      insert into audit_events (id, tenant_id, at, event, actor, dedupe_key, details)
      select gen_random_uuid(), ${team.tenantId}, now() - make_interval(secs => i / 3), case when i % 2 = 0 then 'KEY_CREATED' else 'KEY_REVOKED' end,
        'system', 'test:' || i, json_build_object('name', '=formula')
      from generate_series(1, 1200) i`);
    const all: string[] = [];
    for (let next: string | null = ""; next !== null;) {
      const response = await team.owner.send(`${team.base}/audit?actor=system${next === "" ? "" : `&before=${next}`}`);
      const body = (await response.json()) as { events: { id: string; at: string }[]; next: string | null };
      all.push(...body.events.map(({ id }) => id));
      ({ next } = body);
    }
    expect([all.length, new Set(all).size]).toEqual([1200, 1200]);
    const csv = await (await team.owner.send(`${team.base}/audit/export?event=KEY_REVOKED`)).text();
    const lines = csv.trim().split("\r\n");
    expect(lines).toHaveLength(601);
    expect(lines.slice(1).every((line) => line.includes('"KEY_REVOKED"'))).toBe(true);
    const json = await (await team.owner.send(`${team.base}/audit/export?format=json`)).text();
    expect(json.trim().split("\n").length).toBeGreaterThanOrEqual(1200);
    const later = new Date(Date.now() + 60_000).toISOString();
    const none = await team.owner.send(`${team.base}/audit?from=${encodeURIComponent(later)}`);
    expect(await none.json()).toMatchObject({ events: [] });
    expect((await team.owner.send(`${team.base}/audit?from=yesterday`)).status).toBe(400);
  });
});

describe("mutations", () => {
  it("reject the 121st per minute, and record it with the user as actor", async () => {
    const team = await newTeam();
    let refused: Response | undefined;
    for (let i = 0; i < 250 && refused === undefined; i++) {
      const answer = await team.owner.send(`${team.base}/settings`, { json: { name: "" } });
      if (answer.status === 429) refused = answer;
      else expect(answer.status).toBe(400);
    }
    expect(Number(refused?.headers.get("Retry-After"))).toBeGreaterThan(0);
    expect(refused?.headers.get("X-RateLimit-Limit")).toBe("120");
    expect(refused?.headers.get("X-RateLimit-Remaining")).toBe("0");
    expect(await refused?.json()).toMatchObject({
      ok: false,
      code: "RATE_LIMITED",
      retryAfterSec: expect.any(Number) as number,
    });
    const recorded = () =>
      rowsOf(
        database(),
        sql`select actor, details ->> 'surface' as surface from audit_events where tenant_id = ${team.tenantId} and event = 'RATE_LIMITED'`,
      );
    await expect.poll(recorded).toEqual([{ actor: `user:${team.owner.userId}`, surface: "dashboard_mutation" }]);
  });

  it("delete a team with all that belongs to it, when its address is typed", async () => {
    const team = await newTeam();
    expect((await team.owner.post(`${team.base}/delete`, { confirm: "no" })).status).toBe(400);
    expect((await api("/embed", { key: team.apiKey })).status).toBe(200);
    expect((await team.owner.post(`${team.base}/delete`, { confirm: team.slug })).status).toBe(200);
    await expect.poll(async () => (await api("/embed", { key: team.apiKey })).status).toBe(401);
    expect((await team.owner.send(team.pages)).status).toBe(404);
  });

  /** Everything about a tenant that a mutation could change, as text. */
  async function stateOf({ tenantId }: Team): Promise<string> {
    const tables = [
      "tenants t where t.id",
      "credentials t where t.tenant_id",
      "workspaces t where t.tenant_id",
      "memberships t where t.tenant_id",
      "invitations t where t.tenant_id",
      "hooks t where t.tenant_id",
      "github_apps t where t.tenant_id",
      "runs t where t.tenant_id",
    ];
    const rows = await Promise.all(
      tables.map((table) =>
        rowsOf<{ text: string }>(
          database(),
          sql`select (to_jsonb(t) - 'last_used_at')::text as text from ${sql.raw(table)} = ${tenantId} order by 1`,
        ),
      ),
    );
    const sources = await rowsOf(
      database(),
      sql`select s.* from repository_sources s join workspaces w on w.id = s.workspace_id where w.tenant_id = ${tenantId} order by 1`,
    );
    return JSON.stringify([rows, sources]);
  }

  it("are refused cross-site, without a session, to members and to other tenants, and change nothing", async () => {
    const team = await newTeam();
    const db = database();
    const member = await memberOf(team.tenantId, "member");
    const outsider = (await newTeam()).owner;
    const { workspaceId } = await connectRepository(
      { db, encryptionKey: "x".repeat(44), gitHosts: { allowLocal: true } },
      { tenantId: team.tenantId, actor: "system", cloneUrl: "https://git.example.com/a/b", branches: [] },
    );
    const by = { userId: team.owner.userId, role: "owner" } as const;
    const { id: invitationId } = await invite(db, { tenantId: team.tenantId, email: newEmail(), role: "member", by });
    const { id: hookId } = await createHook(
      { db, encryptionKey: "x".repeat(44) },
      { tenantId: team.tenantId, workspaceId, provider: "github", actor: "system" },
    );
    const appId = "A".repeat(24);
    const app = { origin: "https://github.com", appId: 1, name: "a", owner: "o", pageUrl: "", sealedSecret: "" };
    await db.insert(githubApps).values({ id: appId, tenantId: team.tenantId, ...app });
    const runId = crypto.randomUUID();
    await db
      .insert(runs)
      .values({ id: runId, tenantId: team.tenantId, workspaceId, kind: "index", state: "queued", request: {} });
    const keyId = team.apiKey.split("_")[2] ?? "";
    const mutations: Record<string, Record<string, string>> = {
      "/repositories": { url: "https://git.example.com/c/d" },
      "/repositories/index": { ids: workspaceId },
      "/repositories/several": { urls: "https://git.example.com/g/h" },
      [`/repositories/${workspaceId}/source`]: { url: "https://git.example.com/e/f" },
      [`/repositories/${workspaceId}/disconnect`]: {},
      [`/repositories/${workspaceId}/index`]: {},
      [`/repositories/${workspaceId}/hooks`]: { provider: "gitea" },
      [`/repositories/${workspaceId}/hooks/${hookId}/delete`]: {},
      [`/github/${appId}/${"1".repeat(24)}`]: { ids: "1" },
      [`/github/${appId}/remove`]: {},
      [`/runs/${runId}/cancel`]: {},
      // Members may make API keys of their own.
      "/keys": { name: "x", kind: "worker_token" },
      [`/keys/${keyId}/budget`]: { monthlyCredits: "1" },
      [`/keys/${keyId}/revoke`]: {},
      "/invitations": { email: newEmail(), role: "member" },
      [`/invitations/${invitationId}/resend`]: {},
      [`/invitations/${invitationId}/revoke`]: {},
      [`/members/${member.userId}/role`]: { role: "owner" },
      [`/members/${team.owner.userId}/remove`]: {},
      "/settings": { name: "Mine now", sharedIndex: "on" },
      "/settings/mail": {},
      "/settings/retention": { runDays: "30", auditDays: "30" },
      "/delete": { confirm: team.slug },
      "/leave": {},
    };
    const shapes = Object.keys(mutations).map((path) => path.replace(/\/[\da-f-]{36}(?=\/|$)|\/[\w-]{24,}/g, "/:id"));
    expect(shapes.toSorted()).toEqual(tenantMutations());

    const before = await stateOf(team);
    const evil = { Origin: "https://evil.test" };
    const attempts: [string, Profile, (body: Record<string, string>) => DashboardRequest, number[]][] = [
      ["cross-site form", team.owner, (form) => ({ form, headers: evil }), [403]],
      ["cross-site script", team.owner, (json) => ({ json, headers: evil }), [403]],
      ["null origin", team.owner, (form) => ({ form, headers: { Origin: "null" } }), [403]],
      ["no session", new Profile(), (json) => ({ json }), [401]],
      ["no session, form", new Profile(), (form) => ({ form }), [401]],
      ["forged session", forged(), (json) => ({ json }), [401]],
      ["another tenant", outsider, (json) => ({ json }), [404]],
    ];
    for (const [path, body] of Object.entries(mutations)) {
      for (const [who, profile, request, statuses] of attempts) {
        const { status } = await profile.send(`${team.base}${path}`, request(body));
        expect([who, path, statuses.includes(status) ? "refused" : status]).toEqual([who, path, "refused"]);
      }
      if (path === "/leave") continue;
      const { status } = await member.send(`${team.base}${path}`, { json: body });
      // What is not theirs does not exist for them.
      expect(["member", path, status]).toEqual(["member", path, /^\/keys\/.*\/revoke$/.test(path) ? 404 : 403]);
    }
    expect(await stateOf(team)).toBe(before);
    // Ids of another tenant's things under one's own address.
    const theirs = await newTeam();
    for (const [path, body] of Object.entries(mutations)) {
      if (!/\/[\w-]{20,}/.test(path)) continue;
      const { status } = await theirs.owner.send(`${theirs.base}${path}`, { json: body });
      expect([path, status]).toEqual([path, 404]);
    }
    expect(await stateOf(team)).toBe(before);
  });
});

function forged(): Profile {
  const profile = new Profile();
  profile.cookies.set("cc_session", "A".repeat(43));
  return profile;
}

/** The mutations that the sources define for a tenant, so that none is left out above. */
function tenantMutations(): string[] {
  const folder = new URL("../../src/workers/site/routes/", import.meta.url);
  const files = readdirSync(folder).filter((name) => !["sign-in.tsx", "account.tsx", "join.tsx"].includes(name));
  const sources = files.map((name) => readFileSync(new URL(name, folder), "utf8")).join("\n");
  return Array.from(sources.matchAll(/Api\.post\("([^"]+)"/g), ([, path]) =>
    (path ?? "").replaceAll(/:\w+/g, ":id"),
  ).toSorted();
}

describe("the service's address", () => {
  it("leads to the dashboard's sign-in", async () => {
    const response = await fetch(`${service().siteUrl}/app`, { redirect: "manual" });
    expect(response.status).toBe(303);
  });
});
