/**
 * The indexing pipeline in one process, without a queue or Durable Objects: the real steps over a real Postgres, a real git
 * server, the real parser. Messages are delivered in order; tests may drop, repeat or cut them short.
 */
import { openDb, type Db } from "../../src/db/client.ts";
import { runs as runsTable, tenants, workspaces } from "../../src/db/schema.ts";
import { createEmbedder, type Embedder } from "../../src/embedding/index.ts";
import type { StepMessage } from "../../src/indexing/messages.ts";
import {
  beginAttempt,
  claimStep,
  endRun,
  isReady,
  newRun,
  type RunRecord,
  type RunSpec,
  sumWork,
} from "../../src/indexing/run-state.ts";
import type { StagingBucket } from "../../src/indexing/staging.ts";
import { judgeFailure, type RunsClient, runStep, type StepDeps } from "../../src/indexing/steps.ts";
import { createLogger } from "../../src/log.ts";
import { nodeGrammars } from "../../src/parsing/grammars-node.ts";
import { type CodeParser, createParser } from "../../src/parsing/parser.ts";

/** An R2 bucket in memory. */
export class MemoryBucket implements StagingBucket {
  readonly objects = new Map<string, { bytes: Uint8Array; uploaded: Date }>();

  async put(key: string, value: Uint8Array): Promise<void> {
    this.objects.set(key, { bytes: new Uint8Array(value), uploaded: new Date() });
  }

  async get(key: string): Promise<{ arrayBuffer(): Promise<ArrayBuffer> } | null> {
    const object = this.objects.get(key);
    return object ? { arrayBuffer: async () => new Uint8Array(object.bytes).buffer } : null;
  }

  async delete(keys: string | string[]): Promise<void> {
    for (const key of typeof keys === "string" ? [keys] : keys) this.objects.delete(key);
  }

  async list({ prefix }: { prefix: string }) {
    const objects = [...this.objects]
      .filter(([key]) => key.startsWith(prefix))
      .map(([key, { uploaded }]) => ({ key, uploaded }));
    return { objects, truncated: false };
  }
}

let parser: Promise<CodeParser> | undefined;

export interface RunRequest {
  url: string;
  ref?: string;
  options?: Partial<RunSpec["options"]>;
  token?: string;
  embedder?: Embedder;
}

export class Pipeline {
  readonly db: Db;
  readonly bucket = new MemoryBucket();
  readonly tenantId = crypto.randomUUID();
  readonly workspaceId = crypto.randomUUID();
  /** Messages of the last run, in the order they were sent. */
  messages: StepMessage[] = [];
  private readonly embedder = createEmbedder({ provider: "builtin", timeoutMs: 60_000 }, { fetch });

  constructor(databaseUrl: string) {
    this.db = openDb(databaseUrl);
  }

  async prepare(): Promise<this> {
    await this.db.insert(tenants).values({ id: this.tenantId, name: "pipeline" });
    await this.db.insert(workspaces).values({ id: this.workspaceId, tenantId: this.tenantId });
    return this;
  }

  /**
   * Runs to the end. `deliver` may change how a message is delivered: it gets the message and a function that delivers it.
   */
  async run(
    request: RunRequest,
    deliver: (message: StepMessage, once: () => Promise<void>) => Promise<void> = (_message, once) => once(),
  ): Promise<RunRecord> {
    const spec: RunSpec = {
      runId: crypto.randomUUID(),
      tenantId: this.tenantId,
      workspaceId: this.workspaceId,
      kind: "index",
      actor: "test",
      source: {
        url: request.url,
        ...(request.ref === undefined ? {} : { ref: request.ref }),
        ...(request.token === undefined ? {} : { auth: { sealed: request.token } }),
      },
      options: { maxFileSizeBytes: 524_288, ...request.options },
    };
    await this.db.insert(runsTable).values({
      id: spec.runId,
      tenantId: this.tenantId,
      workspaceId: this.workspaceId,
      kind: "index",
      state: "running",
      request: {},
    });
    let record = beginAttempt(newRun(spec), Date.now());
    const queue: StepMessage[] = [
      { kind: "plan", workspaceId: this.workspaceId, runId: spec.runId, attempt: record.attempt },
    ];
    this.messages = [];
    const done = new Set<number>();
    const active = (attempt: number) => record.endedAt === null && record.attempt === attempt;
    const runs: RunsClient = {
      claim: async (_id, attempt, phase) => {
        const claimed = active(attempt) ? claimStep(record, phase, Date.now()) : null;
        if (claimed) record = claimed;
        return claimed?.spec ?? null;
      },
      beat: async (_id, attempt, progress) => {
        if (active(attempt)) record = { ...record, ...progress };
        return active(attempt);
      },
      planned: async (_id, _attempt, { shards, filesTotal }) => {
        record = { ...record, shards, filesTotal };
        return isReady(record);
      },
      shardDone: async (runId, attempt, shard, work) => {
        if (!active(attempt) || done.has(shard)) return;
        done.add(shard);
        record = {
          ...record,
          shardsDone: record.shardsDone + 1,
          filesDone: record.filesDone + work.files,
          work: sumWork(record.work, work),
        };
        if (isReady(record)) queue.push({ kind: "finish", workspaceId: this.workspaceId, runId, attempt });
      },
      addWork: async (_id, attempt, work) => {
        if (active(attempt)) record = { ...record, work: sumWork(record.work, work) };
      },
      work: async (_id, attempt) => (active(attempt) ? record.work : null),
      handOver: async () => {},
      retrying: async () => {},
      restart: async () => {},
      succeed: async (_id, _attempt, result) => {
        record = endRun(record, Date.now(), { result });
      },
      fail: async (_id, _attempt, error) => {
        record = endRun(record, Date.now(), { error: error ?? { code: "INTERNAL", error: "lost" } });
      },
    };
    const deps: StepDeps = {
      runs,
      send: async (message) => void queue.push(message),
      context: () => ({
        db: this.db,
        staging: this.bucket,
        embedder: request.embedder ?? this.embedder!,
        parser: () => (parser ??= createParser(nodeGrammars())),
        fetch,
        allowLocalGit: true,
        openToken: async (sealed) => sealed,
        region: "test",
        log: createLogger({}, () => {}),
        now: Date.now,
      }),
      countTokens: async () => {},
      buildSnapshot: async () => ({}),
      log: createLogger({}, () => {}),
    };
    for (let message = queue.shift(); message; message = queue.shift()) {
      const current = message;
      this.messages.push(current);
      const once = async () => {
        try {
          await runStep(current, deps);
        } catch (error) {
          const verdict = judgeFailure(error, current.kind, 5);
          if (verdict.error.code === "INTERNAL" || verdict.error.code === "STORAGE_UNAVAILABLE") throw error;
          await runs.fail(current.runId, current.attempt, verdict.error);
        }
      };
      await deliver(current, once);
    }
    return record;
  }
}
