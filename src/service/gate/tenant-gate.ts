// oxlint-disable-next-line no-restricted-imports -- a Durable Object; the rest of the folder is platform-free
import { DurableObject } from "cloudflare:workers";
import { backoffMs } from "../../lib/backoff.ts";
import type { CallKind } from "../../contract/surfaces.ts";
import { DEFAULT_MONTHLY_CREDITS } from "../../contract/limits.ts";
import { databaseOf } from "../db/databases.ts";
import { PG_FOREIGN_KEY_VIOLATION, pgErrorCode } from "../db/errors.ts";
import { createLogger } from "../../lib/log.ts";
import { isSameHash } from "../tenancy/credentials.ts";
import { hasScope, kindOf } from "../tenancy/restrictions.ts";
import { readBudgets } from "./budgets.ts";
import {
  CredentialCache,
  type CredentialFacts,
  type CredentialLimit,
  readFacts,
  storeFacts,
} from "./credential-cache.ts";
import { type Budget, CreditLedger } from "./credits.ts";
import { KeyUsage } from "./key-usage.ts";
import { flush, hasTenant, loadCredential, loadMonths, loadSpent } from "./mirror.ts";
import { periodEndMs, periodOf, periodStartMs } from "./period.ts";
import { GateStorage } from "./storage.ts";
import { TENANT_GATE_TABLES } from "./tables.ts";
import type {
  AdmitRequest,
  AdmitResult,
  CreditRequest,
  QuotaExceeded,
  ReserveResult,
  Settlement,
  TenantGateApi,
  UsageSnapshot,
} from "./types.ts";
import { type CredentialRate, RateWindows, retryAfterSec } from "./windows.ts";

type TenantGateEnv = Pick<ApiEnv, "DATABASE_URL"> & { RATE_LIMITS?: string };

const MAX_HOLD_MS = 15 * 60_000;
/** Delay between a charge, a rejection, a run or the first call of its kind and its flush to Postgres. */
const FLUSH_DELAY_MS = 3_000;
/**
 * Delay between a call that costs no credits, such as a search, and its flush: three rows a tenant and quarter of an hour, however
 * many calls. Readers that need the figures sooner call `flush`.
 */
const CALLS_FLUSH_DELAY_MS = 15 * 60_000;
const FLUSH_BACKOFF = { baseMs: 2_000, capMs: 60_000 };
/** Smallest time between two prunes, which are not urgent: what has expired does not count. */
const PRUNE_INTERVAL_MS = 15 * 60_000;
/** Credential id in `usage_days` for the embeddings of hosted indexing, which use no credential. */
const INDEX_CREDENTIAL = "index";
/** How long a gate grants no credits while its tenant is deleted. */
const CLOSED_MS = 60_000;
/** The gate's rows are removed this long after their tenant was deleted from Postgres. */
const GONE_KEPT_MS = 7 * 24 * 60 * 60_000;

type MetaKey = "tenant" | "gone_since" | "closed_until" | "flush_at";

const log = createLogger({ component: "tenant-gate" });

/**
 * The gate of one tenant (`idFromName(tenantId)`): checks credentials, limits rates, reserves and settles credits.
 *
 * A request makes two calls, `admit` and `settle`. Each changes rows of this object's SQLite in one synchronous step, so
 * requests cannot interleave, and answers once the rows are durable. Only the credential cache is kept in memory, so a killed
 * object loses nothing. Postgres is read for credentials only; an alarm mirrors the counters to it as absolute figures with a
 * version, so that a repeated or late flush does not count twice.
 */
export class TenantGate extends DurableObject<TenantGateEnv> implements TenantGateApi {
  readonly #storage: GateStorage;
  readonly #ledger: CreditLedger;
  readonly #windows: RateWindows;
  readonly #keyUsage: KeyUsage;
  readonly #credentials: CredentialCache;
  #tenantId: string | undefined;
  #alarmAtMs: number | undefined;
  /** When the counters are to be flushed, Unix time in milliseconds; undefined if nothing has changed. Also in `meta`. */
  #flushAtMs: number | undefined;
  /** Failed flushes since the last successful one. */
  #failedFlushes = 0;

  constructor(ctx: DurableObjectState, env: TenantGateEnv) {
    super(ctx, env);
    this.#storage = new GateStorage(ctx.storage, TENANT_GATE_TABLES);
    const { sql } = ctx.storage;
    this.#ledger = new CreditLedger(sql);
    this.#windows = new RateWindows(sql, readBudgets(env.RATE_LIMITS));
    this.#keyUsage = new KeyUsage(sql);
    this.#tenantId = ctx.id.name ?? this.#meta("tenant");
    this.#credentials = new CredentialCache(
      {
        load: (id) => this.#loadCredential(id),
        store: (id, facts, checkedAtMs) => {
          if (facts !== null || !this.#storage.isEmpty)
            void this.#storage.write(() => storeFacts(sql, id, facts, checkedAtMs));
        },
        now: () => Date.now(),
      },
      this.#storage.isEmpty ? [] : readFacts(sql),
    );
    void ctx.blockConcurrencyWhile(async () => {
      this.#alarmAtMs = (await ctx.storage.getAlarm()) ?? undefined;
      if (!this.#hasUnflushed()) return;
      const nowMs = Date.now();
      const soonMs = nowMs + FLUSH_DELAY_MS;
      // A clock that was wrong must not postpone the flush.
      this.#flushAtMs = Math.min(Number(this.#meta("flush_at") ?? soonMs), nowMs + CALLS_FLUSH_DELAY_MS);
      this.#schedule(Math.max(this.#flushAtMs, soonMs));
    });
  }

  async admit({ tenantId, credential, surface, scope, isFree, reserve }: AdmitRequest): Promise<AdmitResult> {
    this.#tenantId ??= tenantId;
    const facts = await this.#credentials.find(credential.id);
    if (facts === "unavailable") return { outcome: "unavailable" };
    const isValid =
      facts !== "unknown" &&
      kindOf(facts.kind) === credential.kind &&
      isSameHash(facts.secretHash, credential.secretHash);
    if (!isValid) return { outcome: "unauthorized" };
    const { id: credentialId, kind } = credential;
    const { repos, scopes, limits = [] } = facts.narrow ?? {};
    return this.#storage.write((): AdmitResult => {
      const nowMs = Date.now();
      const principal = { tenantId, credentialId, kind, sharedIndex: facts.sharedIndex, ...(repos && { repos }) };
      const isForbidden = scope !== undefined && !hasScope(kind, { scopes }, scope);
      if (isFree) {
        if (isForbidden) return { outcome: "forbidden", rate: this.#windows.peek(surface, nowMs) };
        return { outcome: "admitted", principal, rate: this.#windows.peek(surface, nowMs), reservationId: null };
      }
      const audit = { tenantId, actor: credentialId };
      const { allowed, rate, retryAfterSec: waitSec } = this.#windows.takeAll(surface, ratesOf(limits), nowMs, audit);
      if (!allowed) {
        this.#flushBy(nowMs + FLUSH_DELAY_MS);
        return { outcome: "rate_limited", rate, retryAfterSec: waitSec };
      }
      if (isForbidden) return { outcome: "forbidden", rate };
      const isFirst = this.#keyUsage.add(credentialId, { calls: 1 }, nowMs);
      this.#flushBy(nowMs + (isFirst ? FLUSH_DELAY_MS : CALLS_FLUSH_DELAY_MS));
      if (!reserve) return { outcome: "admitted", principal, rate, reservationId: null };
      const reserved = this.#reserve(credentialId, reserve, facts, nowMs);
      if (reserved.outcome === "quota_exceeded") return { ...reserved, rate };
      return { outcome: "admitted", principal, rate, reservationId: reserved.reservationId };
    });
  }

  async reserve(credentialId: string, request: CreditRequest): Promise<ReserveResult> {
    const facts = await this.#credentials.find(credentialId);
    if (facts === "unavailable" || facts === "unknown") return { outcome: "unavailable" };
    return this.#storage.write(() => this.#reserve(credentialId, request, facts, Date.now()));
  }

  async settle(reservationId: string, settlement: Settlement): Promise<{ credits: number }> {
    return this.#storage.write(() => {
      const nowMs = Date.now();
      const { credits, credentialId, isFirst } = this.#ledger.settle(reservationId, settlement);
      if (isFirst && settlement.outcome === "charged") {
        this.#keyUsage.add(credentialId, { credits, tokens: settlement.tokens }, nowMs);
        this.#flushBy(nowMs + FLUSH_DELAY_MS);
      }
      return { credits };
    });
  }

  async count(key: string | null, kind: CallKind | null, indexTokens = 0): Promise<void> {
    await this.#storage.write(() => {
      const nowMs = Date.now();
      const isNew = this.#ledger.count(key, kind, indexTokens, nowMs);
      if (isNew && indexTokens > 0) this.#keyUsage.add(INDEX_CREDENTIAL, { tokens: indexTokens }, nowMs);
      const isFirst = kind !== null && this.#ledger.figures(periodOf(nowMs)).calls[kind] === 1;
      // Only what is repeated until it is counted has a key: runs and their tokens.
      const isUrgent = isFirst || key !== null || indexTokens > 0;
      this.#flushBy(nowMs + (isUrgent ? FLUSH_DELAY_MS : CALLS_FLUSH_DELAY_MS));
    });
  }

  /** Flushes the counters now, for a reader of the figures in Postgres. */
  async flush(): Promise<void> {
    await this.#flush();
  }

  async usage(credentialId = ""): Promise<UsageSnapshot> {
    return this.#storage.write(() => {
      const period = periodOf(Date.now());
      const { credits: used, embedTokens, rerankTokens, indexTokens, calls } = this.#ledger.figures(period);
      return {
        periodStart: new Date(periodStartMs(period)).toISOString(),
        periodEnd: new Date(periodEndMs(period)).toISOString(),
        limit: this.#credentials.peek(credentialId)?.monthlyCredits ?? DEFAULT_MONTHLY_CREDITS,
        used,
        embedTokens,
        rerankTokens,
        indexTokens,
        calls,
      };
    });
  }

  /** Reads the counters, for the health check. A gate without tables stays without. */
  async check(): Promise<void> {
    if (!this.#storage.isEmpty) await this.usage();
  }

  async close(): Promise<{ period: string; credits: number }> {
    return this.#storage.write(() => {
      const nowMs = Date.now();
      this.#setMeta("closed_until", String(nowMs + CLOSED_MS));
      const period = periodOf(nowMs);
      return { period, credits: this.#ledger.committed(period, nowMs) };
    });
  }

  /** Deletes everything: the tenant was erased. */
  async erase(): Promise<void> {
    await this.#storage.deleteAll();
    await this.ctx.storage.deleteAlarm();
    this.#alarmAtMs = undefined;
    this.#flushAtMs = undefined;
  }

  /** Prunes, and flushes to Postgres if that is due; reschedules itself while there is work left. */
  override async alarm(): Promise<void> {
    this.#alarmAtMs = undefined;
    if (this.#storage.isEmpty) return;
    const nowMs = Date.now();
    await this.#storage.write(() => {
      this.#ledger.prune(nowMs);
      this.#windows.prune(nowMs);
      this.#keyUsage.prune(nowMs);
    });
    const isDue = this.#flushAtMs !== undefined && this.#flushAtMs <= nowMs + FLUSH_DELAY_MS;
    if (!isDue || (await this.#flush())) {
      const dueMs = Math.min(this.#ledger.nextDueMs() ?? Infinity, this.#windows.nextDueMs() ?? Infinity);
      if (dueMs !== Infinity) this.#schedule(Math.max(dueMs, Date.now() + PRUNE_INTERVAL_MS));
      if (this.#flushAtMs !== undefined) this.#schedule(this.#flushAtMs);
      return;
    }
    const goneSinceMs = Number(this.#meta("gone_since") ?? Infinity);
    if (Date.now() - goneSinceMs > GONE_KEPT_MS) return this.#storage.deleteAll();
    this.#schedule(Date.now() + backoffMs(this.#failedFlushes, FLUSH_BACKOFF));
  }

  #reserve(
    credentialId: string,
    { credits, holdMs }: CreditRequest,
    { monthlyCredits, narrow }: CredentialFacts,
    nowMs: number,
  ): { outcome: "reserved"; reservationId: string } | QuotaExceeded {
    const hold = { credits, holdMs: Math.min(Math.max(holdMs, 1), MAX_HOLD_MS) };
    const isClosed = nowMs < Number(this.#meta("closed_until") ?? 0);
    const limit = isClosed ? 0 : monthlyCredits;
    const reserved = this.#ledger.reserve(credentialId, hold, limit, nowMs, budgetsOf(narrow?.limits ?? []));
    if ("reservationId" in reserved) return { outcome: "reserved", ...reserved };
    const endMs = periodEndMs(periodOf(nowMs));
    return {
      outcome: "quota_exceeded",
      limit: isClosed ? monthlyCredits : reserved.limit,
      used: reserved.committed,
      resetsAt: new Date(endMs).toISOString(),
      retryAfterSec: retryAfterSec(endMs, nowMs),
    };
  }

  async #loadCredential(id: string) {
    const tenantId = this.#tenantId;
    if (tenantId === undefined) throw new Error("the object has no name to take the tenant's id from");
    const period = periodOf(Date.now());
    const { facts, month } = await loadCredential(databaseOf(this.env, tenantId), tenantId, id, period);
    if (facts) {
      await this.#storage.write(() => {
        if (this.#meta("tenant") === undefined) this.#setMeta("tenant", tenantId);
        this.#ledger.seed(period, month);
      });
      for (const { id: holder } of budgetsOf(facts.narrow?.limits ?? [])) {
        if (this.#ledger.hasBudget(holder, period)) continue;
        const spent = await loadSpent(databaseOf(this.env, tenantId), tenantId, holder, period);
        await this.#storage.write(() => this.#ledger.seedBudget(holder, period, spent));
      }
    }
    // Postgres is back: run a delayed flush now.
    if (this.#failedFlushes > 0) this.#schedule(Date.now());
    return facts;
  }

  #hasUnflushed(): boolean {
    if (this.#storage.isEmpty) return false;
    const { length } = [...this.#ledger.unflushed(), ...this.#keyUsage.unflushed(), ...this.#windows.unreported()];
    return length > 0;
  }

  /** Flushes what Postgres does not have yet. Returns false if Postgres could not be reached; the rows are kept. */
  async #flush(): Promise<boolean> {
    const tenantId = this.#tenantId;
    if (tenantId === undefined || !this.#hasUnflushed()) return true;
    try {
      const unseeded = this.#ledger.unflushed().filter((month) => !month.seeded);
      if (unseeded.length > 0) {
        const periods = unseeded.map((month) => month.period);
        const mirrored = await loadMonths(databaseOf(this.env, tenantId), tenantId, periods);
        await this.#storage.write(() => {
          for (const period of periods) this.#ledger.seed(period, mirrored.get(period));
        });
      }
      const months = this.#ledger.unflushed().filter((month) => month.seeded);
      const keyDays = this.#keyUsage.unflushed();
      const rejections = this.#windows.unreported();
      await flush(databaseOf(this.env, tenantId), tenantId, { months, keyDays, rejections });
      await this.#storage.write(() => {
        for (const { period, version } of months) this.#ledger.flushed(period, version);
        this.#keyUsage.flushed(keyDays);
        this.#windows.reported(rejections);
        this.#setMeta("gone_since", undefined);
        this.#setMeta("flush_at", undefined);
        this.#flushAtMs = undefined;
        // What has changed since the flush began.
        if (this.#hasUnflushed()) this.#flushBy(Date.now() + FLUSH_DELAY_MS);
      });
      this.#failedFlushes = 0;
      return true;
    } catch (error) {
      this.#failedFlushes++;
      log.warn("usage flush failed", { tenantId, attempt: this.#failedFlushes, code: pgErrorCode(error) });
      if (pgErrorCode(error) === PG_FOREIGN_KEY_VIOLATION) await this.#noteGone(tenantId);
      return false;
    }
  }

  async #noteGone(tenantId: string): Promise<void> {
    if (await hasTenant(databaseOf(this.env, tenantId), tenantId).catch(() => true)) return;
    await this.#storage.write(() => {
      if (this.#meta("gone_since") === undefined) this.#setMeta("gone_since", String(Date.now()));
    });
  }

  #meta(key: MetaKey): string | undefined {
    if (this.#storage.isEmpty) return undefined;
    const query = "select value from meta where key = ?";
    return this.#storage.sql.exec<{ value: string }>(query, key).toArray()[0]?.value;
  }

  #setMeta(key: MetaKey, value: string | undefined): void {
    if (value === undefined) this.#storage.sql.exec("delete from meta where key = ?", key);
    else this.#storage.sql.exec("insert or replace into meta (key, value) values (?, ?)", key, value);
  }

  /** To be called in a change. */
  #flushBy(atMs: number): void {
    if (this.#flushAtMs !== undefined && this.#flushAtMs <= atMs) return;
    this.#flushAtMs = atMs;
    this.#setMeta("flush_at", String(atMs));
    this.#schedule(atMs);
  }

  #schedule(atMs: number): void {
    if (this.#alarmAtMs !== undefined && this.#alarmAtMs <= atMs) return;
    this.#alarmAtMs = atMs;
    void this.ctx.storage.setAlarm(atMs);
  }
}

function ratesOf(limits: readonly CredentialLimit[]): CredentialRate[] {
  return limits.flatMap(({ id, ratePerMinute }) => (ratePerMinute === undefined ? [] : [{ id, ratePerMinute }]));
}

function budgetsOf(limits: readonly CredentialLimit[]): Budget[] {
  return limits.flatMap(({ id, monthlyCredits }) => (monthlyCredits === undefined ? [] : [{ id, monthlyCredits }]));
}
