import { createTables, type ObjectTables, openTables, type TableStorage } from "../../lib/object-tables.ts";
import { newRun, type RunRecord, type StepUsage, type WorkCounters } from "./state.ts";
import type { RunSpec } from "../db/run-spec.ts";

const SHARDS_AND_USAGE = `
create table run_shards (run_id text, attempt integer, shard integer, state text, failures integer default 0,
  primary key (run_id, attempt, shard));
create table run_usage (token text primary key, run_id text, tenant_id text, embedded integer, embed_ms real,
  tokens integer, batch text);
create index run_usage_run on run_usage (run_id);
`;
const UNCOUNTED_RUNS = "create table uncounted_runs (run_id text primary key, tenant_id text, kind text);";

/** Versions 2 and 3 came with 4d22081 and cab1f13. The fields of `record` that an earlier version lacks have defaults, see `newRun`. */
const TABLES: ObjectTables = {
  object: "WorkspaceRuns",
  create: `create table runs (position integer primary key autoincrement, run_id text unique, ended integer, record text);
${SHARDS_AND_USAGE}${UNCOUNTED_RUNS}`,
  upgrades: [`drop table if exists shards; ${SHARDS_AND_USAGE}`, UNCOUNTED_RUNS],
  readableFrom: 3,
  unversioned: (has) => (has("uncounted_runs") ? 3 : has("run_shards") ? 2 : has("runs") ? 1 : 0),
};

/** The tables of one workspace's run coordinator. */
export class RunStore {
  readonly #storage: TableStorage;
  readonly #sql: SqlStorage;

  constructor(storage: TableStorage & { readonly sql: SqlStorage }) {
    this.#storage = storage;
    this.#sql = storage.sql;
    if (!openTables(storage, TABLES)) this.createTables();
  }

  /** Creates the tables again after all storage of the object was deleted. */
  createTables(): void {
    createTables(this.#storage, TABLES);
  }

  /** The active run. */
  running(): RunRecord | undefined {
    return this.unfinished().find((run) => run.state === "running");
  }

  /** Runs that have not ended, in order of arrival. */
  unfinished(): RunRecord[] {
    return this.#records("select record from runs where ended = 0 order by position");
  }

  find(runId: string): RunRecord | undefined {
    return this.#records("select record from runs where run_id = ?", runId)[0];
  }

  save(run: RunRecord): void {
    this.#sql.exec(
      "insert into runs (run_id, ended, record) values (?, ?, ?) on conflict (run_id) do update set ended = excluded.ended, record = excluded.record",
      run.spec.runId,
      run.endedAt ?? 0,
      JSON.stringify(run),
    );
  }

  /** Stores a new run, which the tenant's gate has not counted yet. */
  add(spec: RunSpec): void {
    this.save(newRun(spec));
    this.#sql.exec(
      "insert or ignore into uncounted_runs (run_id, tenant_id, kind) values (?, ?, ?)",
      spec.runId,
      spec.tenantId,
      spec.kind,
    );
  }

  /** Runs that the tenant's gate has not counted as calls. */
  uncounted(): { runId: string; tenantId: string; kind: RunSpec["kind"] }[] {
    return this.#sql
      .exec<{ runId: string; tenantId: string; kind: RunSpec["kind"] }>(
        "select run_id as runId, tenant_id as tenantId, kind from uncounted_runs",
      )
      .toArray();
  }

  counted(runId: string): void {
    this.#sql.exec("delete from uncounted_runs where run_id = ?", runId);
  }

  /** Ended runs whose outcome or history is not in Postgres yet. Runs that an earlier version has ended have no history. */
  unrecorded(): RunRecord[] {
    return this.#records(
      "select record from runs where ended > 0 and (json_extract(record, '$.recorded') = 0 or json_extract(record, '$.historyRecorded') = 0)",
    );
  }

  /** Deletes runs that ended before `time`; their outcome remains in Postgres. */
  forget(time: number): void {
    this.#sql.exec("delete from runs where ended > 0 and ended < ? and json_extract(record, '$.recorded') = 1", time);
    this.#sql.exec("delete from run_usage where batch = 'reported' and run_id not in (select run_id from runs)");
  }

  isEmpty(): boolean {
    return this.#sql.exec("select 1 from runs union all select 1 from uncounted_runs limit 1").toArray().length === 0;
  }

  clearShards(runId: string): void {
    this.#sql.exec("delete from run_shards where run_id = ?", runId);
  }

  addShard(runId: string, attempt: number, shard: number): void {
    this.#sql.exec(
      "insert or ignore into run_shards (run_id, attempt, shard, state) values (?, ?, ?, 'staged')",
      runId,
      attempt,
      shard,
    );
  }

  /** Takes staged shards to send, so that at most `inFlight` are in the queue. */
  takeShards(runId: string, attempt: number, inFlight: number): number[] {
    const sent = this.#sql
      .exec("select 1 from run_shards where run_id = ? and attempt = ? and state = 'sent'", runId, attempt)
      .toArray().length;
    const rows = this.#sql
      .exec<{ shard: number }>(
        "select shard from run_shards where run_id = ? and attempt = ? and state = 'staged' order by shard limit ?",
        runId,
        attempt,
        Math.max(0, inFlight - sent),
      )
      .toArray();
    for (const { shard } of rows) this.setShard(runId, attempt, shard, "sent");
    return rows.map(({ shard }) => shard);
  }

  /** Moves a shard to another state; false if it is already in that state or done. */
  setShard(runId: string, attempt: number, shard: number, state: "staged" | "sent" | "done"): boolean {
    return (
      this.#sql.exec(
        "update run_shards set state = ?1 where run_id = ?2 and attempt = ?3 and shard = ?4 and state not in (?1, 'done')",
        state,
        runId,
        attempt,
        shard,
      ).rowsWritten > 0
    );
  }

  /** Counts a failure of a shard; returns its number of failures. */
  countShardFailure(runId: string, attempt: number, shard: number): number {
    const rows = this.#sql
      .exec<{ failures: number }>(
        "update run_shards set failures = failures + 1 where run_id = ? and attempt = ? and shard = ? returning failures",
        runId,
        attempt,
        shard,
      )
      .toArray();
    return rows[0]?.failures ?? 1;
  }

  /** Adds work to a run, once per claim token. */
  addUsage(run: RunRecord, usage: StepUsage): void {
    if (usage.embedded === 0 && usage.tokens === 0) return;
    this.#sql.exec(
      "insert or ignore into run_usage (token, run_id, tenant_id, embedded, embed_ms, tokens) values (?, ?, ?, ?, ?, ?)",
      usage.token,
      run.spec.runId,
      run.spec.tenantId,
      usage.embedded,
      usage.embedMs,
      usage.tokens,
    );
  }

  /** Total work of a run across its steps and attempts. */
  work(runId: string): WorkCounters {
    const row = this.#sql
      .exec<{ embedded: number; ms: number; tokens: number }>(
        "select coalesce(sum(embedded), 0) as embedded, coalesce(sum(embed_ms), 0) as ms, coalesce(sum(tokens), 0) as tokens from run_usage where run_id = ?",
        runId,
      )
      .one();
    return { embedded: row.embedded, embedMs: row.ms, tokens: row.tokens };
  }

  /**
   * Tokens not yet reported to the tenant's gate, in batches. A batch keeps its id and its rows until
   * {@link usageReported}, so that reporting it again counts nothing twice.
   */
  usageToReport(newBatch: () => string): { batch: string; tenantId: string; tokens: number }[] {
    const open = this.#sql.exec("select 1 from run_usage where batch is null limit 1").toArray();
    if (open.length > 0) this.#sql.exec("update run_usage set batch = ? where batch is null", newBatch());
    return this.#sql
      .exec<{ batch: string; tenantId: string; tokens: number }>(
        "select batch, tenant_id as tenantId, sum(tokens) as tokens from run_usage where batch <> 'reported' group by batch, tenant_id",
      )
      .toArray();
  }

  usageReported(batch: string): void {
    this.#sql.exec("update run_usage set batch = 'reported' where batch = ?", batch);
  }

  #records(query: string, ...bindings: string[]): RunRecord[] {
    return this.#sql
      .exec<{ record: string }>(query, ...bindings)
      .toArray()
      .map(({ record }) => {
        const stored = JSON.parse(record) as RunRecord;
        // Adds the fields that an earlier version did not write.
        return Object.assign(newRun(stored.spec), stored);
      });
  }
}
