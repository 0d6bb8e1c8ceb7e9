/** Rate limits: fixed windows aligned to the Unix epoch, one row per surface and window. The clock is an argument. */
import type { Surface } from "../../contract/surfaces.ts";
import type { RateBudgets } from "./budgets.ts";
import type { AuditTarget, RateState, Sql, TakeResult } from "./types.ts";

export const WINDOWS_SCHEMA = `
create table windows (
  surface text not null, start_ms integer not null, end_ms integer not null, used integer not null,
  rejected integer not null, first_rejected_ms integer, tenant_id text, actor text, reported integer not null,
  primary key (surface, start_ms)
) without rowid;
`;

/** Prefix of the windows of narrow credentials with a rate of their own. */
const CREDENTIAL_WINDOW = "credential:";

type RateBudget = RateBudgets[Surface];

/** A narrow credential's own rate, with the requests of the tokens made from it. */
export interface CredentialRate {
  /** Public id. */
  id: string;
  ratePerMinute: number;
}

/** Windows are kept this long after their end, in case the clock steps back a little. */
const KEPT_MS = 60_000;

/** Rejected requests of one window, for the audit log. */
export interface Rejections extends AuditTarget {
  /** A surface, or {@link CREDENTIAL_WINDOW} and the public id of a narrow credential. */
  surface: string;
  startMs: number;
  endMs: number;
  rejected: number;
  /** Unix time in milliseconds of the first rejection. */
  firstMs: number;
}

export class RateWindows {
  readonly #sql: Sql;
  readonly #budgets: RateBudgets;

  constructor(sql: Sql, budgets: RateBudgets) {
    this.#sql = sql;
    this.#budgets = budgets;
  }

  /** Takes one request from the surface's bucket. The first rejection of a window sets the window's audit target. */
  take(surface: Surface, nowMs: number, audit?: AuditTarget): TakeResult {
    return this.#take(surface, this.#budgets[surface], nowMs, audit);
  }

  /**
   * Takes one request from the surface's bucket and from those of narrow credentials, or from none: a request that one of them rejects
   * leaves the others as they were. Reports the state with the fewest requests remaining.
   */
  takeAll(surface: Surface, rates: readonly CredentialRate[], nowMs: number, audit?: AuditTarget): TakeResult {
    const own = rates.map(
      ({ id, ratePerMinute }) => [`${CREDENTIAL_WINDOW}${id}`, { limit: ratePerMinute, windowSec: 60 }] as const,
    );
    const full = own.find(([key, budget]) => this.#peek(key, budget, nowMs).remaining === 0);
    if (full) return this.#take(...full, nowMs, audit);
    const taken = this.take(surface, nowMs, audit);
    if (!taken.allowed) return taken;
    return own
      .map(([key, budget]) => this.#take(key, budget, nowMs, audit))
      .reduce((least, each) => (each.rate.remaining < least.rate.remaining ? each : least), taken);
  }

  #take(surface: string, { limit, windowSec }: RateBudget, nowMs: number, audit?: AuditTarget): TakeResult {
    const lengthMs = windowSec * 1_000;
    const startMs = Math.floor(nowMs / lengthMs) * lengthMs;
    const endMs = startMs + lengthMs;
    const [row] = this.#sql
      .exec<{ used: number; rejected: number }>(
        `insert into windows (surface, start_ms, end_ms, used, rejected, reported) values (?, ?, ?, 1, 0, 0)
         on conflict (surface, start_ms) do update set used = used + 1 where used < ? returning used, rejected`,
        surface,
        startMs,
        endMs,
        limit,
      )
      .toArray();
    const remaining = row ? Math.max(0, limit - row.used) : 0;
    return {
      allowed: row !== undefined,
      rate: { limit, remaining, resetSec: endMs / 1_000 },
      rejected: row ? row.rejected : this.#reject(surface, startMs, nowMs, audit),
      retryAfterSec: retryAfterSec(endMs, nowMs),
    };
  }

  /** The state of the surface's window, without taking a request. */
  peek(surface: Surface, nowMs: number): RateState {
    return this.#peek(surface, this.#budgets[surface], nowMs);
  }

  #peek(surface: string, { limit, windowSec }: RateBudget, nowMs: number): RateState {
    const lengthMs = windowSec * 1_000;
    const startMs = Math.floor(nowMs / lengthMs) * lengthMs;
    const [row] = this.#sql
      .exec<{ used: number }>("select used from windows where surface = ? and start_ms = ?", surface, startMs)
      .toArray();
    return { limit, remaining: Math.max(0, limit - (row?.used ?? 0)), resetSec: (startMs + lengthMs) / 1_000 };
  }

  /** Audited windows with rejections that were not reported yet. */
  unreported(): Rejections[] {
    return this.#sql
      .exec<Rejections & Record<string, string | number>>(
        `select surface, start_ms as startMs, end_ms as endMs, rejected, first_rejected_ms as firstMs,
         tenant_id as tenantId, actor from windows where rejected > reported and tenant_id is not null`,
      )
      .toArray();
  }

  /** Marks rejections as recorded in the audit log. */
  reported(windows: readonly Rejections[]): void {
    for (const { surface, startMs, rejected } of windows) {
      this.#sql.exec(
        "update windows set reported = max(reported, ?) where surface = ? and start_ms = ?",
        rejected,
        surface,
        startMs,
      );
    }
  }

  /** Drops windows that have ended and been reported. */
  prune(nowMs: number): void {
    const isReported = "(tenant_id is null or rejected <= reported)";
    this.#sql.exec(`delete from windows where end_ms + ${KEPT_MS} <= ? and ${isReported}`, nowMs);
  }

  /** When the next window can be dropped, Unix time in milliseconds; undefined if there is none. */
  nextDueMs(): number | undefined {
    const [row] = this.#sql.exec<{ endMs: number | null }>("select min(end_ms) as endMs from windows").toArray();
    return typeof row?.endMs === "number" ? row.endMs + KEPT_MS : undefined;
  }

  #reject(surface: string, startMs: number, nowMs: number, audit: AuditTarget | undefined): number {
    const update = `update windows set rejected = rejected + 1, first_rejected_ms = coalesce(first_rejected_ms, ?),
       tenant_id = coalesce(tenant_id, ?), actor = coalesce(actor, ?) where surface = ? and start_ms = ? returning rejected`;
    const { tenantId = null, actor = null } = audit ?? {};
    const [row] = this.#sql.exec<{ rejected: number }>(update, nowMs, tenantId, actor, surface, startMs).toArray();
    return row?.rejected ?? 0;
  }
}

/** Whole seconds from `nowMs` until `atMs`, at least one. */
export function retryAfterSec(atMs: number, nowMs: number): number {
  return Math.max(1, Math.ceil((atMs - nowMs) / 1_000));
}
