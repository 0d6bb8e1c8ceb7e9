// oxlint-disable-next-line no-restricted-imports -- a Durable Object; the rest of the folder is platform-free
import { DurableObject } from "cloudflare:workers";
import type { Surface } from "../../contract/surfaces.ts";
import { databaseOf } from "../db/databases.ts";
import { PG_FOREIGN_KEY_VIOLATION, pgErrorCode } from "../db/errors.ts";
import { createLogger } from "../../lib/log.ts";
import { readBudgets } from "./budgets.ts";
import { flushRejections } from "./mirror.ts";
import { GateStorage } from "./storage.ts";
import type { AuditTarget, RateBucketApi, TakeResult } from "./types.ts";
import { RATE_BUCKET_TABLES } from "./tables.ts";
import { RateWindows } from "./windows.ts";

type RateBucketEnv = Pick<ApiEnv, "DATABASE_URL"> & { RATE_LIMITS?: string };

const REPORT_DELAY_MS = 3_000;
const REPORT_RETRY_MS = 30_000;

const log = createLogger({ component: "rate-bucket" });

/**
 * The rate buckets of one subject without an API credential: a source address, a user, an e-mail address or a hook. Called
 * through `takeFromBucket`, which names the object by a salted hash of the subject. An alarm reports rejections to the tenant's
 * audit log, if there is one, and deletes rows whose window has ended.
 */
export class RateBucket extends DurableObject<RateBucketEnv> implements RateBucketApi {
  readonly #storage: GateStorage;
  readonly #windows: RateWindows;
  #alarmAtMs: number | undefined;

  constructor(ctx: DurableObjectState, env: RateBucketEnv) {
    super(ctx, env);
    this.#storage = new GateStorage(ctx.storage, RATE_BUCKET_TABLES);
    this.#windows = new RateWindows(ctx.storage.sql, readBudgets(env.RATE_LIMITS));
    void ctx.blockConcurrencyWhile(async () => {
      this.#alarmAtMs = (await ctx.storage.getAlarm()) ?? undefined;
    });
  }

  async take(surface: Surface, audit?: AuditTarget): Promise<TakeResult> {
    return this.#storage.write(() => {
      const nowMs = Date.now();
      const result = this.#windows.take(surface, nowMs, audit);
      if (!audit && result.rejected === 1 && !result.allowed) log.warn("rate_limited", { surface });
      this.#schedule(audit && !result.allowed ? nowMs + REPORT_DELAY_MS : (this.#windows.nextDueMs() ?? nowMs));
      return result;
    });
  }

  override async alarm(): Promise<void> {
    this.#alarmAtMs = undefined;
    if (this.#storage.isEmpty) return;
    const isReported = await this.#report();
    await this.#storage.write(() => this.#windows.prune(Date.now()));
    const dueMs = this.#windows.nextDueMs();
    if (dueMs === undefined) return this.#storage.deleteAll();
    this.#schedule(isReported ? dueMs : Date.now() + REPORT_RETRY_MS);
  }

  /** Returns false if the database could not be reached. */
  async #report(): Promise<boolean> {
    const rejections = this.#windows.unreported();
    if (rejections.length === 0) return true;
    try {
      for (const rejection of rejections) await flushRejections(databaseOf(this.env, rejection.tenantId), [rejection]);
    } catch (error) {
      // A tenant that was deleted has no audit log.
      if (pgErrorCode(error) !== PG_FOREIGN_KEY_VIOLATION) {
        log.warn("rejections cannot be reported", { code: pgErrorCode(error) });
        return false;
      }
    }
    await this.#storage.write(() => this.#windows.reported(rejections));
    return true;
  }

  #schedule(atMs: number): void {
    if (this.#alarmAtMs !== undefined && this.#alarmAtMs <= atMs) return;
    this.#alarmAtMs = atMs;
    void this.ctx.storage.setAlarm(atMs);
  }
}
