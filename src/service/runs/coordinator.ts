import type { RunStatus } from "../../contract/index.ts";
import type { RunSpec } from "./state.ts";

/** RPC interface of a workspace's run coordinator, as used by routes. */
export interface RunCoordinator {
  /** Accepts a run. Idempotent. */
  submit(spec: RunSpec): Promise<void>;
  /** Waits up to a minute for the run to end and returns its status; null for an unknown run. */
  wait(runId: string): Promise<RunStatus | null>;
  status(runId: string): Promise<RunStatus | null>;
  /** Runs that have not ended, in order of arrival. */
  unfinished(): Promise<RunStatus[]>;
  isUnfinished(runId: string): Promise<boolean>;
  /** Ends the run as cancelled, if it has not ended; null for an unknown run. Use `cancelRun`, which also fences its writes. */
  cancel(runId: string): Promise<RunStatus | null>;
  /** Deletes all state after the workspace's tenant was erased. */
  erase(): Promise<void>;
  /** Notifies the coordinator that a run of the workspace was granted one of its tenant's slots. */
  slotGranted(): Promise<void>;
  /** Streams server-sent `status` events until the run ends; null for an unknown run. */
  events(runId: string): Promise<ReadableStream<Uint8Array> | null>;
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
