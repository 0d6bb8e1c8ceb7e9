/**
 * Credits reserved ahead, so that most reservations need no row of their own before the upstream is asked: pure arithmetic.
 *
 * A reservation has to outlive a crash of its object only so that the object made anew does not give its credits away while
 * the request is still under way. One row does that for many: it says how much may be out at once and until when. While
 * the object lives its ledger knows every reservation and the row counts for nothing; after a crash the row stands for
 * those that were lost, until its deadline. It is never more than a small share of what is left, and none is kept
 * where little is left, so that a crash holds back next to nothing and the last credits are exact at once.
 */
import type { Reservation } from "./credits.ts";

/** Most credits that one row covers. */
const MAX_CREDITS = 1_024;
/** A row smaller than this is not worth its own write. */
const MIN_CREDITS = 16;
/** What is left divided by this is the size of a new row; at half of that divisor the row has become too large and is given up. */
const NEW_SHARE = 128;
const MAX_SHARE = NEW_SHARE / 2;
/** How much longer than the reservations drawn from it a row lasts: how often it is renewed. */
const LIFE_MS = 60_000;

/** Rows of reservations; see `LedgerStore`. */
interface Rows {
  saveReservation(reservation: Readonly<Reservation>): void;
  dropReservation(id: string): void;
}

export class Advance {
  readonly #rows: Rows;
  #row: Reservation | undefined;
  #written = false;
  #drawn = 0;
  /** Open reservations that have no row of their own. */
  readonly #covered = new Map<string, Reservation>();

  constructor(rows: Rows) {
    this.#rows = rows;
  }

  /** Whether the row covers one more reservation. Until a row is written it covers nothing. */
  draw(reservation: Reservation): boolean {
    const row = this.#row;
    if (!row || !this.#written || row.period !== reservation.period) return false;
    if (row.deadlineMs < reservation.deadlineMs || this.#drawn + reservation.credits > row.credits) return false;
    this.#covered.set(reservation.id, reservation);
    this.#drawn += reservation.credits;
    return true;
  }

  /** To be called when a reservation is no longer open. */
  release(reservation: Reservation): void {
    if (this.#covered.delete(reservation.id)) this.#drawn -= reservation.credits;
  }

  /** Begins or renews the row for reservations like this one, which it did not cover. `left` is neither charged nor reserved. */
  renew(like: Reservation, left: number): void {
    const credits = Math.min(MAX_CREDITS, Math.floor(left / NEW_SHARE));
    const row = this.#row;
    // It is only drawn out, or on its way to the disk.
    if (row && row.period === like.period && row.deadlineMs >= like.deadlineMs) return;
    if (credits < MIN_CREDITS || (row && row.period !== like.period) || credits < this.#drawn) this.giveUp();
    if (credits < MIN_CREDITS) return;
    const deadlineMs = like.deadlineMs + LIFE_MS;
    const next: Reservation = { ...like, id: `${like.id}.advance`, credits, deadlineMs };
    if (this.#row) this.#rows.dropReservation(this.#row.id);
    this.#rows.saveReservation(next);
    this.#row = next;
    this.#written = false;
  }

  /** Gives the row up if it has become too large for what is left. */
  fit(period: string, left: number): void {
    if (this.#row?.period === period && left < this.#row.credits * MAX_SHARE) this.giveUp();
  }

  /** Gives the row up once nothing can be drawn from it any more. */
  expire(nowMs: number): void {
    if (this.#row && this.#row.deadlineMs <= nowMs) this.giveUp();
  }

  /** When the row is over; undefined when there is none. */
  get deadlineMs(): number | undefined {
    return this.#row?.deadlineMs;
  }

  /** To be called when all changes so far are written. */
  written(): void {
    this.#written = true;
  }

  /** Every reservation it covered gets a row of its own in its stead. */
  giveUp(): void {
    if (!this.#row) return;
    for (const reservation of this.#covered.values()) this.#rows.saveReservation(reservation);
    this.#rows.dropReservation(this.#row.id);
    this.#covered.clear();
    this.#drawn = 0;
    this.#row = undefined;
  }
}
