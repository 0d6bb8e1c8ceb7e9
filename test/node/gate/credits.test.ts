import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  callsFrom,
  CreditLedger,
  creditsOf,
  EXPIRED_KEPT_MS,
  type LedgerStore,
  type MirroredMonth,
  type Month,
  type Reservation,
  SETTLED_KEPT_MS,
} from "../../../src/gate/credits.ts";
import { periodEndMs, periodOf } from "../../../src/gate/period.ts";

const HOLD_MS = 90_000;
const NOON = Date.UTC(2026, 10, 20, 12);

/** Rows as a disk keeps them: what a ledger is made from again after a crash. */
class Rows implements LedgerStore {
  readonly months = new Map<string, Month>();
  readonly reservations = new Map<string, Reservation>();
  saveMonth(month: Readonly<Month>): void {
    this.months.set(month.period, structuredClone(month));
  }
  saveReservation(reservation: Readonly<Reservation>): void {
    this.reservations.set(reservation.id, { ...reservation });
  }
  dropReservation(id: string): void {
    this.reservations.delete(id);
  }
  dropMonth(period: string): void {
    this.months.delete(period);
  }
  ledger(): CreditLedger {
    return new CreditLedger(this, this.months.values(), this.reservations.values());
  }
}

/** The database's side of a flush: `insert … on conflict … where flush_seq < excluded.flush_seq`. */
class Mirror {
  readonly rows = new Map<string, MirroredMonth>();
  write(month: Readonly<Month>): void {
    const { version: flushSeq, credits, embedTokens, rerankTokens, indexTokens, calls } = structuredClone(month);
    const row = this.rows.get(month.period);
    if (row && row.flushSeq >= flushSeq) return;
    this.rows.set(month.period, { flushSeq, credits, embedTokens, rerankTokens, indexTokens, calls });
  }
}

function reserve(ledger: CreditLedger, nowMs: number, limit: number, credits: number, nonce = "n"): string {
  const result = ledger.reserve(nowMs, limit, credits, HOLD_MS, nonce);
  if (!result.ok) throw new Error("no room");
  return result.reservation.id;
}

type Op =
  | { op: "reserve"; credits: number; hold: number }
  | { op: "settle"; pick: number; tokens: number | null; kind: "embed" | "rerank" }
  | { op: "wait"; ms: number }
  | { op: "limit"; limit: number }
  | { op: "count"; tokens: number }
  | { op: "flush"; fate: "done" | "lost" | "unacknowledged" | "late" }
  | { op: "crash" | "expire" | "prune" | "adopt" };

const op: fc.Arbitrary<Op> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      op: fc.constant("reserve"),
      credits: fc.nat(8),
      hold: fc.integer({ min: 1, max: 100_000 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      op: fc.constant("settle"),
      pick: fc.nat(),
      tokens: fc.option(fc.nat(6_000)),
      kind: fc.constantFrom("embed", "rerank"),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      op: fc.constant("wait"),
      ms: fc.oneof(
        fc.nat(60_000),
        fc.nat(200_000),
        fc.constant(EXPIRED_KEPT_MS + 1),
        fc.constant(11 * EXPIRED_KEPT_MS),
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("limit"), limit: fc.nat(30) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("count"), tokens: fc.nat(1_000) }) },
  {
    weight: 3,
    arbitrary: fc.record({ op: fc.constant("flush"), fate: fc.constantFrom("done", "lost", "unacknowledged", "late") }),
  },
  { weight: 3, arbitrary: fc.record({ op: fc.constantFrom("crash", "expire", "prune", "adopt") }) },
) as fc.Arbitrary<Op>;

describe("credit ledger", () => {
  it("loses nothing, counts nothing twice and never admits past the limit, whatever the interleaving", () => {
    fc.assert(
      fc.property(fc.array(op, { maxLength: 120 }), (ops) => {
        const rows = new Rows();
        const mirror = new Mirror();
        let ledger = rows.ledger();
        let nowMs = NOON;
        let limit = 20;
        const reservations: { id: string; period: string; credits: number; deadlineMs: number; settled?: number }[] =
          [];
        const charged = new Map<string, number>();
        const indexed = new Map<string, number>();
        const late: Month[] = [];
        const chargedIn = (period: string) => charged.get(period) ?? 0;
        const heldIn = (period: string) =>
          reservations
            .filter((r) => r.period === period && r.settled === undefined && r.deadlineMs > nowMs)
            .reduce((sum, r) => sum + r.credits, 0);

        for (const [step, action] of ops.entries()) {
          const period = periodOf(nowMs);
          switch (action.op) {
            case "reserve": {
              const committed = chargedIn(period) + heldIn(period);
              const result = ledger.reserve(nowMs, limit, action.credits, action.hold, String(step));
              expect(result.ok).toBe(committed + action.credits <= limit);
              if (result.ok) reservations.push({ ...result.reservation });
              else expect(result.committed).toBe(committed);
              break;
            }
            case "settle": {
              const reservation = reservations[action.pick % Math.max(1, reservations.length)];
              if (!reservation) break;
              const charge = action.tokens === null ? 0 : creditsOf(action.tokens);
              // Much later nothing of a reservation is left to be settled: the service gives up on a request before that.
              const forgotten = nowMs > reservation.deadlineMs + SETTLED_KEPT_MS;
              if (forgotten) break;
              const settlement =
                action.tokens === null
                  ? ({ outcome: "failed" } as const)
                  : ({ outcome: "charged", kind: action.kind, tokens: action.tokens } as const);
              expect(ledger.settle(reservation.id, settlement, nowMs)).toBe(reservation.settled ?? charge);
              if (reservation.settled !== undefined) break;
              reservation.settled = charge;
              charged.set(reservation.period, chargedIn(reservation.period) + charge);
              break;
            }
            case "wait":
              nowMs += action.ms;
              break;
            case "limit":
              limit = action.limit;
              break;
            case "count":
              ledger.count(nowMs, "index", action.tokens);
              indexed.set(period, (indexed.get(period) ?? 0) + action.tokens);
              break;
            case "flush":
              for (const month of ledger.unflushed()) {
                if (!month.seeded) ledger.adopt(month.period, mirror.rows.get(month.period));
              }
              for (const month of ledger.unflushed()) {
                if (action.fate === "late") late.push(month);
                if (action.fate === "done" || action.fate === "unacknowledged") mirror.write(month);
                if (action.fate === "done") ledger.flushed(month.period, month.version);
              }
              if (action.fate === "done") for (const month of late.splice(0)) mirror.write(month);
              break;
            case "crash":
              ledger = rows.ledger();
              break;
            case "expire":
              ledger.expire(nowMs);
              break;
            case "prune":
              ledger.prune(nowMs);
              break;
            case "adopt":
              ledger.adopt(period, mirror.rows.get(period));
              break;
          }
          const current = periodOf(nowMs);
          ledger.expire(nowMs);
          expect(ledger.figures(current).credits).toBe(chargedIn(current));
          expect(ledger.figures(current).indexTokens).toBe(indexed.get(current) ?? 0);
          expect(ledger.reserved(current)).toBe(heldIn(current));
          for (const [month, row] of mirror.rows) expect(row.credits).toBeLessThanOrEqual(chargedIn(month));
        }

        for (const month of ledger.unflushed())
          if (!month.seeded) ledger.adopt(month.period, mirror.rows.get(month.period));
        for (const month of ledger.unflushed()) mirror.write(month);
        for (const month of late) mirror.write(month);
        for (const [period, credits] of charged) expect(mirror.rows.get(period)?.credits ?? 0).toBe(credits);
      }),
      { numRuns: 300 },
    );
  });

  it("takes up the database's figures when its own rows were lost, and never goes below them", () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(9_000), { minLength: 1, maxLength: 10 }),
        fc.array(fc.nat(9_000)),
        fc.nat(10),
        (before, after, flushAt) => {
          const mirror = new Mirror();
          const first = new Rows().ledger();
          first.adopt(periodOf(NOON), undefined);
          before.forEach((tokens, i) => {
            first.settle(
              reserve(first, NOON, Infinity, 1, `a${i}`),
              { outcome: "charged", kind: "embed", tokens },
              NOON,
            );
            if (i === flushAt) for (const month of first.unflushed()) mirror.write(month);
          });
          const saved = mirror.rows.get(periodOf(NOON))?.credits ?? 0;

          const second = new Rows().ledger();
          // Answers may come in before the database has been asked.
          const early = after.slice(0, 3);
          const late = after.slice(3);
          const charge = (tokens: number, nonce: string) =>
            second.settle(
              reserve(second, NOON, Infinity, 1, nonce),
              { outcome: "charged", kind: "embed", tokens },
              NOON,
            );
          early.forEach((tokens, i) => charge(tokens, `b${i}`));
          second.adopt(periodOf(NOON), mirror.rows.get(periodOf(NOON)));
          late.forEach((tokens, i) => charge(tokens, `c${i}`));
          const total = saved + after.reduce((sum, tokens) => sum + creditsOf(tokens), 0);
          expect(second.figures(periodOf(NOON)).credits).toBe(total);
          for (const month of second.unflushed()) mirror.write(month);
          expect(mirror.rows.get(periodOf(NOON))?.credits ?? 0).toBe(total);
        },
      ),
    );
  });

  it("never goes below a database that is ahead of rows that were lost in part", () => {
    const ledger = new Rows().ledger();
    ledger.adopt("2026-11", undefined);
    ledger.settle(reserve(ledger, NOON, 10, 1), { outcome: "charged", kind: "embed", tokens: 1 }, NOON);
    const ahead = {
      flushSeq: 40,
      credits: 30,
      embedTokens: 0,
      rerankTokens: 7,
      indexTokens: 0,
      calls: callsFrom(() => 3),
    };
    ledger.adopt("2026-11", ahead);
    expect(ledger.figures("2026-11")).toMatchObject({ credits: 30, embedTokens: 1, rerankTokens: 7, version: 41 });
    expect(ledger.unflushed()).toHaveLength(1);
  });

  it("charges one credit for each started thousand tokens, at least one", () => {
    expect([0, 1, 1_000, 1_001, 2_000, 120_001].map(creditsOf)).toEqual([1, 1, 1, 2, 2, 121]);
  });

  it("counts a reservation that crosses midnight in the month it was made in", () => {
    const ledger = new Rows().ledger();
    const lastSecond = periodEndMs("2026-11") - 1_000;
    const id = reserve(ledger, lastSecond, 10, 4);
    expect(ledger.reserve(lastSecond + 2_000, 10, 10, HOLD_MS, "next").ok).toBe(true);
    ledger.settle(id, { outcome: "charged", kind: "rerank", tokens: 3_500 }, lastSecond + 2_000);
    expect(ledger.figures("2026-11")).toMatchObject({ credits: 4, rerankTokens: 3_500 });
    expect(ledger.figures("2026-12").credits).toBe(0);
    expect(ledger.reserved("2026-12")).toBe(10);
  });

  it("releases what a dead request held at its deadline, not before", () => {
    const ledger = new Rows().ledger();
    reserve(ledger, NOON, 10, 10);
    expect(ledger.reserve(NOON + HOLD_MS - 1, 10, 1, HOLD_MS, "a")).toEqual({ ok: false, committed: 10 });
    expect(ledger.reserve(NOON + HOLD_MS, 10, 1, HOLD_MS, "b").ok).toBe(true);
  });

  it("counts what was answered even when the reservation had expired or its rows are lost", () => {
    const ledger = new Rows().ledger();
    const id = reserve(ledger, NOON, 10, 2);
    ledger.expire(NOON + HOLD_MS);
    expect(ledger.settle(id, { outcome: "charged", kind: "embed", tokens: 1_500 }, NOON + HOLD_MS + 5)).toBe(2);
    expect(ledger.settle(id, { outcome: "charged", kind: "embed", tokens: 1_500 }, NOON + HOLD_MS + 6)).toBe(2);
    expect(ledger.figures("2026-11").credits).toBe(2);

    const fresh = new Rows().ledger();
    expect(fresh.settle(id, { outcome: "charged", kind: "embed", tokens: 1_500 }, NOON + 5)).toBe(2);
    expect(fresh.settle(id, { outcome: "charged", kind: "embed", tokens: 1_500 }, NOON + 6)).toBe(2);
    expect(fresh.figures("2026-11").credits).toBe(2);
  });

  it("forgets settled reservations and flushed months, and nothing that is still owed", () => {
    const rows = new Rows();
    const ledger = rows.ledger();
    const id = reserve(ledger, NOON, 10, 1);
    ledger.settle(id, { outcome: "charged", kind: "embed", tokens: 1 }, NOON);
    expect(ledger.nextDueMs()).toBeGreaterThan(NOON + HOLD_MS);
    ledger.prune(NOON + HOLD_MS + SETTLED_KEPT_MS + 1);
    expect(rows.reservations.size).toBe(0);
    const springMs = Date.UTC(2027, 3, 1);
    ledger.prune(springMs);
    expect(rows.months.size).toBe(1);
    ledger.flushed("2026-11", 1);
    ledger.prune(springMs);
    expect(rows.months.size).toBe(0);
  });

  it("rejects figures that are no counts", () => {
    const ledger = new Rows().ledger();
    expect(() => ledger.reserve(NOON, 10, -1, HOLD_MS, "n")).toThrow(RangeError);
    expect(() => ledger.reserve(NOON, 10, Number.NaN, HOLD_MS, "n")).toThrow(/credits/);
    const id = reserve(ledger, NOON, 10, 1);
    expect(() => ledger.settle(id, { outcome: "charged", kind: "embed", tokens: -5 }, NOON)).toThrow(/tokens/);
    expect(() => ledger.settle("nonsense", { outcome: "failed" }, NOON)).toThrow(/reservation id/);
  });
});
