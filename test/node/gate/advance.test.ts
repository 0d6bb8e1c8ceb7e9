import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CreditLedger, creditsOf, type LedgerStore, type Month, type Reservation } from "../../../src/gate/credits.ts";
import { periodOf } from "../../../src/gate/period.ts";

const HOLD_MS = 90_000;
const NOON = Date.UTC(2026, 10, 20, 12);

/** Rows that reach the disk with a commit; a crash loses what came after the last one. */
class Disk implements LedgerStore {
  #rows = new Map<string, Month | Reservation>();
  #changes: (() => void)[] = [];
  saveMonth(month: Readonly<Month>): void {
    this.#changes.push(() => this.#rows.set(`month ${month.period}`, structuredClone(month)));
  }
  saveReservation(reservation: Readonly<Reservation>): void {
    this.#changes.push(() => this.#rows.set(reservation.id, { ...reservation }));
  }
  dropReservation(id: string): void {
    this.#changes.push(() => this.#rows.delete(id));
  }
  dropMonth(period: string): void {
    this.#changes.push(() => this.#rows.delete(`month ${period}`));
  }
  commit(ledger: CreditLedger): void {
    for (const change of this.#changes.splice(0)) change();
    ledger.written();
  }
  get reservations(): Reservation[] {
    return [...this.#rows.values()].filter((row): row is Reservation => "id" in row);
  }
  ledger(): CreditLedger {
    this.#changes = [];
    const months = [...this.#rows.values()].filter((row): row is Month => !("id" in row));
    return new CreditLedger(this, months, this.reservations);
  }
}

const op = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ op: fc.constant("reserve" as const), credits: fc.integer({ min: 1, max: 60 }) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      op: fc.constant("settle" as const),
      pick: fc.nat(),
      failed: fc.boolean(),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constant("wait" as const), ms: fc.nat(100_000) }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant("commit" as const) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("crash" as const) }) },
);

describe("credits reserved ahead", () => {
  it("keep every answered credit and the limit, whatever a crash takes, and never hold back more than a small share", () => {
    let covered = 0;
    let lost = 0;
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 6_000 }), fc.array(op, { minLength: 20, maxLength: 200 }), (limit, ops) => {
        const disk = new Disk();
        let ledger = disk.ledger();
        let nowMs = NOON;
        let charged = 0;
        let open: (Reservation & { answered: boolean })[] = [];
        const period = periodOf(NOON);
        for (const [step, action] of ops.entries()) {
          switch (action.op) {
            case "reserve": {
              const held = open.reduce((sum, { credits, deadlineMs }) => sum + (deadlineMs > nowMs ? credits : 0), 0);
              const result = ledger.reserve(nowMs, limit, action.credits, HOLD_MS, String(step));
              // Whatever was forgotten in a crash is covered by what the disk still holds.
              if (result.ok) expect(charged + held + action.credits).toBeLessThanOrEqual(limit);
              else expect(charged + held + action.credits + limit / 16).toBeGreaterThan(limit);
              if (!result.ok) break;
              open.push({ ...result.reservation, answered: false });
              // The upstream is asked only once the reservation is written or covered.
              if (result.covered) covered++;
              else disk.commit(ledger);
              break;
            }
            case "settle": {
              const picked = open[action.pick % Math.max(1, open.length)];
              if (!picked || nowMs >= picked.deadlineMs) break;
              open = open.filter((other) => other !== picked);
              const tokens = Math.ceil(action.share * picked.credits * 1_000);
              const settlement = action.failed
                ? ({ outcome: "failed" } as const)
                : ({ outcome: "charged", kind: "embed", tokens } as const);
              ledger.settle(picked.id, settlement, nowMs);
              // The answer leaves only once it is counted on disk.
              disk.commit(ledger);
              if (!action.failed) charged += creditsOf(tokens);
              break;
            }
            case "wait":
              nowMs += action.ms;
              break;
            case "commit":
              disk.commit(ledger);
              break;
            case "crash": {
              ledger = disk.ledger();
              const known = new Set(disk.reservations.map(({ id }) => id));
              lost += open.filter(({ id }) => !known.has(id)).length;
              break;
            }
          }
          expect(ledger.figures(period).credits).toBe(charged);
        }
      }),
      { numRuns: 300 },
    );
    // The runs went where it matters.
    expect(covered).toBeGreaterThan(100);
    expect(lost).toBeGreaterThan(10);
  });

  it("are given up before the last credits, so that a crash leaves those exact", () => {
    const disk = new Disk();
    const ledger = disk.ledger();
    const limit = 10_000;
    for (let used = 0; used < limit - 20; used += 20) {
      const result = ledger.reserve(NOON, limit, 20, HOLD_MS, String(used));
      if (!result.ok) throw new Error("no room");
      disk.commit(ledger);
      ledger.settle(result.reservation.id, { outcome: "charged", kind: "embed", tokens: 20_000 }, NOON);
      disk.commit(ledger);
    }
    const after = disk.ledger();
    expect(after.reserved(periodOf(NOON))).toBe(0);
    expect(after.reserve(NOON, limit, 20, HOLD_MS, "last").ok).toBe(true);
  });
});
