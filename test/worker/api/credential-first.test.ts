import { listDurableObjectIds } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import { takeFromBucket } from "../../../src/service/gate/client.ts";
import { createCredential, deriveCredentialKey } from "../../../src/service/tenancy/credentials.ts";
import { pause } from "../../../src/lib/pause.ts";
import { createApiTenant } from "../support/api.ts";
import { startClock, stopClock } from "../support/clock.ts";
import { countQueriesOfTest } from "../support/database-away.ts";
import { credentialKey, ENCRYPTION_KEY } from "../support/tenants.ts";

afterEach(startClock);

/** A body that notes whether anyone read from it. Its declared length is beyond what is received of a refused request. */
function watchedBody(declaredBytes: number) {
  const seen = { isRead: false };
  const body = new ReadableStream(
    {
      pull: (controller) => {
        seen.isRead = true;
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  const headers = { "Content-Type": "application/json", "Content-Length": String(declaredBytes) };
  return { seen, init: { body, headers } };
}

/** More than is received of a request that is refused anyway. */
const HUGE_BYTES = 100_000_000;

const strangers = () => ({
  forged: createCredential("api_key", crypto.randomUUID(), deriveCredentialKey("another deployment")).value,
  unknown: createCredential("api_key", crypto.randomUUID(), credentialKey).value,
});

describe("a request's body", () => {
  it.each(["POST /embed", "POST /rerank", "POST /index-snapshot", "POST /v1/embeddings"] as const)(
    "of %s is not read before its credential is well-formed, a large one not before it is accepted",
    async (route) => {
      const tenant = await createApiTenant();
      const { forged, unknown } = strangers();
      const isRead = async (credential: string | null) => {
        const { seen, init } = watchedBody(HUGE_BYTES);
        expect((await tenant.call(route, { ...init, credential })).status).toBe(401);
        return seen.isRead;
      };
      expect(await isRead(null)).toBe(false);
      expect(await isRead("nonsense")).toBe(false);
      expect(await isRead(forged)).toBe(false);
      expect(await isRead(unknown)).toBe(false);
      const { seen, init } = watchedBody(70_000);
      expect((await tenant.call(route, init)).status).toBe(400);
      expect(seen.isRead).toBe(true);
    },
  );

  it("does not delay a 401 by arriving slowly", async () => {
    const tenant = await createApiTenant();
    const { forged, unknown } = strangers();
    for (const [route, credential, declared] of [
      ["POST /embed", forged, 1_000_000],
      ["POST /mcp", forged, 1_000],
      ["POST /embed", unknown, 1_000],
      ["POST /mcp", unknown, 1_000],
      ["POST /search", unknown, 1_000_000],
    ] as const) {
      let sent = 0;
      const body = new ReadableStream({
        pull: async (controller) => {
          await pause(20);
          sent++;
          if (sent < 1_000) controller.enqueue(new Uint8Array(1));
          else controller.close();
        },
      });
      const headers = { "Content-Type": "application/json", "Content-Length": String(declared) };
      expect((await tenant.send(route, { body, headers, credential })).status).toBe(401);
      // Refused bodies used to be received for 10 s, and small ones to their end.
      expect([route, declared, sent < 200]).toEqual([route, declared, true]);
    }
  });

  it("costs no more credits or requests if it is large", async () => {
    stopClock(Date.now());
    const tenant = await createApiTenant({}, 20);
    const input = Array.from({ length: 20 }, () => "a".repeat(4_000));
    const large = await tenant.call("POST /embed", { json: { input } });
    expect([large.status, large.body["usage"]]).toEqual([200, { credits: 20 }]);
    const refused = await tenant.call("POST /embed", { json: { input } });
    expect([refused.status, refused.body["code"]]).toEqual([429, "QUOTA_EXCEEDED"]);
    expect(refused.body["error"]).toMatch(/^0 of 20 credits are left this month and the request needs up to 20;/);
    expect(refused.headers.get("X-RateLimit-Remaining")).toBe("598");
  });
});

describe("forged credentials", () => {
  it("reach neither a gate nor the database", async () => {
    const tenant = await createApiTenant();
    const gateCount = async () => (await listDurableObjectIds(env.TENANT_GATE)).length;
    const reachedByTwenty = async (): Promise<{ queries: number; gates: number }> => {
      const queries = await countQueriesOfTest();
      const gates = await gateCount();
      try {
        for (let i = 0; i < 20; i++) {
          expect((await tenant.call("GET /usage", { credential: strangers().forged })).status).toBe(401);
        }
        return { queries: queries.tries(), gates: (await gateCount()) - gates };
      } finally {
        queries.restore();
      }
    };
    // Work that earlier tests have left, such as a retry, may reach them meanwhile, but not each time.
    const reached = [await reachedByTwenty(), await reachedByTwenty(), await reachedByTwenty()];
    expect(Math.min(...reached.map(({ queries }) => queries))).toBe(0);
    expect(Math.min(...reached.map(({ gates }) => gates))).toBe(0);
  });

  it("are limited per source address, which valid credentials there do not notice", async () => {
    const tenant = await createApiTenant({ RATE_LIMITS: "" });
    const address = "198.51.100.77";
    const headers = { "CF-Connecting-IP": address };
    stopClock(Math.ceil(Date.now() / 60_000) * 60_000 + 1_000);
    // Most of the 600 are taken from the bucket itself, where a request costs ten times as much.
    const take = () => takeFromBucket(env.RATE_BUCKETS, ENCRYPTION_KEY, { surface: "unauthorized", subject: address });
    const taken = await Promise.all(Array.from({ length: 500 }, take));
    expect(taken.at(-1)).toMatchObject({ allowed: true });
    const attempt = () => tenant.call("GET /usage", { headers, credential: "nonsense" });
    const answers = await Promise.all(Array.from({ length: 100 }, attempt));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
    const limited = await attempt();
    expect(limited).toMatchObject({ status: 429, body: { ok: false, code: "RATE_LIMITED", retryAfterSec: 59 } });
    expect(Object.fromEntries(limited.headers)).toMatchObject({
      "retry-after": "59",
      "x-ratelimit-limit": "600",
      "x-ratelimit-remaining": "0",
    });
    expect((await tenant.call("GET /usage", { headers })).status).toBe(200);
    const elsewhere = { "CF-Connecting-IP": "198.51.100.78" };
    expect((await tenant.call("GET /usage", { headers: elsewhere, credential: null })).status).toBe(401);
  });
});

describe("responses", () => {
  it.each([
    ["GET /usage", {}, 200],
    ["GET /usage", { credential: null }, 401],
    ["POST /embed", { json: {} }, 400],
    ["GET /nothing", {}, 404],
    ["PUT /embed", {}, 405],
  ] as const)("of %s %j say that they are not to be sniffed or stored", async (request, options, status) => {
    const tenant = await createApiTenant();
    const answer = await tenant.call(request, options);
    expect(answer.status).toBe(status);
    expect(answer.headers.get("X-Content-Type-Options")).toBe("nosniff");
    expect(answer.headers.get("Cache-Control")).toBe("no-store");
  });

  it("with status 503 say when to come back", async () => {
    const tenant = await createApiTenant({ EMBED_PROVIDER: "none", RERANK_PROVIDER: "none" });
    for (const request of ["GET /embed", "GET /rerank"] as const) {
      const { status, headers } = await tenant.call(request);
      expect([status, Number(headers.get("Retry-After"))]).toEqual([503, 30]);
    }
  });
});

describe("runs of a workspace", () => {
  it("are listed to their tenant's workers only", async () => {
    const tenant = await createApiTenant();
    const credential = (await tenant.addCredential("worker_token")).value;
    const list = (query: string) => tenant.call(`GET /index?${query}`, { credential });
    expect(await list("workspaceId=x&limit=0")).toMatchObject({
      status: 400,
      body: { code: "INVALID_SELECTOR", details: { issues: [{ path: "workspaceId" }, { path: "limit" }] } },
    });
    expect(await list(`workspaceId=${crypto.randomUUID()}`)).toMatchObject({
      status: 404,
      body: { code: "WORKSPACE_NOT_FOUND" },
    });
    const cancelled = await tenant.call(`DELETE /index/${crypto.randomUUID()}`, { credential });
    expect(cancelled).toMatchObject({ status: 404, body: { code: "RUN_NOT_FOUND" } });
  });
});
