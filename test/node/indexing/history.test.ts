import { describe, expect, it } from "vitest";
import { addRetry, enterPhase, leavePhase, NO_HISTORY, type RunHistory } from "../../../src/service/runs/history.ts";
import { beginAttempt, claimStep, endRun, newRun, recordPlan } from "../../../src/service/runs/state.ts";

const spec = {
  runId: "r",
  tenantId: "t",
  workspaceId: "w",
  kind: "index" as const,
  source: { url: "https://example.com/r.git" },
  options: { maxFileSizeBytes: 1 },
  actor: "a",
};

describe("a run's history", () => {
  it("lets pulling and indexing overlap, unless one worker goes from one to the other", () => {
    const pulling = claimStep(beginAttempt(newRun(spec), 0), "pulling", 10)!;
    const sharded = recordPlan(claimStep(pulling, "indexing", 20)!, { shards: 2, filesTotal: 2 }, 30);
    expect(sharded.history.spans).toEqual([
      { phase: "pulling", attempt: 1, from: 10, to: 30 },
      { phase: "indexing", attempt: 1, from: 20, to: null },
    ]);
    const alone = claimStep(claimStep(pulling, "indexing", 20, "pulling")!, "finishing", 40, "indexing")!;
    expect(endRun(alone, 50, { result: {} }).history.spans).toEqual([
      { phase: "pulling", attempt: 1, from: 10, to: 20 },
      { phase: "indexing", attempt: 1, from: 20, to: 40 },
      { phase: "finishing", attempt: 1, from: 40, to: 50 },
    ]);
  });

  it("ends what an attempt was doing when the next one begins", () => {
    const lost = claimStep(beginAttempt(newRun(spec), 0), "pulling", 10)!;
    const next = claimStep(beginAttempt(lost, 99), "pulling", 120)!;
    expect(next.history.spans).toEqual([
      { phase: "pulling", attempt: 1, from: 10, to: 99 },
      { phase: "pulling", attempt: 2, from: 120, to: null },
    ]);
  });

  it("is bounded, whatever happens, and counts what it leaves out", () => {
    let history: RunHistory = NO_HISTORY;
    const error = { code: "CLONE_FAILED", error: "x".repeat(10_000), details: { reason: "NETWORK", gitStderr: "y" } };
    for (let n = 1; n <= 500; n++) {
      history = leavePhase(enterPhase(history, "pulling", n, n), n);
      history = addRetry(history, error, { at: n, attempt: n, step: "plan", action: "restart", waitSec: 1 });
    }
    expect(history.retryCount).toBe(500);
    expect(history.retries.at(-1)).toMatchObject({ at: 500, reason: "NETWORK" });
    expect(JSON.stringify(history).length).toBeLessThan(20_000);
    expect(enterPhase(enterPhase(NO_HISTORY, "pulling", 1, 1), "pulling", 1, 2).spans).toHaveLength(1);
  });
});
