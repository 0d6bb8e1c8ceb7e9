/**
 * The credit ledger of one tenant: pure arithmetic, the clock is an argument. Each change is handed to a store at once, so
 * that a ledger made again from the store's rows is the same ledger.
 *
 * Guarantees, whatever the order of calls: what is charged plus what is reserved never exceeds the limit at the moment of
 * a reservation; a reservation is settled at most once; every charged settlement is counted, even one that comes after its
 * reservation expired. A true figure above its estimate may take the month past its limit, by that difference only.
 */
import { TOKENS_PER_CREDIT } from "../contract/limits.ts";
import type { CallKind } from "../contract/surfaces.ts";
import { Advance } from "./advance.ts";
import { periodOf } from "./period.ts";
import type { Settlement } from "./types.ts";

export const CALL_KINDS = ["embed", "rerank", "index", "snapshot", "search"] as const satisfies readonly CallKind[];

/** Absolute figures of one UTC month. */
export interface MonthFigures {
  credits: number;
  embedTokens: number;
  rerankTokens: number;
  indexTokens: number;
  calls: Record<CallKind, number>;
}

/** A month's figures as the database mirrors them. */
export interface MirroredMonth extends MonthFigures {
  /** The version that was written. */
  flushSeq: number;
}

export interface Month extends MonthFigures {
  period: string;
  /** Counts up with every change; the `flushSeq` of a flush. */
  version: number;
  /** The version that is known to be in the database. */
  flushedVersion: number;
  /** Whether the database's figures of this month, if there were any, have been taken over. */
  seeded: boolean;
}

export interface Reservation {
  id: string;
  period: string;
  credits: number;
  /** Unix time in milliseconds at which it gives its credits back by itself. */
  deadlineMs: number;
  state: "open" | "expired" | "settled";
  /** Credits charged by its settlement. */
  charged: number;
}

/** Where changes go, in the order they happen. Rows are whole: writing one replaces it. */
export interface LedgerStore {
  saveMonth(month: Readonly<Month>): void;
  saveReservation(reservation: Readonly<Reservation>): void;
  dropReservation(id: string): void;
  dropMonth(period: string): void;
}

export type ReserveResult =
  /** `covered`: the reservation needs no row of its own, so there is nothing to wait for. */
  | { ok: true; reservation: Readonly<Reservation>; covered: boolean }
  /** `committed` is charged plus reserved. */
  | { ok: false; committed: number };

/** How long after its deadline a settled reservation is remembered: no retry of a settlement comes later. */
export const SETTLED_KEPT_MS = 60_000;
/** How long after its deadline an expired reservation can still be settled. */
export const EXPIRED_KEPT_MS = 24 * 60 * 60_000;
const KEPT_MS = { settled: SETTLED_KEPT_MS, expired: EXPIRED_KEPT_MS };

/** Credits of one request: one for each started thousand tokens, at least one (interface, section 8, Billing). */
export function creditsOf(tokens: number): number {
  return Math.max(1, Math.ceil(tokens / TOKENS_PER_CREDIT));
}

export class CreditLedger {
  readonly #store: LedgerStore;
  readonly #months = new Map<string, Month>();
  readonly #reservations = new Map<string, Reservation>();
  /** Credits of open reservations by period. */
  readonly #reserved = new Map<string, number>();
  readonly #advance: Advance;
  /** No open reservation has an earlier deadline. */
  #earliestDeadlineMs = Infinity;

  constructor(store: LedgerStore, months: Iterable<Month> = [], reservations: Iterable<Reservation> = []) {
    this.#store = store;
    this.#advance = new Advance(store);
    for (const month of months) this.#months.set(month.period, { ...month, calls: { ...month.calls } });
    for (const reservation of reservations) this.#track({ ...reservation });
  }

  /**
   * Reserves `credits` in the month of `nowMs` unless that would pass `limit`. `nonce` makes the id unique; the id itself
   * carries month and deadline, so that a settlement can be placed even if the ledger lost its rows.
   */
  reserve(nowMs: number, limit: number, credits: number, holdMs: number, nonce: string): ReserveResult {
    requireCount(credits, "credits");
    this.expire(nowMs);
    const period = periodOf(nowMs);
    const committed = this.#committed(period);
    if (committed + credits > limit) return { ok: false, committed };
    const deadlineMs = nowMs + holdMs;
    const id = `${period}.${deadlineMs}.${nonce}`;
    const reservation: Reservation = { id, period, credits, deadlineMs, state: "open", charged: 0 };
    this.#track(reservation);
    const left = limit - committed - credits;
    this.#advance.fit(period, left);
    const covered = this.#advance.draw(reservation);
    if (!covered) {
      this.#store.saveReservation(reservation);
      this.#advance.renew(reservation, left);
    }
    return { ok: true, reservation, covered };
  }

  /**
   * Reserves once more what `like`, an open reservation, holds, under another id; only if it needs no row of its own and
   * leaves the limit alone. Returns whether it did.
   */
  reserveCovered(like: Readonly<Reservation>, id: string, limit: number): boolean {
    const { period, credits } = like;
    const reservation: Reservation = { ...like, id };
    if (this.#committed(period) + credits > limit || !this.#advance.draw(reservation)) return false;
    this.#track(reservation);
    return true;
  }

  /** Gives back what a reservation holds that nothing was asked for; false when it is not open. */
  cancel(id: string): boolean {
    const reservation = this.#reservations.get(id);
    if (reservation?.state !== "open") return false;
    this.#release(reservation);
    this.#reservations.delete(id);
    this.#store.dropReservation(id);
    return true;
  }

  /**
   * Settles a reservation in the month it was made in. Returns the credits charged, the same for a repeated settlement.
   * An id that is not known (the ledger's rows were lost) is charged all the same, unless it is so old that it has been
   * settled and forgotten. Throws `RangeError` on an id of another form or tokens that are no count.
   */
  settle(id: string, settlement: Settlement, nowMs: number): number {
    const { period, deadlineMs } = parseReservationId(id);
    const charge = settlement.outcome === "charged" ? creditsOf(requireCount(settlement.tokens, "tokens")) : 0;
    this.expire(nowMs);
    let reservation = this.#reservations.get(id);
    if (reservation?.state === "settled") return reservation.charged;
    if (!reservation) {
      if (nowMs > deadlineMs + SETTLED_KEPT_MS) return charge;
      reservation = { id, period, credits: 0, deadlineMs, state: "expired", charged: 0 };
      this.#reservations.set(id, reservation);
    }
    if (reservation.state === "open") this.#release(reservation);
    reservation.state = "settled";
    reservation.charged = charge;
    this.#store.saveReservation(reservation);
    if (settlement.outcome === "charged") {
      this.#change(period, (month) => {
        month.credits += charge;
        month[settlement.kind === "embed" ? "embedTokens" : "rerankTokens"] += settlement.tokens;
        month.calls[settlement.kind]++;
      });
    }
    return charge;
  }

  /** To be called when the store has written all changes so far. */
  written(): void {
    this.#advance.written();
  }

  /** Adds a call (none where `kind` is null), and tokens of hosted indexing, to the month of `nowMs`. */
  count(nowMs: number, kind: CallKind | null, indexTokens: number): void {
    requireCount(indexTokens, "indexTokens");
    this.#change(periodOf(nowMs), (month) => {
      if (kind !== null) month.calls[kind]++;
      month.indexTokens += indexTokens;
    });
  }

  /** Gives back what reservations past their deadline hold. */
  expire(nowMs: number): void {
    if (nowMs < this.#earliestDeadlineMs) return;
    let earliest = Infinity;
    for (const reservation of this.#reservations.values()) {
      if (reservation.state !== "open") continue;
      if (reservation.deadlineMs > nowMs) {
        earliest = Math.min(earliest, reservation.deadlineMs);
        continue;
      }
      this.#release(reservation);
      reservation.state = "expired";
      this.#store.saveReservation(reservation);
    }
    this.#earliestDeadlineMs = earliest;
  }

  /** Forgets what nothing can ask for any more: old reservations, and flushed months before the one preceding `nowMs`. */
  prune(nowMs: number): void {
    this.#advance.expire(nowMs);
    for (const { id, state, deadlineMs } of this.#reservations.values()) {
      if (state === "open") continue;
      if (deadlineMs + KEPT_MS[state] >= nowMs) continue;
      this.#reservations.delete(id);
      this.#store.dropReservation(id);
    }
    const oldest = periodOf(Date.UTC(new Date(nowMs).getUTCFullYear(), new Date(nowMs).getUTCMonth() - 1, 1));
    for (const { period, version, flushedVersion } of this.#months.values()) {
      if (period >= oldest || version !== flushedVersion) continue;
      this.#months.delete(period);
      this.#store.dropMonth(period);
    }
  }

  /** When there is something to expire or prune next; undefined when there is nothing. */
  nextDueMs(): number | undefined {
    let due = this.#advance.deadlineMs ?? Infinity;
    for (const { state, deadlineMs } of this.#reservations.values()) {
      due = Math.min(due, state === "open" ? deadlineMs : deadlineMs + KEPT_MS[state] + 1);
    }
    return due === Infinity ? undefined : due;
  }

  /** Figures of a month; zeros when nothing happened in it. */
  figures(period: string): Readonly<MonthFigures> {
    return this.#months.get(period) ?? noFigures();
  }

  /** Credits that open reservations of a month hold. */
  reserved(period: string): number {
    return this.#reserved.get(period) ?? 0;
  }

  /** Months that the database does not have in their newest version, as they are now: later changes do not show. */
  unflushed(): Month[] {
    return structuredClone([...this.#months.values()].filter((month) => month.version !== month.flushedVersion));
  }

  /** Notes that the database has a month in this version or a later one. */
  flushed(period: string, version: number): void {
    const month = this.#months.get(period);
    if (!month || month.flushedVersion >= version) return;
    month.flushedVersion = version;
    this.#store.saveMonth(month);
  }

  /**
   * Takes over the database's figures of a month (undefined: it has none). Figures counted before they were known are
   * added to them; where the database is ahead of a ledger that had them (its rows were lost in part), the larger figure
   * counts. Figures never go down.
   */
  adopt(period: string, mirrored: MirroredMonth | undefined): void {
    const month = this.#months.get(period);
    if (month?.seeded && (!mirrored || mirrored.flushSeq <= month.version)) return;
    const base = mirrored ?? { ...noFigures(), flushSeq: 0 };
    const merge = month?.seeded ? Math.max : (a: number, b: number) => a + b;
    const own = month ?? { ...noFigures(), version: 0 };
    const merged: Month = {
      period,
      credits: merge(own.credits, base.credits),
      embedTokens: merge(own.embedTokens, base.embedTokens),
      rerankTokens: merge(own.rerankTokens, base.rerankTokens),
      indexTokens: merge(own.indexTokens, base.indexTokens),
      calls: callsFrom((kind) => merge(own.calls[kind], base.calls[kind])),
      version: month?.seeded ? base.flushSeq + 1 : base.flushSeq + own.version,
      flushedVersion: base.flushSeq,
      seeded: true,
    };
    this.#months.set(period, merged);
    this.#store.saveMonth(merged);
  }

  /** What is charged in a month plus what is reserved in it. */
  #committed(period: string): number {
    return (this.#months.get(period)?.credits ?? 0) + this.reserved(period);
  }

  #change(period: string, apply: (month: Month) => void): void {
    let month = this.#months.get(period);
    if (!month) {
      month = { period, ...noFigures(), version: 0, flushedVersion: 0, seeded: false };
      this.#months.set(period, month);
    }
    apply(month);
    month.version++;
    this.#store.saveMonth(month);
  }

  #track(reservation: Reservation): void {
    this.#reservations.set(reservation.id, reservation);
    if (reservation.state !== "open") return;
    this.#reserved.set(reservation.period, (this.#reserved.get(reservation.period) ?? 0) + reservation.credits);
    this.#earliestDeadlineMs = Math.min(this.#earliestDeadlineMs, reservation.deadlineMs);
  }

  #release(reservation: Reservation): void {
    const { period, credits } = reservation;
    this.#advance.release(reservation);
    const left = (this.#reserved.get(period) ?? 0) - credits;
    if (left === 0) this.#reserved.delete(period);
    else this.#reserved.set(period, left);
  }
}

/** Calls by kind, each from a function. */
export function callsFrom(value: (kind: CallKind) => number): Record<CallKind, number> {
  return {
    embed: value("embed"),
    rerank: value("rerank"),
    index: value("index"),
    snapshot: value("snapshot"),
    search: value("search"),
  };
}

function noFigures(): MonthFigures {
  return { credits: 0, embedTokens: 0, rerankTokens: 0, indexTokens: 0, calls: callsFrom(() => 0) };
}

function parseReservationId(id: string): { period: string; deadlineMs: number } {
  const match = /^(\d{4}-\d{2})\.(\d{1,16})\./.exec(id);
  if (!match?.[1] || !match[2]) throw new RangeError("not a reservation id");
  return { period: match[1], deadlineMs: Number(match[2]) };
}

/** The value, if it is a whole number of at least 0; throws `RangeError` that names it otherwise. */
export function requireCount(value: number, name: string): number {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${name} has to be a whole number of at least 0`);
  return value;
}
