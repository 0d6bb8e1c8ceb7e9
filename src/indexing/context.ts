import type { Db } from "../db/client.ts";
import type { RunPhase } from "../contract/index.ts";
import type { Embedder } from "../embedding/index.ts";
import type { GitHostPolicy } from "../git/wire/url.ts";
import type { Logger } from "../log.ts";
import type { CodeParser } from "../parsing/parser.ts";
import type { SearchBucket } from "../search/store.ts";
import type { SearchWriter } from "../search/write.ts";
import type { RunSpec, StepUsage } from "./run-state.ts";
import type { StagingBucket } from "./staging.ts";

/** Called with each staged shard as soon as it can be worked on. */
export type ShardReady = (shard: number, key: string) => Promise<void>;

/** What the steps of a run work with. */
export interface StepContext {
  run: RunSpec;
  attempt: number;
  db: Db;
  staging: StagingBucket;
  /** Where segments and tables of the search index are kept. */
  search: SearchBucket;
  embedder: Embedder;
  parser: () => Promise<CodeParser>;
  fetch: typeof fetch;
  gitHosts: GitHostPolicy;
  /** Opens the run's sealed credential. */
  openToken: (sealed: string) => Promise<string>;
  region: string;
  log: Logger;
  now: () => number;
  /** Embedding work of this claim, added up as it is done. */
  usage: StepUsage;
  /** Reports progress. Throws `StaleAttemptError` when the attempt no longer counts. */
  beat: (progress: { filesDone?: number; filesTotal?: number }) => Promise<void>;
  /** Notes progress without a report: a step that makes none for long is given up. */
  mark: () => void;
  /** Goes on to another phase within the same message. Throws `StaleAttemptError` when another worker has it. */
  enter: (phase: RunPhase) => Promise<void>;
}

/** What writing the search index takes of a step. */
export function searchWriter(step: StepContext): SearchWriter {
  const { db, search, embedder } = step;
  return { db, bucket: search, model: embedder.isModel ? embedder.fingerprint : null, beat: () => step.beat({}) };
}

/** The plan no longer fits what is stored; the run has to be planned again. */
export class StalePlanError extends Error {
  override readonly name = "StalePlanError";
}

/** The run was cancelled while the step was at work. */
export class RunCancelledError extends Error {
  override readonly name = "RunCancelledError";
}

/** The step made no progress for too long. */
export class StalledError extends Error {
  override readonly name = "StalledError";
}

/** The attempt was given up; the coordinator ignores its results. */
export class StaleAttemptError extends Error {
  override readonly name = "StaleAttemptError";
}
