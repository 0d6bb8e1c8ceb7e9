import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  callsFrom,
  CreditLedger,
  CREDITS_SCHEMA,
  creditsOf,
  type MirroredMonth,
  type Month,
} from "../../../src/service/gate/credits.ts";
import { periodEndMs, periodOf } from "../../../src/service/gate/period.ts";
import { openSql } from "../../support/sqlite.ts";

const HOLD_MS = 90_000;
const DAY_MS = 24 * 60 * 60_000;
const NOON = Date.UTC(2026, 10, 20, 12);
const KEY = "credential";

const newLedger = () => new CreditLedger(openSql(CREDITS_SCHEMA));

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

function reserve(ledger: CreditLedger, nowMs: number, limit: number, credits: number): string {
  const result = ledger.reserve(KEY, { credits, holdMs: HOLD_MS }, limit, nowMs);
  if (!("reservationId" in result)) throw new Error("no room");
  return result.reservationId;
}

type Op =
  | { op: "reserve"; credits: number; hold: number }
  | { op: "settle"; pick: number; tokens: number | null; kind: "embed" | "rerank" }
  | { op: "wait"; ms: number }
  | { op: "limit"; limit: number }
  | { op: "count"; tokens: number }
  | { op: "flush"; fate: "done" | "lost" | "unacknowledged" | "late" }
  | { op: "crash" | "prune" | "seed" };

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
      ms: fc.oneof(fc.nat(60_000), fc.nat(200_000), fc.constant(DAY_MS + 1), fc.constant(11 * DAY_MS)),
    }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("limit"), limit: fc.nat(30) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("count"), tokens: fc.nat(1_000) }) },
  {
    weight: 3,
    arbitrary: fc.record({ op: fc.constant("flush"), fate: fc.constantFrom("done", "lost", "unacknowledged", "late") }),
  },
  { weight: 3, arbitrary: fc.record({ op: fc.constantFrom("crash", "prune", "seed") }) },
) as fc.Arbitrary<Op>;

describe("credit ledger", () => {
  it("loses nothing, counts nothing twice and never admits past the limit, whatever the interleaving", () => {
    fc.assert(
      fc.property(fc.array(op, { maxLength: 120 }), (ops) => {
        const sql = openSql(CREDITS_SCHEMA);
        const mirror = new Mirror();
        let ledger = new CreditLedger(sql);
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

        for (const action of ops) {
          const period = periodOf(nowMs);
          switch (action.op) {
            case "reserve": {
              const committed = chargedIn(period) + heldIn(period);
              const { credits, hold: holdMs } = action;
              const result = ledger.reserve(KEY, { credits, holdMs }, limit, nowMs);
              expect("reservationId" in result).toBe(committed + credits <= limit);
              if ("reservationId" in result)
                reservations.push({ id: result.reservationId, period, credits, deadlineMs: nowMs + holdMs });
              else expect(result.committed).toBe(committed);
              break;
            }
            case "settle": {
              const reservation = reservations[action.pick % Math.max(1, reservations.length)];
              if (!reservation) break;
              const charge = action.tokens === null ? 0 : creditsOf(action.tokens);
              // Much later nothing of a reservation is left to be settled: the service gives up on a request before that.
              const forgotten = nowMs > reservation.deadlineMs + 60_000;
              if (forgotten) break;
              const settlement =
                action.tokens === null
                  ? ({ outcome: "failed" } as const)
                  : ({ outcome: "charged", kind: action.kind, tokens: action.tokens } as const);
              expect(ledger.settle(reservation.id, settlement)).toEqual({
                credits: reservation.settled ?? charge,
                credentialId: KEY,
                isFirst: reservation.settled === undefined,
              });
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
              expect(ledger.count(null, "index", action.tokens, nowMs)).toBe(true);
              indexed.set(period, (indexed.get(period) ?? 0) + action.tokens);
              break;
            case "flush":
              for (const month of ledger.unflushed()) {
                if (!month.seeded) ledger.seed(month.period, mirror.rows.get(month.period));
              }
              for (const month of ledger.unflushed()) {
                if (action.fate === "late") late.push(month);
                if (action.fate === "done" || action.fate === "unacknowledged") mirror.write(month);
                if (action.fate === "done") ledger.flushed(month.period, month.version);
              }
              if (action.fate === "done") for (const month of late.splice(0)) mirror.write(month);
              break;
            case "crash":
              ledger = new CreditLedger(sql);
              break;
            case "prune":
              ledger.prune(nowMs);
              break;
            case "seed":
              ledger.seed(period, mirror.rows.get(period));
              break;
          }
          const current = periodOf(nowMs);
          expect(ledger.figures(current).credits).toBe(chargedIn(current));
          expect(ledger.figures(current).indexTokens).toBe(indexed.get(current) ?? 0);
          // A reservation of everything tells what is held by being refused.
          expect(ledger.reserve(KEY, { credits: 1, holdMs: 1 }, 0, nowMs)).toEqual({
            committed: chargedIn(current) + heldIn(current),
            limit: 0,
          });
          for (const [month, row] of mirror.rows) expect(row.credits).toBeLessThanOrEqual(chargedIn(month));
        }

        for (const month of ledger.unflushed())
          if (!month.seeded) ledger.seed(month.period, mirror.rows.get(month.period));
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
          const first = newLedger();
          first.seed(periodOf(NOON), undefined);
          before.forEach((tokens, i) => {
            first.settle(reserve(first, NOON, Infinity, 1), { outcome: "charged", kind: "embed", tokens });
            if (i === flushAt) for (const month of first.unflushed()) mirror.write(month);
          });
          const saved = mirror.rows.get(periodOf(NOON))?.credits ?? 0;

          const second = newLedger();
          // Answers may come in before the database has been asked.
          const early = after.slice(0, 3);
          const late = after.slice(3);
          const charge = (tokens: number) =>
            second.settle(reserve(second, NOON, Infinity, 1), { outcome: "charged", kind: "embed", tokens });
          early.forEach(charge);
          second.seed(periodOf(NOON), mirror.rows.get(periodOf(NOON)));
          late.forEach(charge);
          const total = saved + after.reduce((sum, tokens) => sum + creditsOf(tokens), 0);
          expect(second.figures(periodOf(NOON)).credits).toBe(total);
          for (const month of second.unflushed()) mirror.write(month);
          expect(mirror.rows.get(periodOf(NOON))?.credits ?? 0).toBe(total);
        },
      ),
    );
  });

  it("never goes below a database that is ahead of rows that were lost in part", () => {
    const ledger = newLedger();
    ledger.seed("2026-11", undefined);
    ledger.settle(reserve(ledger, NOON, 10, 1), { outcome: "charged", kind: "embed", tokens: 1 });
    const ahead = {
      flushSeq: 40,
      credits: 30,
      embedTokens: 0,
      rerankTokens: 7,
      indexTokens: 0,
      calls: callsFrom(() => 3),
    };
    ledger.seed("2026-11", ahead);
    expect(ledger.figures("2026-11")).toMatchObject({ credits: 30, embedTokens: 1, rerankTokens: 7, version: 41 });
    expect(ledger.unflushed()).toHaveLength(1);
  });

  it("charges one credit for each started thousand tokens, at least one", () => {
    expect([0, 1, 1_000, 1_001, 2_000, 120_001].map(creditsOf)).toEqual([1, 1, 1, 2, 2, 121]);
  });

  it("counts a reservation that crosses midnight in the month it was made in", () => {
    const ledger = newLedger();
    const lastSecond = periodEndMs("2026-11") - 1_000;
    const id = reserve(ledger, lastSecond, 10, 4);
    reserve(ledger, lastSecond + 2_000, 10, 10);
    ledger.settle(id, { outcome: "charged", kind: "rerank", tokens: 3_500 });
    expect(ledger.figures("2026-11")).toMatchObject({ credits: 4, rerankTokens: 3_500 });
    expect(ledger.figures("2026-12").credits).toBe(0);
    const refused = ledger.reserve(KEY, { credits: 1, holdMs: 1 }, 10, lastSecond + 2_000);
    expect(refused).toEqual({ committed: 10, limit: 10 });
  });

  it("releases an unsettled reservation at its deadline, not before", () => {
    const ledger = newLedger();
    reserve(ledger, NOON, 10, 10);
    const one = { credits: 1, holdMs: HOLD_MS };
    expect(ledger.reserve(KEY, one, 10, NOON + HOLD_MS - 1)).toEqual({ committed: 10, limit: 10 });
    expect(ledger.reserve(KEY, one, 10, NOON + HOLD_MS)).toHaveProperty("reservationId");
  });

  it("counts what was answered even when the reservation had expired", () => {
    const ledger = newLedger();
    const id = reserve(ledger, NOON, 10, 2);
    ledger.prune(NOON + HOLD_MS + 60 * 60_000);
    expect(ledger.settle(id, { outcome: "charged", kind: "embed", tokens: 1_500 })).toMatchObject({ isFirst: true });
    expect(ledger.settle(id, { outcome: "charged", kind: "embed", tokens: 1_500 })).toMatchObject({ isFirst: false });
    expect(ledger.figures("2026-11").credits).toBe(2);
  });

  it("counts a call once per key, for two days", () => {
    const ledger = newLedger();
    expect([ledger.count("k", "index", 5, NOON), ledger.count("k", "index", 5, NOON)]).toEqual([true, false]);
    ledger.prune(NOON + 2 * DAY_MS - 1);
    expect(ledger.count("k", "index", 5, NOON)).toBe(false);
    expect(ledger.figures("2026-11")).toMatchObject({ indexTokens: 5, calls: { index: 1 } });
  });

  it("prunes settled reservations and flushed months, and nothing that is not flushed", () => {
    const sql = openSql(CREDITS_SCHEMA);
    const ledger = new CreditLedger(sql);
    const rowsOf = (table: string) => sql.exec(`select * from ${table}`).toArray();
    const id = reserve(ledger, NOON, 10, 1);
    ledger.settle(id, { outcome: "charged", kind: "embed", tokens: 1 });
    expect(ledger.nextDueMs()).toBeGreaterThan(NOON + HOLD_MS);
    ledger.prune(NOON + HOLD_MS + 60_001);
    expect(rowsOf("reservations")).toEqual([]);
    const springMs = Date.UTC(2027, 3, 1);
    ledger.prune(springMs);
    expect(rowsOf("months")).toHaveLength(1);
    ledger.flushed("2026-11", 1);
    ledger.prune(springMs);
    expect(rowsOf("months")).toEqual([]);
  });

  it("rejects figures that are no counts", () => {
    const ledger = newLedger();
    expect(() => reserve(ledger, NOON, 10, -1)).toThrow(RangeError);
    expect(() => reserve(ledger, NOON, 10, Number.NaN)).toThrow(/credits/);
    const id = reserve(ledger, NOON, 10, 1);
    expect(() => ledger.settle(id, { outcome: "charged", kind: "embed", tokens: -5 })).toThrow(/tokens/);
    expect(() => ledger.settle("nonsense", { outcome: "failed" })).toThrow(/no such reservation/);
  });
});
