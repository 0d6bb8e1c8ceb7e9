// oxlint-disable-next-line no-restricted-imports -- the monitor is a Durable Object; the rest of the folder is not
import { DurableObject } from "cloudflare:workers";
import type { CheckName } from "../../contract/health.ts";
import { accountsDatabase } from "../db/databases.ts";
import { createTables, type ObjectTables, openTables } from "../../lib/object-tables.ts";
import { embeddingAddress } from "./embedding-address.ts";
import { QueueHeartbeat } from "./heartbeat.ts";
import { deriveStatus, CHECKS_VALID_MS, type Probe, PROBE_INTERVAL_MS, PROBE_TIMEOUT_MS, runProbes } from "./probe.ts";
import { addCounts, type RequestCounts } from "./request-counts.ts";
import { databaseProbe, embeddingProbe, gateProbe, randomTenant, storageProbe } from "./probes.ts";
import type { Checks, HealthMonitorApi, HealthStatus } from "./types.ts";

/** The monitor also reads the `EMBED_*` variables. */
type HealthMonitorEnv = Pick<ApiEnv, "DATABASE_URL" | "SNAPSHOTS" | "INDEX_QUEUE" | "TENANT_GATE">;

/** Storage key, written by `stop` and read at the next start. */
const STOPPED = "stopped";
const ROUND = "round";
const COUNTS = "counts";

/** The monitor has no tables; the version covers the values under the keys above. */
const TABLES: ObjectTables = {
  object: "HealthMonitor",
  create: "",
  upgrades: [],
  readableFrom: 1,
  unversioned: () => 0,
};

interface Round {
  /** Unix time in milliseconds. */
  atMs: number;
  checks: Checks;
}

/** Slightly shorter than a probe's timeout, so that the queue probe reports its own error instead. */
const QUEUE_PATIENCE_MS = PROBE_TIMEOUT_MS - 500;

/**
 * The health monitor of a deployment (`idFromName(MONITOR_NAME)`). An alarm probes every 30 s; a request only reads the last
 * round's results, which survive eviction. Results from before a stop, or too old ones, are ignored, so a service reports
 * `starting` until its first round.
 */
export class HealthMonitor extends DurableObject<HealthMonitorEnv> implements HealthMonitorApi {
  readonly #probes: Record<CheckName, Probe>;
  readonly #heartbeat: QueueHeartbeat;
  #round: Round | undefined;
  #stopping = false;

  constructor(ctx: DurableObjectState, env: HealthMonitorEnv) {
    super(ctx, env);
    if (!openTables(ctx.storage, TABLES)) createTables(ctx.storage, TABLES);
    this.#heartbeat = new QueueHeartbeat((message) => env.INDEX_QUEUE.send(message));
    const db = accountsDatabase(env);
    this.#probes = {
      database: databaseProbe(db),
      storage: storageProbe(env.SNAPSHOTS),
      queue: (signal) => this.#heartbeat.probe(signal, QUEUE_PATIENCE_MS),
      embedding: embeddingProbe(
        (url, init) => fetch(url, init),
        () => embeddingAddress({ ...env }),
      ),
      gate: gateProbe(
        (name) => env.TENANT_GATE.get(env.TENANT_GATE.idFromName(name)),
        () => randomTenant(db),
      ),
    };
    void ctx.blockConcurrencyWhile(async () => {
      const nowMs = Date.now();
      const stopped = (await ctx.storage.get(STOPPED)) !== undefined;
      if (stopped) await ctx.storage.delete([STOPPED, ROUND]);
      const round = await ctx.storage.get<Round>(ROUND);
      if (round && nowMs - round.atMs <= CHECKS_VALID_MS) this.#round = round;
      const alarmMs = await ctx.storage.getAlarm();
      if (!this.#round || alarmMs === null || alarmMs > nowMs + PROBE_INTERVAL_MS) await ctx.storage.setAlarm(nowMs);
    });
  }

  async status(): Promise<HealthStatus> {
    return deriveStatus(this.#round?.checks, this.#stopping);
  }

  async record(counts: RequestCounts): Promise<void> {
    const totals = await this.counts();
    addCounts(totals, counts);
    await this.ctx.storage.put(COUNTS, totals);
  }

  async counts(): Promise<RequestCounts> {
    return (await this.ctx.storage.get<RequestCounts>(COUNTS)) ?? { requests: {}, latencies: {} };
  }

  async queueSeen(sentAt: number): Promise<void> {
    if (!this.#heartbeat.seen(sentAt)) return;
    const queue = this.#round?.checks.queue;
    if (!this.#round || !queue || queue.ok) return;
    // A late heartbeat: report the queue as healthy now instead of in the next round.
    const nowMs = Date.now();
    const check = { ok: true, latencyMs: nowMs - sentAt, checkedAt: new Date(nowMs).toISOString() };
    await this.#keep({ ...this.#round, checks: { ...this.#round.checks, queue: check } });
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.ctx.storage.put(STOPPED, true);
    await this.ctx.storage.deleteAlarm();
  }

  override async alarm(): Promise<void> {
    if (this.#stopping) return;
    // Scheduled first, so that probing continues even if this round fails.
    await this.ctx.storage.setAlarm(Date.now() + PROBE_INTERVAL_MS);
    const checks = await runProbes(this.#probes);
    await this.#keep({ atMs: Date.now(), checks });
  }

  async #keep(round: Round): Promise<void> {
    this.#round = round;
    await this.ctx.storage.put(ROUND, round);
  }
}
