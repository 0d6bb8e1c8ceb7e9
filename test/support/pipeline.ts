/**
 * The indexing pipeline in one process, without a queue or Durable Objects: the real steps with a real Postgres, git server and
 * parser. Messages are delivered in order; tests may drop, repeat or abort them.
 */
import { openDb, type Db } from "../../src/service/db/client.ts";
import { runs as runsTable, tenants, workspaces } from "../../src/service/db/schema.ts";
import { createEmbedder, type Embedder } from "../../src/engines/embedding/index.ts";
import { type StepMessage, shardKey } from "../../src/service/runs/messages.ts";
import {
  beginAttempt,
  claimStep,
  endRun,
  handOver,
  isReady,
  newRun,
  recordPlan,
  recordProgress,
  type RunRecord,
  type StepUsage,
  type WorkCounters,
} from "../../src/service/runs/state.ts";
import type { RunSpec } from "../../src/service/db/run-spec.ts";
import type { StagingBucket } from "../../src/service/indexing/staging.ts";
import { runStep, type StepDeps } from "../../src/service/indexing/steps.ts";
import type { RunsClient } from "../../src/service/runs/coordinator.ts";
import { createLogger } from "../../src/lib/log.ts";
import { makeOverlay } from "../../src/service/overlays/make.ts";
import { createOverlay, type EditedFiles } from "../../src/service/overlays/requests.ts";
import type { SearchBucket } from "../../src/service/hosted-index/store.ts";
import { nodeGrammars } from "../../src/engines/parsing/grammars-node.ts";
import { type CodeParser, createParser } from "../../src/engines/parsing/parser.ts";
import { readUses } from "../../src/engines/relations/read-uses.ts";

/** An R2 bucket in memory. */
export class MemoryBucket implements StagingBucket, SearchBucket {
  readonly objects = new Map<string, { bytes: Uint8Array; uploaded: Date }>();

  async put(key: string, value: Uint8Array): Promise<void> {
    this.objects.set(key, { bytes: new Uint8Array(value), uploaded: new Date() });
  }

  async get(key: string, options?: { range: { offset: number; length: number } }) {
    const object = this.objects.get(key);
    if (!object) return null;
    const { offset, length } = options?.range ?? { offset: 0, length: object.bytes.byteLength };
    if (options && offset >= object.bytes.byteLength)
      throw new Error("get: The requested range is not satisfiable (10039)");
    const part = object.bytes.slice(offset, offset + length);
    return { size: object.bytes.byteLength, arrayBuffer: async () => part.buffer };
  }

  async head(key: string) {
    const object = this.objects.get(key);
    return object ? { size: object.bytes.byteLength } : null;
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

const sum = (usages: readonly WorkCounters[]): WorkCounters => ({
  embedded: usages.reduce((total, usage) => total + usage.embedded, 0),
  embedMs: usages.reduce((total, usage) => total + usage.embedMs, 0),
  tokens: usages.reduce((total, usage) => total + usage.tokens, 0),
});

let parser: Promise<CodeParser> | undefined;

export interface RunRequest {
  url: string;
  ref?: string;
  options?: Partial<RunSpec["options"]>;
  token?: string;
  embedder?: Embedder;
  kind?: RunSpec["kind"];
}

export interface PipelineOptions {
  /** For staged data; an empty one by default. */
  bucket?: MemoryBucket | undefined;
  searchBucket?: MemoryBucket | undefined;
  /** The workspace's tenant; a new one by default. */
  tenantId?: string | undefined;
}

export class Pipeline {
  readonly db: Db;
  readonly bucket: MemoryBucket;
  readonly searchBucket: MemoryBucket;
  readonly tenantId: string;
  readonly workspaceId = crypto.randomUUID();
  /** Messages of the last run, in the order they were sent. */
  messages: StepMessage[] = [];
  private readonly embedder = createEmbedder({ provider: "builtin", model: "lexical", timeoutMs: 60_000 }, { fetch });

  constructor(databaseUrl: string, options: PipelineOptions = {}) {
    const { bucket = new MemoryBucket(), searchBucket = new MemoryBucket(), tenantId } = options;
    this.db = openDb(databaseUrl);
    this.bucket = bucket;
    this.searchBucket = searchBucket;
    this.tenantId = tenantId ?? crypto.randomUUID();
  }

  async prepare(): Promise<this> {
    await this.db.insert(tenants).values({ id: this.tenantId, name: "pipeline" }).onConflictDoNothing();
    await this.db.insert(workspaces).values({ id: this.workspaceId, tenantId: this.tenantId });
    return this;
  }

  #context(embedder: Embedder | undefined): ReturnType<StepDeps["context"]> {
    return {
      db: this.db,
      staging: this.bucket,
      search: this.searchBucket,
      embedder: embedder ?? this.embedder!,
      parser: () => (parser ??= createParser(nodeGrammars(), { readUses })),
      fetch,
      gitHosts: { allowLocal: true },
      openAuth: async (auth) => ({ token: "sealed" in auth ? auth.sealed : "" }),
      region: "test",
      log: createLogger({}, () => {}),
      now: Date.now,
    };
  }

  /** Makes an overlay of `files` on a revision, as the api and the indexer do. Returns its id. */
  async overlay(seq: number, files: EditedFiles, credentialId = "test", embedder?: Embedder): Promise<string> {
    const { db, searchBucket: bucket, tenantId, workspaceId } = this;
    const idle = { beat: async () => {}, mark: () => {}, enter: async () => {} };
    const usage = { token: "", embedded: 0, embedMs: 0, tokens: 0 };
    const stepOf = (run: RunSpec) => ({ ...this.#context(embedder), run, attempt: 1, usage, ...idle });
    const send = (message: { overlayId: string }) =>
      makeOverlay({ db, edits: bucket, stepOf }, tenantId, message.overlayId);
    const edited = { tenantId, credentialId, workspaceId, seq };
    return (await createOverlay({ db, bucket, send, now: Date.now }, edited, files)).id;
  }

  /**
   * Runs to the end. `deliver` may override how a message is delivered: it gets the message and a function that delivers it.
   */
  async run(
    request: RunRequest,
    deliver: (message: StepMessage, once: () => Promise<void>) => Promise<void> = (_message, once) => once(),
  ): Promise<RunRecord> {
    const spec: RunSpec = {
      runId: crypto.randomUUID(),
      tenantId: this.tenantId,
      workspaceId: this.workspaceId,
      kind: request.kind ?? "index",
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
      kind: spec.kind,
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
    const used = new Map<string, StepUsage>();
    const use = (usage: StepUsage) => void used.set(usage.token, { ...usage });
    const runs: RunsClient = {
      claim: async (_id, attempt, phase) => {
        const claimed = active(attempt) ? claimStep(record, phase, Date.now()) : null;
        if (claimed) record = claimed;
        return claimed && { spec: claimed.spec, token: crypto.randomUUID() };
      },
      beat: async (_id, attempt, phase, progress) => {
        if (active(attempt)) record = recordProgress(record, phase, progress, Date.now());
        return active(attempt);
      },
      shardStaged: async (runId, attempt, shard) => {
        const key = shardKey(runId, attempt, shard);
        queue.push({ kind: "shard", workspaceId: this.workspaceId, runId, attempt, shard, key });
      },
      planned: async (_id, _attempt, planned, usage) => {
        use(usage);
        record = recordPlan(record, planned, Date.now());
        return isReady(record);
      },
      shardDone: async (runId, attempt, shard, files, usage) => {
        use(usage);
        if (!active(attempt) || done.has(shard)) return;
        done.add(shard);
        record = { ...record, shardsDone: record.shardsDone + 1, filesDone: record.filesDone + files };
        if (!isReady(record)) return;
        record = handOver(record, "finishing", Date.now());
        queue.push({ kind: "finish", workspaceId: this.workspaceId, runId, attempt });
      },
      spent: async (_id, usage) => use(usage),
      work: async (_id, attempt) => (active(attempt) ? sum([...used.values()]) : null),
      handOver: async (_id, _attempt, kind) => {
        record = endRun(record, Date.now(), { result: { handedOver: kind } });
      },
      failed: async (runId, _attempt, step, { action, error, limit }) => {
        const restarts = record.restarts + 1;
        if (action !== "restart" || (step.kind === "plan" && record.shards === null) || restarts >= limit) {
          record = endRun(record, Date.now(), { error });
          return;
        }
        record = beginAttempt({ ...record, restarts }, Date.now());
        done.clear();
        queue.length = 0;
        queue.push({ kind: "plan", workspaceId: this.workspaceId, runId, attempt: record.attempt });
      },
      succeed: async (_id, _attempt, result) => {
        record = endRun(record, Date.now(), { result });
      },
      cancel: async () => {
        record = endRun(record, Date.now(), "cancelled");
      },
      failOrphaned: async () => {},
    };
    const deps: StepDeps = {
      runs,
      context: () => this.#context(request.embedder),
      buildSnapshot: async () => ({}),
      log: createLogger({}, () => {}),
    };
    for (let message = queue.shift(); message; message = queue.shift()) {
      const current = message;
      this.messages.push(current);
      const once = () => runStep(current, deps);
      await deliver(current, once);
    }
    return record;
  }
}
