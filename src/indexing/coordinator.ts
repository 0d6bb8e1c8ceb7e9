import type { RunStatus } from "../contract/index.ts";
import type { RunSpec } from "./run-state.ts";

/** The calls of a workspace's run coordinator that routes make. */
export interface RunCoordinator {
  /** Accepts a run; asking again for the same run changes nothing. */
  submit(spec: RunSpec): Promise<void>;
  /** The run's status when it has ended, or as it stands after a minute; null for an unknown run. */
  wait(runId: string): Promise<RunStatus | null>;
  status(runId: string): Promise<RunStatus | null>;
  /** Runs that have not ended, in the order they came. */
  unfinished(): Promise<RunStatus[]>;
  isUnfinished(runId: string): Promise<boolean>;
  /** Ends the run as cancelled, if it has not ended; null for an unknown run. Use `cancelRun`, which also fences its writes. */
  cancel(runId: string): Promise<RunStatus | null>;
  /** Deletes everything: the workspace's tenant was erased. */
  erase(): Promise<void>;
  /** Tells that a run of the workspace has been given one of its tenant's slots. */
  slotGranted(): Promise<void>;
  /** Server-sent `status` events from now until the run has ended; null for an unknown run. */
  events(runId: string): Promise<ReadableStream<Uint8Array> | null>;
}

/** The part of a Durable Object namespace that is used. */
export interface CoordinatorNamespace<Id = unknown> {
  idFromName(name: string): Id;
  get(id: Id): unknown;
}

/** The coordinator of a workspace. Its RPC types are stated here: the generated ones lose what is `unknown` in them. */
export function coordinatorOf(namespace: CoordinatorNamespace, workspaceId: string): RunCoordinator {
  return namespace.get(namespace.idFromName(workspaceId)) as RunCoordinator;
}
