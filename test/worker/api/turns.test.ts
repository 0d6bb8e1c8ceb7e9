import { afterEach, expect, it, vi } from "vitest";
import { TenantGate } from "../../../src/service/gate/tenant-gate.ts";
import type { AdmitRequest } from "../../../src/service/gate/types.ts";
import { pause } from "../../../src/lib/pause.ts";
import { type ApiTenant, createApiTenant } from "../support/api.ts";

const CONNECTIONS = 24;

afterEach(() => {
  vi.restoreAllMocks();
});

/** Holds the gate's answers to one tenant until released; counts those that it holds. */
function holdGate(tenantId: string) {
  const seen = { held: 0, most: 0, isReleased: false };
  // oxlint-disable-next-line typescript/unbound-method -- called with its object below
  const { admit } = TenantGate.prototype;
  vi.spyOn(TenantGate.prototype, "admit").mockImplementation(async function (this: TenantGate, request: AdmitRequest) {
    if (request.tenantId === tenantId) {
      seen.held++;
      seen.most = Math.max(seen.most, seen.held);
      while (!seen.isReleased) await pause(5);
      seen.held--;
    }
    return admit.call(this, request);
  });
  return { seen, release: () => (seen.isReleased = true) };
}

async function known(): Promise<ApiTenant> {
  const tenant = await createApiTenant();
  expect((await tenant.call("GET /usage")).status).toBe(200);
  return tenant;
}

const statuses = async (answers: Promise<{ status: number }>[]) =>
  (await Promise.all(answers)).map(({ status }) => status);

it("works on two requests of a tenant at a time, and on those of others meanwhile", async () => {
  const [hostile, quiet] = [await known(), await known()];
  const { seen, release } = holdGate(hostile.tenantId);
  const flood = Array.from({ length: CONNECTIONS }, () => hostile.call("GET /usage"));
  await vi.waitUntil(() => seen.held > 0);
  expect((await quiet.call("GET /usage")).status).toBe(200);
  expect(seen.held).toBeLessThanOrEqual(2);
  release();
  expect(new Set(await statuses(flood))).toEqual(new Set([200]));
  expect(seen.most).toBe(2);
});

it("counts a request for its address until a gate has accepted its credential", async () => {
  const tenant = await known();
  const stolen = `${tenant.apiKey.slice(0, tenant.apiKey.lastIndexOf("_"))}_${"A".repeat(43)}`;
  const { seen, release } = holdGate(tenant.tenantId);
  const flood = Array.from({ length: CONNECTIONS }, () => tenant.call("GET /usage", { credential: stolen }));
  await vi.waitUntil(() => seen.held > 0);
  const own = tenant.call("GET /usage");
  await vi.waitUntil(() => seen.held === 3);
  release();
  expect((await own).status).toBe(200);
  expect(new Set(await statuses(flood))).toEqual(new Set([401]));
});

it("does not count a request while its body arrives", async () => {
  const tenant = await known();
  let isOver = false;
  const slow = Array.from({ length: 4 }, () => {
    const body = new ReadableStream({
      pull: async (controller) => {
        await pause(20);
        if (isOver) controller.close();
        else controller.enqueue(new Uint8Array(1).fill(0x20));
      },
    });
    const headers = { "Content-Type": "application/json", "Content-Length": "100000" };
    return tenant.call("POST /search", { body, headers });
  });
  expect((await tenant.call("GET /usage")).status).toBe(200);
  isOver = true;
  expect(new Set(await statuses(slow))).toEqual(new Set([400]));
});
