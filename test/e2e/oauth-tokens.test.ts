import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import {
  agentOf,
  askWith,
  consent,
  exchange,
  REDIRECT,
  refreshed,
  registered,
  rowOf,
  slugOf,
  token,
} from "./support/agent.ts";
import { memberOf } from "./support/dashboard.ts";
import { newTenant, service, type TestTenant } from "./support/service.ts";

type Member = Awaited<ReturnType<typeof memberOf>>;

/** All that the service has logged. */
function readLogs(): string {
  const folder = path.join(service().dataDir, "logs");
  return readdirSync(folder)
    .map((name) => readFileSync(path.join(folder, name), "utf8"))
    .join("\n");
}

let tenant: TestTenant;
let member: Member;
let owner: Member;

beforeAll(async () => {
  tenant = await newTenant({ repo: "github.com/acme/shop" });
  member = await memberOf(tenant.tenantId, "member");
  owner = await memberOf(tenant.tenantId, "owner");
});

describe("a code and a refresh token", () => {
  it("work once, however many come at a time", async () => {
    const asked = await registered();
    const back = await consent(member, asked.address);
    expect([back.origin + back.pathname, back.searchParams.get("state"), back.searchParams.get("iss")]).toEqual([
      REDIRECT,
      "s",
      `${service().siteUrl}/oauth`,
    ]);
    const code = back.searchParams.get("code") ?? "";
    const answers = await Promise.all(Array.from({ length: 8 }, () => exchange(code, asked)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(7);
    // Who replays a code ends what it was exchanged for.
    const won = answers.find(({ status }) => status === 200) as Response;
    const { access_token: access } = (await won.json()) as { access_token: string };
    expect((await askWith(access)).status).toBe(401);

    const agent = await agentOf(member);
    const refreshes = await Promise.all(Array.from({ length: 8 }, () => refreshed(agent)));
    expect(refreshes.filter(({ status }) => status === 200)).toHaveLength(1);
    const late = await refreshed(agent);
    expect([late.status, ((await late.json()) as { error: string }).error]).toEqual([400, "invalid_grant"]);
  });

  it("belong to their client, its verifier and its address", async () => {
    const [asked, other] = [await registered(), await registered()];
    const code = (await consent(member, asked.address)).searchParams.get("code") ?? "";
    const wrong = [
      exchange(code, { ...asked, clientId: other.clientId }),
      exchange(code, { ...asked, verifier: other.verifier }),
      token({ grant_type: "authorization_code", code, client_id: asked.clientId }),
      token({
        grant_type: "authorization_code",
        code,
        client_id: asked.clientId,
        code_verifier: asked.verifier,
        redirect_uri: `${REDIRECT}/x`,
      }),
      token({
        grant_type: "authorization_code",
        code,
        client_id: asked.clientId,
        code_verifier: asked.verifier,
        redirect_uri: REDIRECT,
        resource: `${service().apiUrl}/mcp`,
      }),
    ];
    for (const answer of await Promise.all(wrong)) expect(answer.status).toBe(400);
    expect((await exchange(code, asked)).status).toBe(200);
    const agent = await agentOf(member);
    expect((await refreshed({ ...agent, clientId: other.clientId })).status).toBe(400);
    const widened = await token({
      grant_type: "refresh_token",
      refresh_token: agent.refresh,
      client_id: agent.clientId,
      scope: "search embed index admin",
    });
    expect([widened.status, ((await widened.json()) as { scope: string }).scope]).toEqual([200, "search"]);
  });
});

describe("the end of a connection", () => {
  const isOver = async (agent: { access: string; refresh: string; clientId: string }) => {
    await expect.poll(async () => (await askWith(agent.access)).status).toBe(401);
    expect((await refreshed(agent)).status).toBe(400);
  };

  it("comes by revocation of the agent", async () => {
    const person = await memberOf(tenant.tenantId, "member");
    const agent = await agentOf(person);
    const revoked = await token({ token: agent.refresh, client_id: agent.clientId });
    expect(revoked.status).toBe(200);
    await isOver(agent);
    await expect(rowOf(person)).rejects.toThrow("no agent");
  });

  it("comes on the dashboard, by the person and by an admin, not by another member", async () => {
    const person = await memberOf(tenant.tenantId, "member");
    for (const by of [person, owner]) {
      const agent = await agentOf(person);
      const { id } = await rowOf(person);
      const address = `/app/api/tenants/${await slugOf(by)}/keys/${id}/revoke`;
      expect(await member.post(address)).toMatchObject({ status: 404 });
      expect(await by.post(address)).toMatchObject({ status: 200 });
      await isOver(agent);
    }
  });

  it("comes when the person leaves the team", async () => {
    const person = await memberOf(tenant.tenantId, "member");
    const agent = await agentOf(person);
    expect((await askWith(agent.access)).status).toBe(200);
    expect(await person.post(`/app/api/tenants/${await slugOf(person)}/leave`)).toMatchObject({ status: 200 });
    await isOver(agent);
  });
});

describe("tokens where they do not belong", () => {
  it("are refused: replayed, mixed with those of another team, for another resource, and at the API", async () => {
    const stranger = await newTenant();
    const other = await memberOf(stranger.tenantId, "owner");
    const asked = await registered();
    const code = (await consent(member, asked.address)).searchParams.get("code") ?? "";
    const [mine, theirs] = [await agentOf(member), await agentOf(other)];
    const parts = (text: string) => text.split(":");
    const mixed = (a: string, b: string): string[] => {
      const [from, to] = [parts(a), parts(b)];
      return [1, 2, 3, 4, 5, 6].map((bits) =>
        from.map((part, i) => ((bits >> i) & 1 ? (to[i] ?? "") : part)).join(":"),
      );
    };
    const altered = (text: string): string[] =>
      Array.from({ length: 12 }, (_, i) => {
        const at = Math.floor((i * text.length) / 12);
        return `${text.slice(0, at)}${text[at] === "a" ? "b" : "a"}${text.slice(at + 1)}`;
      });
    const ofGrant = (refresh: string, clientId: string, more: Record<string, string> = {}) =>
      token({ grant_type: "refresh_token", refresh_token: refresh, client_id: clientId, ...more });
    const ofCode = (one: string, more: Partial<typeof asked> = {}) => exchange(one, { ...asked, ...more });
    const resources = [service().siteUrl, `${service().siteUrl}/`, `${service().apiUrl}/mcp`, "https://evil.test/mcp"];
    const refused = await Promise.all([
      ...[...altered(code), ...mixed(code, theirs.refresh), theirs.refresh, mine.access].map((one) => ofCode(one)),
      ...altered(asked.verifier).map((verifier) => ofCode(code, { verifier })),
      ofCode(code, { clientId: theirs.clientId }),
      ...[...altered(mine.refresh), ...mixed(mine.refresh, theirs.refresh), ...mixed(mine.refresh, mine.access)]
        .filter((one) => one !== mine.refresh && one !== theirs.refresh)
        .map((one) => ofGrant(one, mine.clientId)),
      ofGrant(theirs.refresh, mine.clientId),
      ofGrant(mine.refresh, theirs.clientId),
      ofGrant(mine.access, mine.clientId),
      ...resources.map((resource) => ofGrant(mine.refresh, mine.clientId, { resource })),
      ...["client_credentials", "password", "urn:ietf:params:oauth:grant-type:token-exchange", ""].map((grant) =>
        ofGrant(mine.refresh, mine.clientId, { grant_type: grant, subject_token: mine.access }),
      ),
    ]);
    const answers = await Promise.all(refused.map(async (one) => ({ status: one.status, text: await one.text() })));
    expect(answers.filter(({ status, text }) => ![400, 401].includes(status) || text.includes("access_token"))).toEqual(
      [],
    );
    // What was guessed at stays good for its owner, once.
    expect((await ofCode(code)).status).toBe(200);
    for (let n = 0; n < 10; n++) expect((await ofCode(code)).status).toBe(400);
    const next = (await (await refreshed(mine)).json()) as { access_token: string };
    for (let n = 0; n < 10; n++) expect((await refreshed(mine)).status).toBe(400);
    expect((await askWith(next.access_token)).status).toBe(200);

    // The API takes keys alone, directly and through the site.
    const routes = [
      ...["/embed", "/usage", "/symbols?name=a", "/references?name=a", "/files", "/index"].map((to) => ["GET", to]),
      ...["/embed", "/rerank", "/search", "/grep", "/tokens", "/overlays", "/index", "/mcp"].map((to) => ["POST", to]),
    ] as const;
    const origins = [service().apiUrl, `${service().siteUrl}/api/v1`];
    const atApi = await Promise.all(
      [next.access_token, theirs.refresh].flatMap((bearer) =>
        origins.flatMap((origin) =>
          routes.map(async ([method = "", to = ""]) => {
            const headers = { Authorization: `Bearer ${bearer}`, "Content-Type": "application/json" };
            const answer = await fetch(origin + to, { method, headers, ...(method === "POST" && { body: "{}" }) });
            return [method, to, answer.status];
          }),
        ),
      ),
    );
    expect(atApi.filter(([, , status]) => status !== 401)).toEqual([]);
    expect(refused.length + atApi.length + 20).toBeGreaterThan(120);
    const logs = readLogs();
    for (const secret of [code, mine.refresh, theirs.refresh, theirs.access, next.access_token, asked.verifier])
      expect(logs.includes(secret.split(":").at(-1) ?? secret)).toBe(false);
  });
});

describe("tokens that were not issued", () => {
  it("are refused in 200 variants, and none is in the logs", async () => {
    const agent = await agentOf(member);
    const stranger = await newTenant();
    const theirs = await agentOf(await memberOf(stranger.tenantId, "owner"));
    const [user = "", grant = "", secret = ""] = agent.access.split(":");
    const [otherUser = "", otherGrant = "", otherSecret = ""] = theirs.access.split(":");
    // Each character replaced by two others.
    const changed = (text: string, at: number) => {
      const place = at % text.length;
      const [first = "", second = ""] = ["a", "b", "c"].filter((letter) => letter !== text[place]);
      return text.slice(0, place) + (at < text.length ? first : second) + text.slice(place + 1);
    };
    const forged = [
      ...Array.from({ length: 2 * agent.access.length }, (_, i) => changed(agent.access, i)),
      ...[otherUser, user].flatMap((u) =>
        [otherGrant, grant].flatMap((g) => [otherSecret, secret].map((s) => `${u}:${g}:${s}`)),
      ),
      agent.refresh,
      theirs.refresh,
      agent.access.toUpperCase(),
      `${agent.access}x`,
      agent.access.slice(0, -1),
      `${user}:${grant}:`,
      `::${secret}`,
      "a:b:c",
      secret,
      tenant.apiKey,
      stranger.workerToken,
      "x".repeat(5_000),
      `${agent.access}, Bearer ${theirs.access}`,
      `%00${agent.access}`,
      ...Array.from({ length: 20 }, () => `${user}:${grant}:${crypto.randomUUID().replaceAll("-", "")}`),
    ].filter((one) => one !== agent.access && one !== theirs.access);
    expect(new Set(forged).size).toBeGreaterThanOrEqual(200);
    for (let at = 0; at < forged.length; at += 20) {
      const answers = await Promise.all(forged.slice(at, at + 20).map((one) => askWith(one)));
      expect(answers.map(({ status }) => status).filter((status) => status !== 401)).toEqual([]);
    }
    expect((await askWith(agent.access)).status).toBe(200);
    const crossed = await askWith(theirs.access);
    expect([crossed.status, crossed.text.includes("acme/shop")]).toEqual([200, false]);
    const logged = readLogs();
    for (const text of [secret, otherSecret, agent.refresh.split(":")[2] ?? "", theirs.refresh.split(":")[2] ?? ""])
      expect(logged.includes(text)).toBe(false);
  });
});
