import type { Db } from "../db/client.ts";
import type { RunPhase } from "../../contract/index.ts";
import type { Embedder } from "../../engines/embedding/index.ts";
import type { GitHostPolicy } from "../../engines/git/wire/url.ts";
import type { Logger } from "../../lib/log.ts";
import type { CodeParser } from "../../engines/parsing/parser.ts";
import type { SearchBucket } from "../hosted-index/store.ts";
import type { SearchWriter } from "../hosted-index/write.ts";
import type { StepUsage } from "../runs/state.ts";
import type { RunSpec, SourceAuth } from "../db/run-spec.ts";
import type { StagingBucket } from "./staging.ts";

/** Called with each staged shard as soon as it can be processed. */
export type ShardReady = (shard: number, key: string) => Promise<void>;

/** Everything that the steps of a run need. */
export interface StepContext {
  run: RunSpec;
  attempt: number;
  db: Db;
  staging: StagingBucket;
  /** Bucket for the segments and tables of the search index. */
  search: SearchBucket;
  embedder: Embedder;
  parser: () => Promise<CodeParser>;
  fetch: typeof fetch;
  gitHosts: GitHostPolicy;
  /** Opens the run's sealed credential, or has its GitHub App make one. Throws `GitError`. */
  openAuth: (auth: SourceAuth) => Promise<{ token: string; username?: string }>;
  region: string;
  log: Logger;
  now: () => number;
  /** Embedding work of this claim so far. */
  usage: StepUsage;
  /** Reports progress. Throws `StaleAttemptError` when the attempt no longer counts. */
  beat: (progress: { filesDone?: number; filesTotal?: number }) => Promise<void>;
  /** Marks progress without a report; a step without progress is given up after a while. */
  mark: () => void;
  /** Continues with another phase in the same message. Throws `StaleAttemptError` when another worker has claimed it. */
  enter: (phase: RunPhase) => Promise<void>;
}

/** The part of a step's context that is needed to write the search index. */
export function searchWriter(step: StepContext): SearchWriter {
  const { db, search, embedder, parser } = step;
  const model = embedder.isModel ? embedder.fingerprint : null;
  return { db, bucket: search, model, parser, beat: () => step.beat({}) };
}

/** The plan no longer matches the stored data; the run must be planned again. */
export class StalePlanError extends Error {
  override readonly name = "StalePlanError";
}

/** The run was cancelled while the step was running. */
export class RunCancelledError extends Error {
  override readonly name = "RunCancelledError";
}

/** The attempt was given up; the coordinator ignores its results. */
export class StaleAttemptError extends Error {
  override readonly name = "StaleAttemptError";
}
