import { afterEach, describe, expect, it, vi } from "vitest";
import { and, eq } from "drizzle-orm";
import type { TokenResponse } from "../../../src/contract/index.ts";
import { auditEvents } from "../../../src/service/db/records-schema.ts";
import { credentials } from "../../../src/service/db/credentials-schema.ts";
import { workspaces } from "../../../src/service/db/schema.ts";
import { createKey, revokeKey } from "../../../src/service/tenancy/keys.ts";
import { type ApiTenant, createApiTenant, logged } from "../support/api.ts";
import { startClock, stopClock } from "../support/clock.ts";
import { credentialKey, db } from "../support/tenants.ts";

const HOUR = { ttlSeconds: 3_600 };
const SEARCH = { json: { query: "sessions" } };
const EMBED = { json: { input: ["a"] } };

afterEach(startClock);

/** Makes a token; throws with the answer if it is refused. */
async function make(
  tenant: ApiTenant,
  json: Record<string, unknown> = {},
  credential?: string,
): Promise<TokenResponse> {
  const { status, body } = await ask(tenant, json, credential);
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body as unknown as TokenResponse;
}

const ask = (tenant: ApiTenant, json: Record<string, unknown>, credential?: string) =>
  tenant.call("POST /tokens", { json: { ...HOUR, ...json }, ...(credential !== undefined && { credential }) });

const statusOf = async (tenant: ApiTenant, request: `${string} ${string}`, credential: string, json?: unknown) => {
  const { status, body } = await tenant.call(request, { credential, ...(json !== undefined && { json }) });
  return [status, body["code"]];
};

describe("a token", () => {
  it("does what its scopes allow, and nothing else", async () => {
    const tenant = await createApiTenant();
    const { token, id, expiresAt } = await make(tenant, { scopes: ["search"] });
    expect(token).toMatch(new RegExp(`^cc_live_${id}_`));
    expect(Date.parse(expiresAt) - Date.now()).toBeGreaterThan(3_500_000);
    expect((await tenant.call("POST /search", { ...SEARCH, credential: token })).body["code"]).not.toBe("FORBIDDEN");
    for (const request of ["POST /embed", "POST /rerank"] as const) {
      const json = request === "POST /embed" ? EMBED.json : { query: "a", documents: ["b"] };
      const { status, body } = await tenant.call(request, { json, credential: token });
      expect([status, body["code"]]).toEqual([403, "FORBIDDEN"]);
      expect(body["error"]).toMatch(/lacks the scope (embed|rerank)/);
    }
    expect(await statusOf(tenant, "GET /index-snapshot?list=1", token)).toEqual([403, "FORBIDDEN"]);
    expect(await statusOf(tenant, "GET /usage", token)).toEqual([200, undefined]);
    const embedder = await make(tenant, { scopes: ["embed"] });
    expect((await tenant.call("POST /embed", { ...EMBED, credential: embedder.token })).status).toBe(200);
    expect(await statusOf(tenant, "POST /mcp", embedder.token, { jsonrpc: "2.0", id: 1, method: "ping" })).toEqual([
      403,
      "FORBIDDEN",
    ]);
  });

  it("sees its repositories only", async () => {
    const tenant = await createApiTenant();
    const [one, two] = [crypto.randomUUID(), crypto.randomUUID()];
    const { tenantId } = tenant;
    await db.insert(workspaces).values([
      { id: one, tenantId, repo: "github.com/a/one" },
      { id: two, tenantId, repo: "github.com/a/two" },
    ]);
    const { token } = await make(tenant, { repos: ["https://github.com/A/One.git"] });
    const missing = await tenant.call("GET /symbols?repo=github.com/a/none&name=x", { credential: token });
    for (const selector of ["repo=github.com/a/two", `workspaceId=${two}`]) {
      const hidden = await tenant.call(`GET /symbols?${selector}&name=x`, { credential: token });
      expect([hidden.status, hidden.body]).toEqual([missing.status, missing.body]);
      expect(await statusOf(tenant, `GET /index-snapshot?${selector}`, token)).toEqual([404, "NO_SNAPSHOT"]);
    }
    // Its own is not indexed yet, which is another answer.
    expect(await statusOf(tenant, "GET /symbols?repo=github.com/a/one&name=x", token)).toEqual([404, "NO_INDEX"]);
    const list = await tenant.call<{ workspaces: { repo: string }[] }>("GET /index-snapshot?list=1", {
      credential: token,
    });
    expect(list.body.workspaces.map(({ repo }) => repo)).toEqual(["github.com/a/one"]);
  });

  it("uses its own credits and rate, and those of what it was made from", async () => {
    const tenant = await createApiTenant();
    const parent = await make(tenant, { monthlyCredits: 3 });
    const child = await make(tenant, { monthlyCredits: 2 }, parent.token);
    const embed = (credential: string) => tenant.call("POST /embed", { ...EMBED, credential });
    expect([(await embed(child.token)).status, (await embed(child.token)).status]).toEqual([200, 200]);
    const refused = await embed(child.token);
    expect([refused.status, refused.body["code"], refused.body["details"]]).toEqual([
      429,
      "QUOTA_EXCEEDED",
      expect.objectContaining({ limit: 2, used: 2 }),
    ]);
    expect((await embed(parent.token)).status).toBe(200);
    expect((await embed(parent.token)).body["details"]).toMatchObject({ limit: 3, used: 3 });
    expect((await embed(tenant.apiKey)).status).toBe(200);

    const slow = await make(tenant, { ratePerMinute: 2 });
    const read = () => tenant.call("GET /usage", { credential: slow.token });
    expect((await read()).headers.get("X-RateLimit-Limit")).toBe("2");
    await read();
    const limited = await read();
    expect([limited.status, limited.body["code"], limited.headers.get("X-RateLimit-Remaining")]).toEqual([
      429,
      "RATE_LIMITED",
      "0",
    ]);
  });

  it("ends with its time, and with any credential that it was made from", async () => {
    const tenant = await createApiTenant();
    const middle = await make(tenant);
    const longer = await make(tenant, { ttlSeconds: 86_400 }, middle.token);
    expect(Date.parse(longer.expiresAt)).toBeLessThanOrEqual(Date.parse(middle.expiresAt));
    const last = await make(tenant, { ttlSeconds: 60 }, middle.token);
    expect(await statusOf(tenant, "GET /usage", last.token)).toEqual([200, undefined]);
    stopClock(Date.now() + 61_000);
    expect(await statusOf(tenant, "GET /usage", last.token)).toEqual([401, "INVALID_API_KEY"]);
    startClock();
    const leaf = await make(tenant, {}, middle.token);
    expect((await tenant.call(`DELETE /tokens/${middle.id}`)).body).toEqual({ ok: true, revoked: true });
    expect((await tenant.call(`DELETE /tokens/${middle.id}`)).body).toEqual({ ok: true, revoked: false });
    await vi.waitFor(async () => {
      for (const { token } of [middle, leaf])
        expect(await statusOf(tenant, "GET /usage", token)).toEqual([401, "INVALID_API_KEY"]);
    });
    expect(await statusOf(tenant, "GET /usage", tenant.apiKey)).toEqual([200, undefined]);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ["another repository", { repos: ["github.com/a/two"] }, "repos"],
    ["a further repository", { repos: ["github.com/a/one", "github.com/a/two"] }, "repos"],
    ["another scope", { scopes: ["embed"] }, "scopes"],
    ["a scope of worker tokens", { scopes: ["index"] }, "scopes"],
    ["more credits", { monthlyCredits: 11 }, "monthlyCredits"],
    ["a higher rate", { ratePerMinute: 6 }, "ratePerMinute"],
  ])("is never wider: %s is refused", async (_, json, field) => {
    const tenant = await createApiTenant();
    const limits = { repos: ["github.com/a/one"], scopes: ["search"], monthlyCredits: 10, ratePerMinute: 5 };
    const { token } = await make(tenant, limits);
    const { status, body } = await ask(tenant, json, token);
    expect([status, body["code"]]).toEqual([403, "FORBIDDEN"]);
    expect(body["error"]).toContain(`${field}: `);
  });

  it.each<[Record<string, unknown>, string]>([
    [{ ttlSeconds: 59 }, "ttlSeconds"],
    [{ ttlSeconds: 2_592_001 }, "ttlSeconds"],
    [{ repos: [] }, "repos"],
    [{ repos: ["no repository"] }, "repos"],
    [{ scopes: ["everything"] }, "scopes.0"],
    [{ monthlyCredits: -1 }, "monthlyCredits"],
    [{ ratePerMinute: 0 }, "ratePerMinute"],
    [{ name: "" }, "name"],
  ])("is not made from a body with %j", async (json, path) => {
    const tenant = await createApiTenant();
    const { status, body } = await ask(tenant, json);
    expect([status, body["code"]]).toEqual([400, "INVALID_BODY"]);
    expect(JSON.stringify(body["details"])).toContain(`"${path}"`);
  });

  it("has at most three generations, and a hundred of one credential at a time", async () => {
    const tenant = await createApiTenant();
    let credential = tenant.apiKey;
    for (let depth = 1; depth <= 3; depth++) credential = (await make(tenant, {}, credential)).token;
    expect(await statusOf(tenant, "POST /tokens", credential, HOUR)).toEqual([403, "FORBIDDEN"]);

    const key = await createKey(db, { tenantId: tenant.tenantId, name: "many", kind: "api_key" }, credentialKey);
    await db.insert(credentials).values(
      Array.from({ length: 98 }, (_, i) => ({
        id: `${key.id}${i}`,
        tenantId: tenant.tenantId,
        kind: "narrow_api_key" as const,
        name: "token",
        secretHash: new Uint8Array(32),
        parentId: key.id,
        expiresAt: new Date(Date.now() + 60_000),
      })),
    );
    const made = await Promise.all(Array.from({ length: 6 }, () => ask(tenant, {}, key.value)));
    expect(made.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 201, 403, 403, 403, 403]);
  });

  it("is made, named and revoked within its tenant only, and never logged", async () => {
    const [tenant, other] = await Promise.all([createApiTenant(), createApiTenant()]);
    const { token, id } = await make(tenant, { name: "sub-agent" });
    expect(await statusOf(other, `DELETE /tokens/${id}`, other.apiKey)).toEqual([404, "NOT_FOUND"]);
    expect(await statusOf(tenant, "DELETE /tokens/nothing", tenant.apiKey)).toEqual([404, "NOT_FOUND"]);
    const parent = tenant.apiKey.split("_")[2] ?? "";
    expect(await statusOf(tenant, `DELETE /tokens/${parent}`, token)).toEqual([404, "NOT_FOUND"]);
    const [event] = await db
      .select()
      .from(auditEvents)
      .where(and(eq(auditEvents.tenantId, tenant.tenantId), eq(auditEvents.event, "KEY_CREATED")));
    expect(event).toMatchObject({
      actor: parent,
      details: { credentialId: id, name: "sub-agent", madeFrom: [parent] },
    });
    const secret = token.split("_")[3] ?? "-";
    expect(logged.join("\n")).not.toContain(secret);
    expect(await revokeKey(db, { id, kind: "api_key", tenantId: tenant.tenantId })).toBe(true);
  });
});
