import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { runs } from "../../../src/service/db/schema.ts";
import { cancelRun, findRun, listRuns } from "../../../src/service/runs/runs.ts";
import { settleOrphanedRuns } from "../../../src/service/runs/start.ts";
import { givenWorkspaces, newSpec, row, stateOf, submitted, tenantId, worker, workspaceId } from "../support/runs.ts";
import { db } from "../support/tenants.ts";

givenWorkspaces();

describe("runs as clients see them", () => {
  const deps = { db, coordinators: env.WORKSPACE_RUNS };

  it("are listed, newest first, and cancelled wherever they stand", async () => {
    const first = await submitted();
    const second = await submitted();
    const third = await submitted();
    const list = await listRuns(deps, workspaceId, 2);
    expect(list).toMatchObject([
      { runId: third.runId, state: "queued", kind: "index" },
      { runId: second.runId, state: "queued" },
    ]);
    const cancel = async (runId: string) => cancelRun(deps, (await findRun(db, tenantId, runId))!);
    expect(await cancel(second.runId)).toMatchObject({ state: "cancelled", error: { code: "RUN_CANCELLED" } });
    await worker().claim(first.runId, 1, "pulling");
    expect(await cancel(first.runId)).toMatchObject({ state: "cancelled" });
    expect(await worker().beat(first.runId, 1, "pulling", {})).toBe(false);
    expect(await stateOf(third)).toBe("running");
    await worker().succeed(third.runId, 1, {});
    expect(await cancel(third.runId)).toMatchObject({ state: "succeeded" });
    expect(await findRun(db, crypto.randomUUID(), third.runId)).toBeUndefined();
    expect((await row(first.runId))?.state).toBe("cancelled");
  });

  it("of an earlier version are failed when they never reached their coordinator, and only then", async () => {
    const lost = await newSpec();
    const waiting = await submitted();
    const mine = eq(runs.tenantId, tenantId);
    expect(await settleOrphanedRuns(deps, Date.now(), mine)).toEqual({ submitted: 0, failed: 0 });
    expect(await settleOrphanedRuns(deps, Date.now() + 120_000, mine)).toEqual({ submitted: 0, failed: 1 });
    expect(await row(lost.runId)).toMatchObject({ state: "failed", error: { code: "INTERNAL" } });
    expect((await row(waiting.runId))?.state).toBe("queued");
  });
});
