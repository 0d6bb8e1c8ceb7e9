import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { afterEach, expect, it } from "vitest";
import { hookDeliveries, repositorySources } from "../../../src/service/db/people-schema.ts";
import { workspaces } from "../../../src/service/db/schema.ts";
import { takeFromBucket } from "../../../src/service/gate/client.ts";
import { createHook } from "../../../src/service/hooks/manage.ts";
import { PAYLOADS, type Push, signHook } from "../../support/hook-payloads.ts";
import { createApiTenant } from "../support/api.ts";
import { startClock, stopClock } from "../support/clock.ts";
import { countQueries } from "../support/database-away.ts";
import { db, ENCRYPTION_KEY } from "../support/tenants.ts";

const LIMIT = 600;
const ADDRESS = "198.51.100.21";
/** To a branch that is not indexed. */
const push: Push = { ref: "refs/heads/topic", after: "6113728f27ae82c7b1a177c8d03f9e96e0adf246" };

afterEach(startClock);

/** A GitHub hook, and a function that posts a push to it. */
async function createHooked(branches: string[] = []) {
  const tenant = await createApiTenant();
  const workspaceId = crypto.randomUUID();
  await db.insert(workspaces).values({ id: workspaceId, tenantId: tenant.tenantId });
  await db
    .insert(repositorySources)
    .values({ workspaceId, cloneUrl: "https://git.example.com/acme/api.git", branches });
  const hook = await createHook(
    { db, encryptionKey: ENCRYPTION_KEY },
    { tenantId: tenant.tenantId, workspaceId, provider: "github", actor: "test" },
  );
  const post = async (body: string, headers: Record<string, string>) => {
    const answer = await tenant.call(`POST ${hook.path}`, {
      credential: null,
      body,
      headers: {
        ...PAYLOADS.github(push).headers,
        ...signHook("github", hook.secret, body),
        "CF-Connecting-IP": ADDRESS,
        ...headers,
      },
    });
    return { ...answer, left: answer.headers.get("X-RateLimit-Remaining") };
  };
  return { hook, post };
}

const bodyOf = () => JSON.stringify(PAYLOADS.github(push).body);
const FORGED = { "X-Hub-Signature-256": `sha256=${"0".repeat(64)}` };

it("only new, authenticated deliveries spend the budget of a hook; all others are limited by source address", async () => {
  stopClock(Date.now());
  const { hook, post } = await createHooked();
  const first = bodyOf();
  for (let i = 0; i < 3; i++) expect((await post(first, FORGED)).status).toBe(401);
  expect(await post(first, {})).toMatchObject({ status: 200, left: String(LIMIT - 1) });
  // Copies of a delivery that someone saw: another id, another event, another content type.
  for (const changed of [{ "X-GitHub-Delivery": "other" }, { "X-GitHub-Event": "ping" }]) {
    const { status, body } = await post(first, changed);
    expect([status, body]).toMatchObject([200, { outcome: "ignored", detail: "this delivery was received before" }]);
  }
  expect((await post(first, { "Content-Type": "application/x-www-form-urlencoded" })).status).toBe(400);
  expect(await post(bodyOf(), {})).toMatchObject({ status: 200, left: String(LIMIT - 2) });

  const take = () => takeFromBucket(env.RATE_BUCKETS, ENCRYPTION_KEY, { surface: "unauthorized", subject: ADDRESS });
  await Promise.all(Array.from({ length: LIMIT }, take));
  expect((await post(first, FORGED)).status).toBe(429);
  expect((await post(first, { "X-GitHub-Delivery": "another" })).status).toBe(429);
  expect(await post(bodyOf(), {})).toMatchObject({ status: 200, left: String(LIMIT - 3) });
  const rows = await db.select().from(hookDeliveries).where(eq(hookDeliveries.hookId, hook.id));
  const times = (outcome: string) => rows.filter((row) => row.outcome === outcome).map((row) => row.times);
  expect(new Set(times("rejected"))).toEqual(new Set([1, 3]));
  expect(times("ignored")).toHaveLength(3);
});

it("a delivery beyond the budget of its hook is handled when it comes again", async () => {
  stopClock(Date.now());
  const { hook, post } = await createHooked();
  const take = () => takeFromBucket(env.RATE_BUCKETS, ENCRYPTION_KEY, { surface: "hook", subject: hook.id });
  await Promise.all(Array.from({ length: LIMIT }, take));
  const body = bodyOf();
  expect(await post(body, {})).toMatchObject({ status: 429, body: { code: "RATE_LIMITED" } });
  stopClock(Date.now() + 60_000);
  expect(await post(body, {})).toMatchObject({ status: 200, body: { outcome: "ignored" } });
});

it("branch globs that would take too long fail the delivery, and say so", async () => {
  const { post } = await createHooked(Array.from({ length: 50 }, (_, i) => `${"{*,**}{*,?}".repeat(17)}${i}`));
  const body = JSON.stringify(PAYLOADS.github({ ...push, ref: `refs/heads/${"a/b".repeat(150)}` }).body);
  expect(await post(body, {})).toMatchObject({
    status: 200,
    body: { outcome: "failed", detail: expect.stringMatching(/^branches: the globs take too long/) },
  });
});

it("looks a hook up once for forged deliveries that follow each other, and for every genuine one", async () => {
  // Another window than that which the requests above have used up.
  stopClock(Date.now() + 10 * 60_000);
  const { post } = await createHooked();
  const queriesOf = async (headers: Record<string, string>, status: number) => {
    const counted = countQueries();
    try {
      expect((await post(bodyOf(), headers)).status).toBe(status);
      return counted.tries();
    } finally {
      counted.restore();
    }
  };
  const first = await queriesOf(FORGED, 401);
  expect(await queriesOf(FORGED, 401)).toBe(first - 1);
  expect((await post(bodyOf(), {})).status).toBe(200);
  expect(await queriesOf(FORGED, 401)).toBe(first - 1);
});
