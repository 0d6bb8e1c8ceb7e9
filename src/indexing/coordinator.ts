import type { RunStatus } from "../contract/index.ts";
import type { RunSpec } from "./run-state.ts";

/** A workspace's run coordinator as the routes see it. */
export interface RunCoordinator {
  /** Accepts a run; asking again for the same run changes nothing. */
  submit(spec: RunSpec): Promise<void>;
  /** The run's status when it has ended, or as it stands after a minute; null for an unknown run. */
  wait(runId: string): Promise<RunStatus | null>;
  status(runId: string): Promise<RunStatus | null>;
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
