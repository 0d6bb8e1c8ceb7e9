import type { RunPhase, RunStatus } from "../../contract/index.ts";
import type { RunSpec } from "../db/run-spec.ts";
import type { RunError, RunHistory } from "./history.ts";
import type { StepClaim, StepProgress, StepUsage, WorkCounters } from "./state.ts";

/** RPC interface of a workspace's run coordinator, as used by routes. */
interface RunCoordinator {
  /** Accepts a run. Idempotent. */
  submit(spec: RunSpec): Promise<void>;
  /** Waits up to a minute for the run to end and returns its status; null for an unknown run. */
  wait(runId: string): Promise<RunStatus | null>;
  status(runId: string): Promise<RunStatus | null>;
  /** Runs that have not ended, in order of arrival. */
  unfinished(): Promise<RunStatus[]>;
  isUnfinished(runId: string): Promise<boolean>;
  /** Phases and retries of a run; null for an unknown run. */
  history(runId: string): Promise<RunHistory | null>;
  /** Ends the run as cancelled, if it has not ended; null for an unknown run. Use `cancelRun`, which also fences its writes. */
  cancel(runId: string): Promise<RunStatus | null>;
  /** Deletes all state after the workspace's tenant was erased. */
  erase(): Promise<void>;
  /** Notifies the coordinator that a run of the workspace was granted one of its tenant's slots. */
  slotGranted(): Promise<void>;
  /** Streams server-sent `status` events until the run ends; null for an unknown run. */
  events(runId: string): Promise<ReadableStream<Uint8Array> | null>;
}

/** RPC interface of the run coordinator, as used by the consumer. */
export interface RunsClient {
  /** `left`: the phase that the worker leaves for this one, in the same step. */
  claim(runId: string, attempt: number, phase: RunPhase, left?: RunPhase): Promise<StepClaim | null>;
  beat(runId: string, attempt: number, phase: RunPhase, progress: StepProgress): Promise<boolean>;
  shardStaged(runId: string, attempt: number, shard: number): Promise<void>;
  planned(
    runId: string,
    attempt: number,
    plan: { shards: number; filesTotal: number },
    usage: StepUsage,
  ): Promise<boolean>;
  shardDone(runId: string, attempt: number, shard: number, files: number, usage: StepUsage): Promise<void>;
  /** Adds the work of a step whose attempt was given up. */
  spent(runId: string, usage: StepUsage): Promise<void>;
  work(runId: string, attempt: number): Promise<WorkCounters | null>;
  handOver(runId: string, attempt: number, kind: "build"): Promise<void>;
  failed(runId: string, attempt: number, step: StepRef, verdict: Verdict, usage?: StepUsage): Promise<void>;
  succeed(runId: string, attempt: number, result: Record<string, unknown>): Promise<void>;
  cancel(runId: string): Promise<unknown>;
  /** Fails a run whose message reached the dead-letter queue. */
  failOrphaned(runId: string, attempt: number): Promise<void>;
}

/** Identifies a step of an attempt. */
export type StepRef = { kind: "plan" | "finish" | "build" } | { kind: "shard"; shard: number };

/**
 * Consequence of a failed step. `retry`: repeat the step. `restart`: restart the run from its plan in a new attempt; a plan is never
 * repeated within its attempt, because its shards may be in the queue.
 */
export interface Verdict {
  action: "retry" | "restart" | "fail";
  error: RunError;
  /** Consecutive failures of this kind after which the run fails. */
  limit: number;
}

/** The subset of a Durable Object namespace that is needed. */
export interface CoordinatorNamespace<Id = unknown> {
  idFromName(name: string): Id;
  get(id: Id): unknown;
}

/** Returns the coordinator of a workspace. The RPC types are declared by hand because the generated ones drop `unknown` members. */
export function coordinatorOf(namespace: CoordinatorNamespace, workspaceId: string): RunCoordinator {
  return namespace.get(namespace.idFromName(workspaceId)) as RunCoordinator;
}
