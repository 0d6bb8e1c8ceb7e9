import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { beginAttempt, newRun, recordPlan, recordProgress, toStatus } from "../../../src/service/runs/state.ts";
import type { RunSpec } from "../../../src/service/db/run-spec.ts";
import { runStep, type StepDeps } from "../../../src/service/indexing/steps.ts";
import type { RunsClient, Verdict } from "../../../src/service/runs/coordinator.ts";
import { createLogger } from "../../../src/lib/log.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("a git host that sends nothing is reported while it is silent, and given up after a minute", async () => {
  const spec: RunSpec = {
    runId: "run",
    tenantId: "tenant",
    workspaceId: "workspace",
    kind: "index",
    source: { url: "https://git.example.com/silent.git" },
    options: { maxFileSizeBytes: 1_000 },
    actor: "test",
  };
  let record = beginAttempt(newRun(spec), 0);
  const verdicts: Verdict[] = [];
  const runs = {
    claim: async () => ({ spec, token: "token" }),
    beat: async (_run: string, _attempt: number, phase: "pulling", progress: object) => {
      record = recordProgress(record, phase, progress, 0);
      return true;
    },
    failed: async (_run: string, _attempt: number, _step: unknown, verdict: Verdict) => void verdicts.push(verdict),
  } as unknown as RunsClient;
  const log = createLogger({}, () => {});
  const deps = {
    runs,
    context: () => ({ fetch: () => new Promise(() => {}), gitHosts: {}, log }),
    log,
  } as unknown as StepDeps;
  const step = runStep({ kind: "plan", workspaceId: "workspace", runId: "run", attempt: 1 }, deps);
  await vi.advanceTimersByTimeAsync(9_000);
  expect(toStatus(record).progress).toEqual({ filesDone: 0, filesTotal: 0, phase: "queued" });
  await vi.advanceTimersByTimeAsync(40_000);
  expect(toStatus(record).progress.silentSec).toBeGreaterThanOrEqual(40);
  await vi.advanceTimersByTimeAsync(12_000);
  await step;
  expect(verdicts).toMatchObject([{ action: "restart", limit: 2, error: { code: "CLONE_FAILED" } }]);
  expect(toStatus(recordPlan(record, { shards: 1, filesTotal: 1 }, 0)).progress.silentSec).toBeUndefined();
});
