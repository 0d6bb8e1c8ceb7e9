import { createServer, type Server } from "node:http";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as LegacyTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type GitBackend, startGitBackend } from "../support/git-backend.ts";
import { GitRepo } from "../support/git-repo.ts";
import {
  agentOf,
  askWith,
  authorization,
  connect,
  consent,
  exchange,
  keysOf,
  mcpUrl,
  openConsent,
  REDIRECT,
  refreshed,
  registered,
  rowOf,
  slugOf,
  tokensOf,
} from "./support/agent.ts";
import { memberOf, Profile } from "./support/dashboard.ts";
import { api, newTenant, service, type TestTenant } from "./support/service.ts";

type Member = Awaited<ReturnType<typeof memberOf>>;

let repo: GitRepo;
let git: GitBackend;
let tenant: TestTenant;
let member: Member;
let owner: Member;

beforeAll(async () => {
  repo = new GitRepo();
  repo.files({ "src/cart.ts": "export function totalOf(prices: number[]): number {\n  return prices.length;\n}\n" });
  repo.commit();
  git = await startGitBackend(repo.root);
  tenant = await newTenant({ repo: "github.com/acme/shop" });
  const indexed = await api("/index", {
    key: tenant.workerToken,
    body: { workspaceId: tenant.workspaceId, source: { type: "git", url: git.url("repo") } },
  });
  expect(indexed.status).toBe(200);
  member = await memberOf(tenant.tenantId, "member");
  owner = await memberOf(tenant.tenantId, "owner");
});
afterAll(async () => {
  await git.close();
  repo.remove();
});

describe("signing in with the official clients", () => {
  it("finds the server, registers, asks for consent, calls tools and refreshes", async () => {
    const { client, auth } = await connect(member);
    expect((await client.listTools()).tools).toHaveLength(8);
    const answer = await client.callTool({ name: "list_repos", arguments: {} });
    expect(JSON.stringify(answer)).toContain("github.com/acme/shop");
    await client.close();
    const legacy = new LegacyClient({ name: "test", version: "1" });
    const headers = { Authorization: `Bearer ${tokensOf(auth).access}` };
    await legacy.connect(new LegacyTransport(mcpUrl(), { requestInit: { headers } }));
    expect(JSON.stringify(await legacy.callTool({ name: "find_symbol", arguments: { name: "totalOf" } }))).toContain(
      "src/cart.ts:1",
    );
    await legacy.close();
    const next = await refreshed(tokensOf(auth));
    expect(next.status).toBe(200);
    const { access_token: access } = (await next.json()) as { access_token: string };
    expect((await askWith(access)).status).toBe(200);
  });

  it("limits the agent to what the person chose, and shows that", async () => {
    const stranger = await memberOf(tenant.tenantId, "member");
    const { access } = await agentOf(stranger, {
      repos: "github.com/acme/other",
      ratePerMinute: "20",
      monthlyCredits: "5",
      days: "1",
    });
    const asked = await askWith(access);
    expect([asked.status, asked.text.includes("acme/shop")]).toEqual([200, false]);
    const row = await rowOf(stranger);
    expect(row.restrictions).toEqual({
      repos: ["github.com/acme/other"],
      scopes: ["search"],
      monthlyCredits: 5,
      ratePerMinute: 20,
    });
    const page = await stranger.page(`/app/${await slugOf(stranger)}/keys`);
    expect(page).toContain("Test agent &lt;b&gt;");
    expect(page).toContain("search; github.com/acme/other; 5 credits a month; 20 requests a minute");
    expect((await keysOf(owner)).find(({ id }) => id === row.id)?.owner).toBe(stranger.email);
    const more = await Promise.all(Array.from({ length: 45 }, () => askWith(access)));
    expect(more.filter(({ status }) => status === 429).length).toBeGreaterThan(0);
  });

  it("asks somebody without a session to sign in first, and comes back", async () => {
    const { address } = await registered();
    const answer = await new Profile().send(address.pathname + address.search);
    const to = new URL(answer.headers.get("Location") ?? "", service().siteUrl);
    expect([answer.status, to.pathname]).toEqual([303, "/app/sign-in"]);
    expect(to.searchParams.get("next")).toBe(address.pathname + address.search);
    const page = await new Profile().page(to.pathname + to.search);
    expect(page).toContain(`value="${address.pathname}${address.search.replaceAll("&", "&amp;")}"`);
  });

  it("knows a client by the address of its description", async () => {
    const client = await startClient();
    try {
      const { address, verifier } = await authorization(client.url);
      const { page } = await openConsent(member, address);
      expect(page).toContain("Described agent");
      expect(page).toContain("<strong>127.0.0.1</strong>");
      const back = await consent(member, address);
      const answer = await exchange(back.searchParams.get("code") ?? "", { clientId: client.url, verifier });
      expect(answer.status).toBe(200);
      for (const bad of ["/moved", "/other", "/large", "/none"]) {
        const { address } = await authorization(client.url.replace("/client", bad));
        expect((await member.send(address.pathname + address.search)).status, bad).toBe(400);
      }
      expect(client.asked).not.toContain("/secret");
    } finally {
      client.close();
    }
  });
});

/** A server of client descriptions: a good one, and some that must be refused. */
async function startClient(): Promise<{ url: string; asked: string[]; close: () => void }> {
  const asked: string[] = [];
  const server: Server = createServer((request, response) => {
    const base = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
    asked.push(request.url ?? "");
    const described = { client_id: `${base}/client`, client_name: "Described agent", redirect_uris: [REDIRECT] };
    if (request.url === "/moved") response.writeHead(302, { Location: "/secret" }).end();
    else if (request.url === "/none") response.writeHead(404).end();
    else if (request.url === "/large") response.end(JSON.stringify({ ...described, padding: "x".repeat(20_000) }));
    else response.end(JSON.stringify(described));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as { port: number }).port}/client`;
  return { url, asked, close: () => server.close() };
}

describe("addresses", () => {
  const get = async (url: string) => {
    const response = await fetch(url, { headers: { Accept: "text/html" } });
    const isJson = (response.headers.get("Content-Type") ?? "").startsWith("application/json");
    return {
      status: response.status,
      isJson,
      body: isJson ? ((await response.json()) as Record<string, unknown>) : {},
    };
  };

  it("publishes metadata where the path is named", async () => {
    const { siteUrl } = service();
    const resource = await get(`${siteUrl}/.well-known/oauth-protected-resource/mcp`);
    expect(resource.body).toMatchObject({ resource: `${siteUrl}/mcp`, authorization_servers: [`${siteUrl}/oauth`] });
    const server = await get(`${siteUrl}/.well-known/oauth-authorization-server/oauth`);
    expect(server.body).toMatchObject({
      issuer: `${siteUrl}/oauth`,
      code_challenge_methods_supported: ["S256"],
      authorization_response_iss_parameter_supported: true,
    });
  });

  it("answers JSON 404 everywhere else, and leaves key-only clients alone", async () => {
    const { siteUrl, apiUrl } = service();
    const names = ["oauth-protected-resource", "oauth-authorization-server", "openid-configuration"];
    const addresses = names.flatMap((name) =>
      ["", "/api/v1/mcp"]
        .map((end) => `${siteUrl}/.well-known/${name}${end}`)
        .concat(["", "/mcp", "/oauth"].map((end) => `${apiUrl}/.well-known/${name}${end}`)),
    );
    for (const address of addresses) {
      const { status, isJson } = await get(address);
      expect([address, status, isJson]).toEqual([address, 404, true]);
    }
    for (const url of [`${siteUrl}/api/v1/mcp`, `${apiUrl}/mcp`]) {
      const refused = await fetch(url, { method: "POST", body: "{}" });
      expect([refused.status, refused.headers.get("WWW-Authenticate")]).toEqual([401, "Bearer"]);
    }
  });

  it("leads from a 401 to the metadata, whatever the method", async () => {
    for (const method of ["GET", "POST", "DELETE"]) {
      const { status, headers } = await fetch(mcpUrl(), { method });
      expect(status).toBe(401);
      expect(headers.get("WWW-Authenticate")).toBe(
        `Bearer resource_metadata="${service().siteUrl}/.well-known/oauth-protected-resource/mcp", scope="search"`,
      );
    }
    expect((await askWith(tenant.apiKey)).status).toBe(401);
  });
});

describe("the consent page", () => {
  it("cannot be framed, and may send its answer to the client", async () => {
    const { address } = await registered();
    const { headers } = await member.send(address.pathname + address.search);
    expect(headers.get("X-Frame-Options")).toBe("DENY");
    const policy = headers.get("Content-Security-Policy") ?? "";
    expect([policy.includes("frame-ancestors 'none'"), policy.includes("form-action")]).toEqual([true, false]);
    expect(headers.get("Cache-Control")).toBe("no-store");
  });

  it("cannot be forged, replayed, or answered in another browser or for another team", async () => {
    const { address } = await registered();
    const { form } = await openConsent(member, address);
    const answer = { ...form, decision: "allow", days: "30" };
    const send = (browser: Profile, more: Record<string, string> = {}, headers: Record<string, string> = {}) =>
      browser.send("/oauth/authorize", { form: { ...answer, ...more }, headers });
    expect((await send(member, {}, { Origin: "https://evil.test" })).status).toBe(403);
    expect((await send(member, { team: "another-team" })).status).toBe(403);
    expect((await send(member, { days: "3650" })).status).toBe(400);
    expect((await send(member, { monthlyCredits: "-1" })).status).toBe(400);
    expect((await send(member, { repos: "not a repository" })).status).toBe(400);
    expect((await send(new Profile())).status).toBe(401);
    const elsewhere = new Profile();
    for (const [name, value] of member.cookies) if (!name.includes("oauth-consent")) elsewhere.cookies.set(name, value);
    expect((await send(elsewhere)).status).toBe(400);
    const both = await Promise.all([send(member), send(member)]);
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([303, 409]);
    expect((await send(member)).status).toBe(409);
    const second = await openConsent(member, (await registered()).address);
    expect((await send(owner, second.form)).status).toBe(400);
  });

  it("tells the client that the person declined, and sends nobody to an address that is not the client's", async () => {
    const { address, clientId } = await registered();
    const declined = await consent(member, address, { decision: "deny" });
    expect([declined.searchParams.get("error"), declined.searchParams.get("iss")]).toEqual([
      "access_denied",
      `${service().siteUrl}/oauth`,
    ]);
    for (const [name, value] of [
      ["redirect_uri", "https://evil.test/callback"],
      ["client_id", "unknown"],
      ["client_id", "https://169.254.169.254/latest"],
      ["client_id", "https://metadata.internal/client"],
    ] as const) {
      const changed = new URL(address);
      changed.searchParams.set(name, value);
      expect((await member.send(changed.pathname + changed.search)).status, value).toBe(400);
    }
    const noProof = new URL(address);
    noProof.searchParams.delete("code_challenge");
    noProof.searchParams.set("client_id", clientId);
    const refused = await member.send(noProof.pathname + noProof.search);
    expect(new URL(refused.headers.get("Location") ?? "").searchParams.get("error")).toBe("invalid_request");
  });
});
