import { DurableObject } from "cloudflare:workers";
import type { CallKind } from "../contract/surfaces.ts";
import { DEFAULT_MONTHLY_CREDITS } from "../contract/limits.ts";
import { openDb } from "../db/client.ts";
import { PG_FOREIGN_KEY_VIOLATION, pgErrorCode } from "../db/errors.ts";
import { createLogger } from "../log.ts";
import { isHashInHex } from "../tenancy/credentials.ts";
import { giveAhead, takeBack } from "./ahead.ts";
import { readBudgets } from "./budgets.ts";
import { Commits } from "./commits.ts";
import { CreditLedger, requireCount } from "./credits.ts";
import { Directory, type Wait } from "./directory.ts";
import { flush, loadMonths, loadTenant } from "./mirror.ts";
import { periodEndMs, periodOf, periodStartMs } from "./period.ts";
import { GateStore } from "./store.ts";
import type { Admitted, AdmitResult, Principal, Settlement, TenantGateApi, UsageSnapshot } from "./types.ts";
import { retryAfterSec } from "./windows.ts";
import { SurfaceWindows } from "./surface-windows.ts";
import { packAdmitted, unpackAdmitRequest, unpackSettlements } from "./wire.ts";

export type TenantGateEnv = Pick<ApiEnv, "DATABASE_URL"> & { RATE_LIMITS?: string };

/** How long a reservation is held when the request does not say: the longest upstream call and what surrounds it. */
export const DEFAULT_HOLD_MS = 90_000;
const MAX_HOLD_MS = 15 * 60_000;
/** Changes wait this long, so that one write to Postgres carries many. */
const FLUSH_DELAY_MS = 3_000;
const FLUSH_RETRY_BASE_MS = 2_000;
const FLUSH_RETRY_CAP_MS = 60_000;
/** Expiry and pruning need no haste: what is due is worked off together. */
const UPKEEP_INTERVAL_MS = 15_000;
/** A tenant that is gone from Postgres takes its gate's rows with it after this time. */
const GONE_KEPT_MS = 7 * 24 * 60 * 60_000;

const log = createLogger({ component: "tenant-gate" });

/**
 * The gate of one tenant (`idFromName(tenantId)`): checks credentials, takes from rate buckets, reserves and settles
 * credits. All of a request's part is decided in memory in one go, so requests cannot interleave in it; an answer leaves when
 * the rows behind it are written, and the platform holds it back until they are durable. Postgres is a mirror that an
 * alarm writes behind; it may be away.
 */
export class TenantGate extends DurableObject<TenantGateEnv> implements TenantGateApi {
  readonly #db;
  readonly #store: GateStore;
  readonly #ledger: CreditLedger;
  readonly #windows: SurfaceWindows;
  readonly #directory: Directory;
  readonly #commits: Commits;
  /** With a count behind it names a reservation that no other life of this object has named. */
  readonly #life = crypto.randomUUID();
  #reservations = 0;
  #tenantId: string | undefined;
  #storedDirectory: string | undefined;
  #goneSinceMs: number | undefined;
  #alarmAtMs: number | undefined;
  #loadFailed = false;
  /** Flushes that failed since the last one that worked. */
  #failedFlushes = 0;

  constructor(ctx: DurableObjectState, env: TenantGateEnv) {
    super(ctx, env);
    const budgets = readBudgets(env.RATE_LIMITS);
    this.#db = openDb(env.DATABASE_URL);
    this.#store = new GateStore(ctx.storage.sql);
    const stored = this.#store.load();
    this.#tenantId = ctx.id.name ?? stored.tenantId;
    this.#storedDirectory = stored.directory && JSON.stringify(stored.directory);
    this.#goneSinceMs = stored.goneSinceMs;
    this.#ledger = new CreditLedger(this.#store, stored.months, stored.reservations);
    this.#windows = new SurfaceWindows(budgets, this.#store, stored.windows);
    this.#directory = new Directory({
      load: () => this.#load(),
      now: () => Date.now(),
      wait,
      initial: stored.directory,
    });
    this.#commits = new Commits({
      isDirty: () => this.#store.isDirty,
      write: () => this.#writeRows(),
      sync: () => ctx.storage.sync(),
    });
    void ctx.blockConcurrencyWhile(async () => {
      this.#alarmAtMs = (await ctx.storage.getAlarm()) ?? undefined;
      if (this.#hasUnflushed()) this.#schedule(Date.now() + FLUSH_DELAY_MS);
    });
  }

  async admit(packed: string): Promise<AdmitResult | string> {
    const { tenantId, request } = unpackAdmitRequest(packed);
    const { credential, surface, estimateCredits, holdMs = DEFAULT_HOLD_MS, ahead } = request;
    const { kind, id: credentialId, secretHash } = credential;
    this.#tenantId ??= tenantId;
    if (estimateCredits !== undefined) requireCount(estimateCredits, "estimateCredits");
    if (ahead?.unused) {
      takeBack(this.#books, ahead.unused);
      this.#commits.later();
    }
    const known = await this.#directory.find(credentialId);
    if (known === "unavailable") return { outcome: "unavailable" };
    if (known === "unknown" || !isHashInHex(known.secretHash, secretHash) || known.kind !== kind) {
      return { outcome: "unauthorized" };
    }
    const principal: Principal = { tenantId, credentialId, kind, sharedIndex: known.tenant.sharedIndex };
    const nowMs = Date.now();
    const { allowed, rate, retryAfterSec: waitSec } = this.#windows.take(surface, credentialId, nowMs);
    this.#schedule(nowMs + (allowed ? UPKEEP_INTERVAL_MS : FLUSH_DELAY_MS));
    if (!allowed) return this.#commits.written({ outcome: "rate_limited", rate, retryAfterSec: waitSec });
    const outcome = "admitted";
    if (estimateCredits === undefined) {
      return this.#commits.written(packAdmitted({ outcome, principal, rate, reservationId: null, covered: false }));
    }
    const limit = known.tenant.monthlyCredits;
    const held = Math.min(Math.max(holdMs, 1), MAX_HOLD_MS);
    const nonce = `${this.#life}.${++this.#reservations}`;
    const reserved = this.#ledger.reserve(nowMs, limit, estimateCredits, held, nonce);
    if (reserved.ok) {
      const { covered, reservation } = reserved;
      const admitted: Admitted = { outcome, principal, rate, reservationId: reservation.id, covered };
      if (!covered) return this.#commits.written(packAdmitted(admitted));
      this.#commits.later();
      if (!ahead || ahead.want === 0) return packAdmitted(admitted);
      const freshForMs = this.#directory.freshForMs(nowMs);
      const given = giveAhead(this.#books, { reservation, want: ahead.want, rate, limit, nowMs, freshForMs });
      return packAdmitted(given ? { ...admitted, ahead: given } : admitted);
    }
    const endMs = periodEndMs(periodOf(nowMs));
    return this.#commits.written({
      outcome: "quota_exceeded",
      principal,
      rate,
      limit,
      used: reserved.committed,
      resetsAt: new Date(endMs).toISOString(),
      retryAfterSec: retryAfterSec(endMs, nowMs),
    });
  }

  async settle(reservationId: string, settlement: Settlement): Promise<{ credits: number }> {
    return this.#write(() => {
      const nowMs = Date.now();
      const credits = this.#ledger.settle(reservationId, settlement, nowMs);
      this.#schedule(nowMs + FLUSH_DELAY_MS);
      return { credits };
    });
  }

  async settleMany(packed: string): Promise<void> {
    this.#settleAll(packed);
    await this.#commits.writtenSoon();
  }

  async count(key: string, kind: CallKind | null, indexTokens = 0): Promise<void> {
    await this.#write(() => {
      const nowMs = Date.now();
      if (!this.#store.noteCounted(key, nowMs)) return;
      this.#ledger.count(nowMs, kind, indexTokens);
      this.#schedule(nowMs + FLUSH_DELAY_MS);
    });
  }

  async usage(pending = ""): Promise<UsageSnapshot> {
    await this.#directory.ready();
    return this.#write(() => {
      this.#settleAll(pending);
      const period = periodOf(Date.now());
      const { credits, embedTokens, rerankTokens, indexTokens, calls } = this.#ledger.figures(period);
      return {
        periodStart: new Date(periodStartMs(period)).toISOString(),
        periodEnd: new Date(periodEndMs(period)).toISOString(),
        limit: this.#directory.tenant?.monthlyCredits ?? DEFAULT_MONTHLY_CREDITS,
        used: credits,
        embedTokens,
        rerankTokens,
        indexTokens,
        calls: { ...calls },
      };
    });
  }

  /** Flushes to Postgres, expires and prunes; sets itself again while there is something to do. */
  override async alarm(): Promise<void> {
    this.#alarmAtMs = undefined;
    const nowMs = Date.now();
    await this.#write(() => {
      this.#ledger.expire(nowMs);
      this.#ledger.prune(nowMs);
      this.#windows.prune(nowMs);
      this.#store.pruneCounted(nowMs);
      this.#store.pruneSettled(nowMs);
    });
    if (!(await this.#flush())) {
      if (this.#goneSinceMs !== undefined && Date.now() - this.#goneSinceMs > GONE_KEPT_MS) return this.#vanish();
      this.#schedule(Date.now() + retryDelayMs(this.#failedFlushes));
      return;
    }
    const afterMs = Date.now();
    if (this.#hasUnflushed()) this.#schedule(afterMs + FLUSH_DELAY_MS);
    const dueMs = Math.min(this.#ledger.nextDueMs() ?? Infinity, this.#windows.nextDueMs() ?? Infinity);
    if (dueMs !== Infinity) this.#schedule(Math.max(dueMs, afterMs + UPKEEP_INTERVAL_MS));
  }

  get #books() {
    return { windows: this.#windows, ledger: this.#ledger };
  }

  #hasUnflushed(): boolean {
    return this.#ledger.unflushed().length > 0 || this.#windows.unreported().length > 0;
  }

  /** Writes what Postgres does not have yet. False: it could not, and nothing is lost. */
  async #flush(): Promise<boolean> {
    const tenantId = this.#tenantId;
    if (tenantId === undefined || !this.#hasUnflushed()) return true;
    try {
      const unseeded = this.#ledger.unflushed().filter((month) => !month.seeded);
      if (unseeded.length > 0) {
        const periods = unseeded.map((month) => month.period);
        const mirrored = await loadMonths(this.#db, tenantId, periods);
        await this.#write(() => periods.forEach((period) => this.#ledger.adopt(period, mirrored.get(period))));
      }
      const [months, windows] = await this.#write(() => [
        this.#ledger.unflushed().filter((month) => month.seeded),
        this.#windows.unreported(),
      ]);
      await flush(this.#db, tenantId, months, windows);
      await this.#write(() => {
        for (const { period, version } of months) this.#ledger.flushed(period, version);
        for (const window of windows) this.#windows.reported(window);
      });
      this.#failedFlushes = 0;
      return true;
    } catch (error) {
      this.#failedFlushes++;
      if (pgErrorCode(error) === PG_FOREIGN_KEY_VIOLATION) await this.#write(() => this.#noteGone(true));
      log.warn("usage flush failed", { tenantId, attempt: this.#failedFlushes, code: pgErrorCode(error) });
      return false;
    }
  }

  async #load() {
    const tenantId = this.#tenantId;
    if (tenantId === undefined) throw new Error("the gate does not know its tenant");
    const period = periodOf(Date.now());
    const { directory, month } = await loadTenant(this.#db, tenantId, period).catch((error: unknown) => {
      // Once an outage, not once a request.
      if (!this.#loadFailed) log.warn("credentials cannot be read", { tenantId, code: pgErrorCode(error) });
      this.#loadFailed = true;
      throw error;
    });
    this.#loadFailed = false;
    return {
      state: directory,
      accepted: () => {
        // A tenant that never was leaves nothing behind.
        if (!directory.tenant && this.#store.isEmpty) return;
        void this.#write(() => {
          const text = JSON.stringify(directory);
          if (text !== this.#storedDirectory) {
            this.#store.saveMeta("tenant", tenantId);
            this.#store.saveMeta("directory", text);
            this.#storedDirectory = text;
          }
          this.#noteGone(!directory.tenant);
          if (directory.tenant) this.#ledger.adopt(period, month);
        });
        // Postgres is back: what waited for it need not wait longer.
        if (this.#failedFlushes > 0) this.#schedule(Date.now());
      },
    };
  }

  #noteGone(gone: boolean): void {
    if (gone === (this.#goneSinceMs !== undefined)) return;
    this.#goneSinceMs = gone ? Date.now() : undefined;
    if (this.#goneSinceMs === undefined) this.#store.dropMeta("gone_since");
    else this.#store.saveMeta("gone_since", String(this.#goneSinceMs));
  }

  async #vanish(): Promise<void> {
    await this.ctx.storage.deleteAll();
    this.#store.reset();
  }

  #schedule(atMs: number): void {
    if (this.#alarmAtMs !== undefined && this.#alarmAtMs <= atMs) return;
    this.#alarmAtMs = atMs;
    void this.ctx.storage.setAlarm(atMs);
  }

  /** One that makes no sense must not keep the others from being counted. */
  #settleAll(packed: string): void {
    if (packed === "") return;
    const nowMs = Date.now();
    for (const { reservationId, settlement } of unpackSettlements(packed)) {
      try {
        this.#ledger.settle(reservationId, settlement, nowMs);
      } catch (error) {
        log.error("settlement refused", error, { tenantId: this.#tenantId });
      }
    }
    this.#schedule(nowMs + FLUSH_DELAY_MS);
  }

  /** Decides something: changes memory in one go, so that requests cannot interleave in it; see `Commits`. */
  #write<T>(change: () => T): Promise<T> {
    return this.#commits.written(change());
  }

  #writeRows(): void {
    try {
      this.ctx.storage.transactionSync(() => this.#store.commit());
    } catch (error) {
      // Memory must not run ahead of the rows: the object starts over from them.
      this.ctx.abort("a commit failed");
      throw error;
    }
    this.#ledger.written();
  }
}

/** Wait before the next flush: doubling, capped, with jitter so that gates do not come back together. */
function retryDelayMs(failures: number): number {
  const full = Math.min(FLUSH_RETRY_CAP_MS, FLUSH_RETRY_BASE_MS * 2 ** Math.min(failures - 1, 10));
  return full * (0.75 + Math.random() / 4);
}

function wait(ms: number): Wait {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const done = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  return { done, cancel: () => clearTimeout(timer) };
}
