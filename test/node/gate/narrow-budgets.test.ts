/** Budgets and rates of narrow credentials, in the tenant's ledger and windows. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Budget, CreditLedger, CREDITS_SCHEMA } from "../../../src/service/gate/credits.ts";
import { readBudgets } from "../../../src/service/gate/budgets.ts";
import { RateWindows, WINDOWS_SCHEMA } from "../../../src/service/gate/windows.ts";
import { openSql } from "../../support/sqlite.ts";

const NOON = Date.UTC(2026, 10, 20, 12);
const HOLD_MS = 90_000;
/** A key, a token made from it, and a token made from that one. */
const LINEAGE = ["key", "child", "grandchild"];
const budgetsOf = (limits: readonly number[], depth: number): Budget[] =>
  LINEAGE.slice(0, depth + 1).map((id, i) => ({ id, monthlyCredits: limits[i] ?? 0 }));

describe("budgets of narrow credentials", () => {
  it("are never exceeded by what they and their tokens reserve and use", () => {
    const step = fc.record({
      depth: fc.nat(2),
      credits: fc.integer({ min: 0, max: 9 }),
      outcome: fc.constantFrom("charged", "failed", "open" as const),
    });
    fc.assert(
      fc.property(fc.tuple(fc.nat(40), fc.nat(30), fc.nat(20)), fc.array(step, { maxLength: 40 }), (limits, steps) => {
        const ledger = new CreditLedger(openSql(CREDITS_SCHEMA));
        const used = [0, 0, 0];
        for (const { depth, credits, outcome } of steps) {
          const asked = { credits, holdMs: HOLD_MS };
          const result = ledger.reserve(LINEAGE[depth] ?? "", asked, 1_000, NOON, budgetsOf(limits, depth));
          const fits = limits.slice(0, depth + 1).every((limit, i) => (used[i] ?? 0) + credits <= limit);
          expect("reservationId" in result).toBe(fits);
          if (!("reservationId" in result)) continue;
          const tokens = Math.max(1, credits * 1_000);
          const settlement =
            outcome === "charged" ? { outcome, kind: "embed" as const, tokens } : ({ outcome: "failed" } as const);
          const charged = outcome === "open" ? credits : ledger.settle(result.reservationId, settlement).credits;
          for (let i = 0; i <= depth; i++) used[i] = (used[i] ?? 0) + charged;
        }
      }),
      { numRuns: 60 },
    );
  });

  it("say which limit is in the way, and begin anew with the month", () => {
    const ledger = new CreditLedger(openSql(CREDITS_SCHEMA));
    const one = { credits: 1, holdMs: HOLD_MS };
    const budgets = budgetsOf([5, 1], 1);
    const first = ledger.reserve("child", one, 10, NOON, budgets);
    if (!("reservationId" in first)) throw new Error("no room");
    ledger.settle(first.reservationId, { outcome: "charged", kind: "embed", tokens: 900 });
    expect(ledger.reserve("child", one, 10, NOON, budgets)).toEqual({ committed: 1, limit: 1 });
    expect(ledger.reserve("key", one, 10, NOON, budgetsOf([5], 0))).toHaveProperty("reservationId");
    expect(ledger.reserve("child", one, 10, Date.UTC(2026, 11, 1), budgets)).toHaveProperty("reservationId");
  });

  it("take over what an earlier gate has charged, once", () => {
    const ledger = new CreditLedger(openSql(CREDITS_SCHEMA));
    expect(ledger.hasBudget("key", "2026-11")).toBe(false);
    ledger.seedBudget("key", "2026-11", 4);
    ledger.seedBudget("key", "2026-11", 0);
    expect(ledger.hasBudget("key", "2026-11")).toBe(true);
    expect(ledger.reserve("key", { credits: 2, holdMs: 1 }, 10, NOON, budgetsOf([5], 0))).toEqual({
      committed: 4,
      limit: 5,
    });
  });
});

describe("rates of narrow credentials", () => {
  const newWindows = () => new RateWindows(openSql(WINDOWS_SCHEMA), readBudgets(""));

  it("count the requests of their tokens, and a rejected one counts nowhere", () => {
    const windows = newWindows();
    const rates = [
      { id: "child", ratePerMinute: 2 },
      { id: "key", ratePerMinute: 3 },
    ];
    const take = (depth: number) =>
      windows.takeAll("search", rates.slice(1 - depth), NOON, { tenantId: "t", actor: "a" });
    expect([take(1), take(1)].map(({ allowed }) => allowed)).toEqual([true, true]);
    expect(take(1)).toMatchObject({ allowed: false, rate: { limit: 2, remaining: 0 }, retryAfterSec: 60 });
    expect(take(0)).toMatchObject({ allowed: true, rate: { limit: 3, remaining: 0 } });
    expect(take(0).allowed).toBe(false);
    expect(windows.peek("search", NOON).remaining).toBe(600 - 3);
    expect(windows.unreported().map(({ surface, rejected }) => [surface, rejected])).toEqual([
      ["credential:child", 1],
      ["credential:key", 1],
    ]);
  });

  it("leave a full surface as it is", () => {
    const windows = new RateWindows(
      openSql(WINDOWS_SCHEMA),
      readBudgets(JSON.stringify({ search: { limit: 1, windowSec: 60 } })),
    );
    const rates = [{ id: "key", ratePerMinute: 5 }];
    expect(windows.takeAll("search", rates, NOON).allowed).toBe(true);
    expect(windows.takeAll("search", rates, NOON)).toMatchObject({ allowed: false, rate: { limit: 1 } });
    expect(windows.takeAll("index", rates, NOON)).toMatchObject({ allowed: true, rate: { remaining: 3 } });
  });
});
