/** No push is lost, wherever the database or the coordinator fails while its delivery is handled. */
import { env } from "cloudflare:workers";
import { and, eq, inArray } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { hookDeliveries, repositorySources } from "../../../src/service/db/people-schema.ts";
import { runs } from "../../../src/service/db/schema.ts";
import { createHook } from "../../../src/service/hooks/manage.ts";
import { receiveDelivery } from "../../../src/service/hooks/receive.ts";
import type { CoordinatorNamespace } from "../../../src/service/runs/coordinator.ts";
import { findRun } from "../../../src/service/runs/runs.ts";
import { settleOrphanedRuns } from "../../../src/service/runs/start.ts";
import { sealReadToken } from "../../../src/service/sources/read-token.ts";
import { createLogger } from "../../../src/lib/log.ts";
import { PAYLOADS, signHook } from "../../support/hook-payloads.ts";
import { breakDatabaseAt } from "../support/database-away.ts";
import { coordinator, givenWorkspaces, newSpec, tenantId, worker, workspaceId } from "../support/runs.ts";
import { db, ENCRYPTION_KEY } from "../support/tenants.ts";

givenWorkspaces();

const SHA = "6113728f27ae82c7b1a177c8d03f9e96e0adf246";
const deps = {
  db,
  accounts: db,
  databaseOf: () => db,
  coordinators: env.WORKSPACE_RUNS as CoordinatorNamespace,
  encryptionKey: ENCRYPTION_KEY,
  log: createLogger({ worker: "test" }, () => {}),
  limitHook: async () => {},
  limitSender: async () => {},
};

interface Hooked {
  hookId: string;
  deliver: (id: string, over?: Partial<typeof deps>) => ReturnType<typeof receiveDelivery>;
}

async function connect(): Promise<Hooked> {
  const cloneUrl = "https://git.example.com/acme/api.git";
  const sealedToken = await sealReadToken(ENCRYPTION_KEY, { workspaceId, cloneUrl }, "read-token");
  await db.insert(repositorySources).values({ workspaceId, cloneUrl, sealedToken, branches: [] });
  const owner = { tenantId, workspaceId, provider: "github", actor: "test" };
  const { id: hookId, secret } = await createHook({ db, encryptionKey: ENCRYPTION_KEY }, owner);
  const deliver: Hooked["deliver"] = (id, over) => {
    const { headers, body } = PAYLOADS.github({ ref: "refs/heads/main", after: SHA, id });
    const text = JSON.stringify(body);
    return receiveDelivery(
      { ...deps, ...over },
      {
        provider: "github",
        id: hookId,
        headers: new Headers({ ...headers, ...signHook("github", secret, text) }),
        body: new TextEncoder().encode(text),
      },
    );
  };
  return { hookId, deliver };
}

const mine = () => eq(runs.tenantId, tenantId);
const openRuns = () =>
  db
    .select()
    .from(runs)
    .where(and(mine(), inArray(runs.state, ["queued", "running"])));
const deliveries = (hookId: string) => db.select().from(hookDeliveries).where(eq(hookDeliveries.hookId, hookId));

/** Expects that the coordinator has exactly one run of the push, and that nothing is left to submit. */
async function expectOneRun(hookId: string): Promise<void> {
  const open = await openRuns();
  expect(open).toMatchObject([{ submission: null, request: { ref: "main" } }]);
  expect(await coordinator().status(open[0]!.id)).toMatchObject({ state: expect.stringMatching("queued|running") });
  expect(await deliveries(hookId)).toMatchObject([{ outcome: "started", runId: open[0]!.id, gitSha: SHA }]);
}

/** Delivers a push with the database breaking at a query. Returns whether that query was reached and whether the push was accepted. */
async function deliverBroken({ deliver }: Hooked, query: number, moment: "before" | "after") {
  const broken = breakDatabaseAt(query, moment);
  try {
    const accepted = await deliver("delivery-1").then(
      () => true,
      () => false,
    );
    return { accepted, wasReached: broken.tries() >= query };
  } finally {
    broken.restore();
  }
}

describe.each([1, 2, 3, 4, 5, 6])("a push during which the database breaks at query %i", (query) => {
  it.each(["before", "after"] as const)(
    "is not lost if the host redelivers it (%s it is carried out)",
    async (moment) => {
      const hooked = await connect();
      await deliverBroken(hooked, query, moment);
      expect(await hooked.deliver("delivery-1")).toMatchObject({ status: "accepted" });
      await expectOneRun(hooked.hookId);
      expect(await hooked.deliver("delivery-1")).toMatchObject({ outcome: "ignored" });
      await expectOneRun(hooked.hookId);
    },
  );

  it.each(["before", "after"] as const)(
    "is not lost once it is recorded, without a redelivery (%s it is carried out)",
    async (moment) => {
      const hooked = await connect();
      const { accepted } = await deliverBroken(hooked, query, moment);
      await settleOrphanedRuns(deps, Date.now(), mine());
      const recorded = await deliveries(hooked.hookId);
      if (accepted) expect(recorded).toHaveLength(1);
      if (recorded.length > 0) await expectOneRun(hooked.hookId);
      // The host has seen an error, and shows it.
      else expect(await openRuns()).toEqual([]);
    },
  );
});

describe("a delivery", () => {
  it("has fewer queries than the test above breaks", async () => {
    const hooked = await connect();
    expect((await deliverBroken(hooked, 8, "before")).wasReached).toBe(false);
    await expectOneRun(hooked.hookId);
  });

  it("is accepted while its coordinator is away, and its run is submitted later, by the cron or a redelivery", async () => {
    const hooked = await connect();
    const coordinators = { idFromName: () => "", get: () => ({ submit: () => Promise.reject(new Error("away")) }) };
    expect(await hooked.deliver("delivery-1", { coordinators })).toMatchObject({ outcome: "started" });
    const [run] = await openRuns();
    expect(await coordinator().status(run!.id)).toBeNull();
    expect(JSON.stringify(run)).not.toContain("read-token");
    await hooked.deliver("delivery-1");
    await expectOneRun(hooked.hookId);
    expect(await worker().claim(run!.id, 1, "pulling")).toMatchObject({
      spec: { source: { ref: "main", auth: { sealed: expect.any(String) } } },
    });
  });

  it("that an earlier version received without starting a run is taken over", async () => {
    const { hookId, deliver } = await connect();
    const claim = { hookId, deliveryId: "delivery-1", event: "push", branch: "main", gitSha: SHA, outcome: "received" };
    // Earlier versions went by the host's id, so the second delivery is a new one here.
    await db.insert(hookDeliveries).values(claim);
    expect(await deliver("delivery-1")).toMatchObject({ outcome: "started" });
    await db.delete(hookDeliveries).where(eq(hookDeliveries.deliveryId, claim.deliveryId));
    await expectOneRun(hookId);
  });

  it("whose run failed starts another one when it is redelivered; one that succeeded or was cancelled does not", async () => {
    const { hookId, deliver } = await connect();
    await deliver("delivery-1");
    const [first] = await openRuns();
    await worker().claim(first!.id, 1, "pulling");
    const error = { code: "CLONE_FAILED", error: "no" };
    await worker().failed(first!.id, 1, { kind: "plan" }, { action: "fail", limit: 1, error });
    await expect.poll(async () => (await findRun(db, tenantId, first!.id))?.state).toBe("failed");
    expect(await deliver("delivery-1")).toMatchObject({ outcome: "started" });
    await expectOneRun(hookId);
    const [second] = await openRuns();
    await db.update(runs).set({ state: "cancelled" }).where(eq(runs.id, second!.id));
    expect(await deliver("delivery-1")).toMatchObject({ outcome: "ignored" });
  });

  it("cancels what waits in front of it, but neither a run at work nor a newer one", async () => {
    const { deliver } = await connect();
    await deliver("delivery-1");
    const [working] = await openRuns();
    await worker().claim(working!.id, 1, "pulling");
    await deliver("delivery-2");
    const together = await Promise.all(["delivery-3", "delivery-4", "delivery-5"].map((id) => deliver(id)));
    expect(together).toMatchObject([{ outcome: "started" }, { outcome: "started" }, { outcome: "started" }]);
    await deliver("delivery-6");
    const left = await openRuns();
    expect(left.map(({ id }) => id)).toContain(working!.id);
    expect(left).toHaveLength(2);
    expect((await coordinator().unfinished()).map(({ state }) => state).sort()).toEqual(["queued", "running"]);
  });
});

describe("runs that were recorded but not submitted", () => {
  it("are submitted, given up after a day, and forgotten once they have ended", async () => {
    const specs = await Promise.all([newSpec(), newSpec(), newSpec()]);
    for (const spec of specs) await db.update(runs).set({ submission: spec }).where(eq(runs.id, spec.runId));
    const [lost, ended, hopeless] = specs.map(({ runId }) => runId);
    await db.update(runs).set({ state: "succeeded" }).where(eq(runs.id, ended!));
    const away = { idFromName: () => "", get: () => ({ submit: () => Promise.reject(new Error("away")) }) };
    const day = 25 * 3_600_000;
    const which = and(mine(), eq(runs.id, hopeless!));
    expect(await settleOrphanedRuns({ db, coordinators: away }, Date.now(), which)).toMatchObject({
      submitted: 0,
      failed: 0,
    });
    expect(await settleOrphanedRuns({ db, coordinators: away }, Date.now() + day, which)).toMatchObject({ failed: 1 });
    await settleOrphanedRuns(deps, Date.now(), mine());
    expect(await coordinator().status(lost!)).toMatchObject({ runId: lost });
    expect(await coordinator().status(ended!)).toBeNull();
    for (const { submission } of await db.select().from(runs).where(mine())) expect(submission).toBeNull();
  });
});
