/**
 * The credit ledger of one tenant, in SQL. The clock is an argument.
 *
 * Invariants, for any order of calls: at the moment of a reservation, charged plus reserved credits never exceed the limit; a
 * reservation is settled at most once; every charged settlement is counted, even after its reservation expired. If the true
 * figure is above the estimate, the month may exceed its limit by that difference. The same holds for the budget of each narrow
 * credential, with the charges of the tokens made from it.
 */
import { TOKENS_PER_CREDIT } from "../../contract/limits.ts";
import type { CallKind } from "../../contract/surfaces.ts";
import { periodOf } from "./period.ts";
import type { CreditRequest, Settlement, Sql } from "./types.ts";

/** Figures of one UTC month. */
interface MonthFigures {
  credits: number;
  embedTokens: number;
  rerankTokens: number;
  indexTokens: number;
  calls: Record<CallKind, number>;
}

/** A month's figures in Postgres. `flushSeq` is the version that was written. */
export interface MirroredMonth extends MonthFigures {
  flushSeq: number;
}

export interface Month extends MonthFigures {
  period: string;
  /** Incremented with every change; the `flushSeq` of a flush. */
  version: number;
  /** Whether the month has been merged with its figures in Postgres, if there are any. */
  seeded: boolean;
}

const CALL_KINDS = ["embed", "rerank", "index", "snapshot", "search"] as const satisfies readonly CallKind[];
/** Counter columns of `months`, in declaration order. */
const COUNTERS = [
  "credits",
  "embed_tokens",
  "rerank_tokens",
  "index_tokens",
  ...CALL_KINDS.map((kind) => `${kind}_calls`),
] as const;

const MONTH_COLUMNS = `(period, version, flushed_version, seeded, ${COUNTERS.join(", ")})`;

export const CREDITS_SCHEMA = `
create table months (
  period text primary key, version integer not null, flushed_version integer not null, seeded integer not null,
  ${COUNTERS.map((column) => `${column} integer not null`).join(", ")}
) without rowid;
create table reservations (
  id text primary key, credential_id text not null, period text not null, credits integer not null,
  deadline_ms integer not null, charged integer, budgets text
) without rowid;
create index reservations_open on reservations (deadline_ms) where charged is null;
create table counted (key text primary key, at_ms integer not null) without rowid;
create table budgets (
  credential_id text not null, period text not null, credits integer not null, primary key (credential_id, period)
) without rowid;
`;

/** How long a settled reservation is kept after its deadline; retries of a settlement arrive sooner. */
const SETTLED_KEPT_MS = 60_000;
/** How long after its deadline an unsettled reservation can still be settled. */
const UNSETTLED_KEPT_MS = 24 * 60 * 60_000;
const COUNTED_KEPT_MS = 2 * 24 * 60 * 60_000;

/** Credits of one request: one per started thousand tokens, at least one (interface, section 8, Billing). */
export function creditsOf(tokens: number): number {
  return Math.max(1, Math.ceil(tokens / TOKENS_PER_CREDIT));
}

/** The credits that a narrow credential, with the tokens made from it, may use in a month. */
export interface Budget {
  /** Public id. */
  id: string;
  monthlyCredits: number;
}

export interface Settled {
  /** Credits charged. */
  credits: number;
  credentialId: string;
  /** False for a repeated settlement, which changes nothing. */
  isFirst: boolean;
}

export class CreditLedger {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /**
   * Reserves credits in the month of `nowMs`, from the tenant's and from all `budgets`. If one has no room, returns its limit and the
   * credits charged or reserved as `committed`.
   */
  reserve(
    credentialId: string,
    { credits, holdMs }: CreditRequest,
    limit: number,
    nowMs: number,
    budgets: readonly Budget[] = [],
  ): { reservationId: string } | { committed: number; limit: number } {
    requireCount(credits, "credits");
    const period = periodOf(nowMs);
    const committed = this.committed(period, nowMs);
    if (committed + credits > limit) return { committed, limit };
    for (const { id, monthlyCredits } of budgets) {
      const used = this.#committedOf(id, period, nowMs);
      if (used + credits > monthlyCredits) return { committed: used, limit: monthlyCredits };
    }
    const reservationId = crypto.randomUUID();
    this.#sql.exec(
      "insert into reservations (id, credential_id, period, credits, deadline_ms, budgets) values (?, ?, ?, ?, ?, ?)",
      reservationId,
      credentialId,
      period,
      credits,
      nowMs + holdMs,
      budgets.length === 0 ? null : JSON.stringify(budgets.map(({ id }) => id)),
    );
    return { reservationId };
  }

  /** Whether the charges against a credential's budget are known for a month. */
  hasBudget(id: string, period: string): boolean {
    const query = "select 1 from budgets where credential_id = ? and period = ?";
    return this.#sql.exec(query, id, period).toArray().length > 0;
  }

  /** Takes over what was charged against a credential's budget, unless that is known. */
  seedBudget(id: string, period: string, credits: number): void {
    this.#sql.exec(
      "insert into budgets (credential_id, period, credits) values (?, ?, ?) on conflict do nothing",
      id,
      period,
      credits,
    );
  }

  /** As `committed`, against the budget of one credential. */
  #committedOf(id: string, period: string, nowMs: number): number {
    const [row] = this.#sql
      .exec<{ committed: number }>(
        `select coalesce((select credits from budgets where credential_id = ?1 and period = ?2), 0) + coalesce(
         (select sum(credits) from reservations where charged is null and deadline_ms > ?3 and period = ?2
          and budgets is not null and exists (select 1 from json_each(reservations.budgets) where value = ?1)), 0) as committed`,
        id,
        period,
        nowMs,
      )
      .toArray();
    return row?.committed ?? 0;
  }

  /** Credits of a month that are charged or reserved. Expired reservations do not count. */
  committed(period: string, nowMs: number): number {
    const [row] = this.#sql
      .exec<{ committed: number }>(
        `select coalesce((select credits from months where period = ?1), 0) + coalesce(
         (select sum(credits) from reservations where charged is null and deadline_ms > ?2 and period = ?1), 0) as committed`,
        period,
        nowMs,
      )
      .toArray();
    return row?.committed ?? 0;
  }

  /**
   * Settles a reservation, in the month it was made. Throws `RangeError` for an unknown reservation or an invalid token count.
   */
  settle(id: string, settlement: Settlement): Settled {
    const isCharged = settlement.outcome === "charged";
    const credits = isCharged ? creditsOf(requireCount(settlement.tokens, "tokens")) : 0;
    const [row] = this.#sql
      .exec<{ period: string; credential_id: string; charged: number | null; budgets: string | null }>(
        "select period, credential_id, charged, budgets from reservations where id = ?",
        id,
      )
      .toArray();
    if (!row) throw new RangeError("there is no such reservation");
    const credentialId = row.credential_id;
    if (row.charged !== null) return { credits: row.charged, credentialId, isFirst: false };
    this.#sql.exec("update reservations set charged = ? where id = ?", credits, id);
    if (isCharged) {
      const { kind, tokens } = settlement;
      this.#add(row.period, { credits, [`${kind}_tokens`]: tokens, [`${kind}_calls`]: 1 });
      const charge = `insert into budgets (credential_id, period, credits) select value, ?, ? from json_each(?) where true
         on conflict do update set credits = credits + excluded.credits`;
      if (row.budgets !== null) this.#sql.exec(charge, row.period, credits, row.budgets);
    }
    return { credits, credentialId, isFirst: true };
  }

  /** Adds a call and tokens of hosted indexing to the month of `nowMs`. With a key, once per key. Returns whether it counted. */
  count(key: string | null, kind: CallKind | null, indexTokens: number, nowMs: number): boolean {
    requireCount(indexTokens, "indexTokens");
    if (key !== null) {
      const insert = "insert into counted (key, at_ms) values (?, ?) on conflict do nothing returning 1 as isNew";
      if (this.#sql.exec(insert, key, nowMs).toArray().length === 0) return false;
    }
    this.#add(periodOf(nowMs), { index_tokens: indexTokens, ...(kind !== null && { [`${kind}_calls`]: 1 }) });
    return true;
  }

  /** Figures of a month; zeros if it has none. */
  figures(period: string): MonthFigures {
    return this.#months("where period = ?", period)[0] ?? toMonth({});
  }

  /** Months with changes that were not flushed yet. */
  unflushed(): Month[] {
    return this.#months("where version > flushed_version");
  }

  /** Records that Postgres has this version of a month, or a later one. */
  flushed(period: string, version: number): void {
    this.#sql.exec("update months set flushed_version = max(flushed_version, ?) where period = ?", version, period);
  }

  /**
   * Merges a month with its figures in Postgres (undefined: there are none). The first merge adds what was counted here before
   * it; if Postgres is ahead after that (rows were lost here), the larger figure counts.
   */
  seed(period: string, mirrored: MirroredMonth | undefined): void {
    const [row] = this.#sql
      .exec<{ seeded: number; version: number }>("select seeded, version from months where period = ?", period)
      .toArray();
    if (row?.seeded === 1 && (mirrored?.flushSeq ?? 0) <= row.version) return;
    const figures = mirrored ? countersOf(mirrored) : COUNTERS.map(() => 0);
    const flushSeq = mirrored?.flushSeq ?? 0;
    const merge = (column: string) =>
      `${column} = case when seeded then max(${column}, excluded.${column}) else ${column} + excluded.${column} end`;
    this.#sql.exec(
      `insert into months ${MONTH_COLUMNS} values (?, ?, ?, 1, ${COUNTERS.map(() => "?").join(", ")})
       on conflict do update set ${COUNTERS.map(merge).join(", ")},
       version = excluded.version + version, flushed_version = excluded.flushed_version, seeded = 1`,
      period,
      flushSeq,
      flushSeq,
      ...figures,
    );
  }

  /** Drops old reservations and keys, and flushed months before the previous one. */
  prune(nowMs: number): void {
    const now = new Date(nowMs);
    const previous = periodOf(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1));
    this.#sql.exec(
      "delete from reservations where deadline_ms < ? and (charged is not null or deadline_ms < ?)",
      nowMs - SETTLED_KEPT_MS,
      nowMs - UNSETTLED_KEPT_MS,
    );
    this.#sql.exec("delete from counted where at_ms < ?", nowMs - COUNTED_KEPT_MS);
    this.#sql.exec("delete from months where period < ? and version = flushed_version", previous);
    this.#sql.exec("delete from budgets where period < ?", previous);
  }

  /** When the next row can be pruned, Unix time in milliseconds; undefined if there is none. */
  nextDueMs(): number | undefined {
    const [row] = this.#sql
      .exec<{ due: number | null }>(
        `select min(deadline_ms + case when charged is null then ${UNSETTLED_KEPT_MS} else ${SETTLED_KEPT_MS} end) as due
         from reservations`,
      )
      .toArray();
    return typeof row?.due === "number" ? row.due + 1 : undefined;
  }

  #months(where: string, ...bindings: string[]): Month[] {
    return this.#sql
      .exec<CounterRow>(`select * from months ${where}`, ...bindings)
      .toArray()
      .map(toMonth);
  }

  #add(period: string, counters: Partial<Record<string, number>>): void {
    const values = COUNTERS.map((column) => counters[column] ?? 0);
    this.#sql.exec(
      `insert into months ${MONTH_COLUMNS} values (?, 1, 0, 0, ${COUNTERS.map(() => "?").join(", ")})
       on conflict do update set version = version + 1,
       ${COUNTERS.map((column) => `${column} = ${column} + excluded.${column}`).join(", ")}`,
      period,
      ...values,
    );
  }
}

type CounterRow = Record<string, string | number>;

function toMonth(row: CounterRow): Month {
  const count = (column: string) => Number(row[column] ?? 0);
  return {
    period: String(row["period"] ?? ""),
    version: count("version"),
    seeded: count("seeded") === 1,
    credits: count("credits"),
    embedTokens: count("embed_tokens"),
    rerankTokens: count("rerank_tokens"),
    indexTokens: count("index_tokens"),
    calls: callsFrom((kind) => count(`${kind}_calls`)),
  };
}

function countersOf({ credits, embedTokens, rerankTokens, indexTokens, calls }: MonthFigures): number[] {
  return [credits, embedTokens, rerankTokens, indexTokens, ...CALL_KINDS.map((kind) => calls[kind])];
}

/** Builds a record of calls by kind. */
export function callsFrom(value: (kind: CallKind) => number): Record<CallKind, number> {
  return Object.fromEntries(CALL_KINDS.map((kind) => [kind, value(kind)])) as Record<CallKind, number>;
}

/** Returns the value if it is a whole number of at least 0; throws `RangeError` otherwise. */
function requireCount(value: number, name: string): number {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${name} must be a whole number of at least 0`);
  return value;
}
