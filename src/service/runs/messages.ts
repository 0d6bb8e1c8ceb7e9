import * as z from "zod";
import type { RunSpec } from "../db/run-spec.ts";

/**
 * Messages of the indexing queue. They hold references, never content or a credential. Each step names its run and
 * attempt; a message of an attempt that was given up is dropped.
 */
const step = { workspaceId: z.string(), runId: z.string(), attempt: z.int() };

export const QueueMessage = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("health"), sentAt: z.number() }),
  z.object({ kind: z.literal("rebuild_search"), tenantId: z.string(), workspaceId: z.string(), seq: z.int() }),
  z.object({ kind: z.literal("overlay"), tenantId: z.string(), overlayId: z.string() }),
  z.object({ kind: z.literal("plan"), ...step }),
  z.object({ kind: z.literal("shard"), ...step, shard: z.int(), key: z.string() }),
  z.object({ kind: z.literal("finish"), ...step }),
  z.object({ kind: z.literal("build"), ...step }),
]);
export type QueueMessage = z.infer<typeof QueueMessage>;

/** A message that is a step of a run. */
export type StepMessage = Exclude<QueueMessage, { kind: "health" | "rebuild_search" | "overlay" }>;

/** Where the attempts of a run stage their objects. */
export const attemptsPrefix = (runId: string) => `runs/${runId}/`;

/** Where an attempt of a run stages its objects. */
export const runPrefix = (runId: string, attempt: number) => `${attemptsPrefix(runId)}${attempt}/`;

/** The staged object that a shard's message names. */
export const shardKey = (runId: string, attempt: number, shard: number) => `${runPrefix(runId, attempt)}shard-${shard}`;

/** Prefix of the notes of what an attempt is parsing. They outlast the attempt, up to the end of the run. */
export const parsingPrefix = (runId: string, attempt: number) => `${runPrefix(runId, attempt)}parsing/`;

/** The message that starts a step of a run's attempt. */
export function stepMessage(
  { spec, attempt }: { spec: RunSpec; attempt: number },
  kind: "plan" | "finish" | "build",
): StepMessage {
  return { kind, workspaceId: spec.workspaceId, runId: spec.runId, attempt };
}
