import type { Db } from "../db/client.ts";
import type { revisions } from "../db/schema.ts";
import type { Embedder } from "../embedding/index.ts";
import type { Logger } from "../log.ts";
import type { CodeParser } from "../parsing/parser.ts";
import type { RunSpec } from "./run-state.ts";
import type { StagingBucket } from "./staging.ts";

/** A row of `revisions`. */
export type Revision = typeof revisions.$inferSelect;

/** Called with each staged shard as soon as it can be worked on. */
export type ShardReady = (shard: number, key: string) => Promise<void>;

/** What the steps of a run work with. */
export interface StepContext {
  run: RunSpec;
  attempt: number;
  db: Db;
  staging: StagingBucket;
  embedder: Embedder;
  parser: () => Promise<CodeParser>;
  fetch: typeof fetch;
  allowLocalGit: boolean;
  /** Opens the run's sealed credential. */
  openToken: (sealed: string) => Promise<string>;
  region: string;
  log: Logger;
  now: () => number;
  /** Reports progress. Throws `StaleAttemptError` when the attempt no longer counts. */
  beat: (progress: { filesDone?: number; filesTotal?: number }) => Promise<void>;
}

/** What was planned does not fit any more; the run has to be planned anew. */
export class StalePlanError extends Error {
  override readonly name = "StalePlanError";
}

/** The attempt was given up; whatever it still does is not wanted. */
export class StaleAttemptError extends Error {
  override readonly name = "StaleAttemptError";
}
