import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readBudgets } from "../../../src/service/gate/budgets.ts";
import { RateWindows, WINDOWS_SCHEMA } from "../../../src/service/gate/windows.ts";
import { openSql } from "../../support/sqlite.ts";

const BASE_MS = Date.UTC(2026, 10, 20);
const AUDIT = { tenantId: "tenant", actor: "someone" };

function openWindows(json: string, sql = openSql(WINDOWS_SCHEMA)): RateWindows {
  return new RateWindows(sql, readBudgets(json));
}

describe("fixed windows", () => {
  it("admit at most the limit in each window, and all of it, under any sequence of clock readings", () => {
    const limit = 5;
    fc.assert(
      fc.property(fc.array(fc.nat(400_000), { maxLength: 200 }), (offsets) => {
        const windows = openWindows('{"search":{"limit":5}}');
        const admitted = new Map<number, number>();
        for (const offset of offsets) {
          const nowMs = BASE_MS + offset;
          const startMs = nowMs - (nowMs % 60_000);
          const { allowed, rate, retryAfterSec } = windows.take("search", nowMs);
          const seen = admitted.get(startMs) ?? 0;
          expect(allowed).toBe(seen < limit);
          if (allowed) admitted.set(startMs, seen + 1);
          const remaining = limit - (admitted.get(startMs) ?? 0);
          expect(rate).toEqual({ limit, remaining, resetSec: startMs / 1_000 + 60 });
          expect(retryAfterSec).toBeGreaterThanOrEqual(1);
          // After waiting as long as it says, the window is over.
          expect(nowMs + retryAfterSec * 1_000).toBeGreaterThanOrEqual(startMs + 60_000);
        }
      }),
    );
  });

  it("count on in their window when the clock steps back", () => {
    const windows = openWindows('{"search":{"limit":2}}');
    windows.take("search", BASE_MS + 59_000);
    windows.take("search", BASE_MS + 60_000);
    expect(windows.take("search", BASE_MS + 59_500)).toMatchObject({ allowed: true, rate: { remaining: 0 } });
    expect(windows.take("search", BASE_MS + 59_500).allowed).toBe(false);
  });

  it("survive a crash, and report each rejected window with all its rejections", () => {
    const events = fc.array(
      fc.oneof(
        { weight: 8, arbitrary: fc.constant("take" as const) },
        {
          weight: 1,
          arbitrary: fc.constantFrom("crash" as const, "report" as const, "prune" as const, "minute" as const),
        },
      ),
      { maxLength: 300 },
    );
    fc.assert(
      fc.property(events, (sequence) => {
        const sql = openSql(WINDOWS_SCHEMA);
        const json = '{"search":{"limit":7,"windowSec":60}}';
        let windows = openWindows(json, sql);
        let nowMs = BASE_MS;
        const admitted = new Map<number, number>();
        const rejected = new Map<number, number>();
        const audit = new Map<number, number>();
        const report = () => {
          const unreported = windows.unreported();
          for (const window of unreported) {
            expect(window.rejected).toBeGreaterThan(audit.get(window.startMs) ?? 0);
            audit.set(window.startMs, window.rejected);
          }
          windows.reported(unreported);
        };
        for (const event of sequence) {
          if (event === "take") {
            const start = nowMs - (nowMs % 60_000);
            const outcome = windows.take("search", nowMs, AUDIT).allowed ? admitted : rejected;
            outcome.set(start, (outcome.get(start) ?? 0) + 1);
            expect(admitted.get(start)).toBeLessThanOrEqual(7);
          } else if (event === "crash") windows = openWindows(json, sql);
          else if (event === "report") report();
          else if (event === "prune") windows.prune(nowMs);
          else nowMs += 60_000;
        }
        report();
        expect(audit).toEqual(rejected);
        windows.prune(nowMs + 10 * 60_000);
        expect(windows.nextDueMs()).toBeUndefined();
      }),
    );
  });

  it("keep surfaces apart, and name the first rejection and its time", () => {
    const windows = openWindows('{"index":{"limit":1}}');
    const take = (actor: string, nowMs: number) => windows.take("index", nowMs, { ...AUDIT, actor });
    expect(take("first", BASE_MS).allowed).toBe(true);
    expect(windows.take("search", BASE_MS, AUDIT).allowed).toBe(true);
    expect(take("second", BASE_MS + 5_000)).toMatchObject({ allowed: false, retryAfterSec: 3_595 });
    expect(take("third", BASE_MS + 6_000).allowed).toBe(false);
    expect(windows.unreported()).toMatchObject([
      { surface: "index", tenantId: "tenant", actor: "second", rejected: 2, firstMs: BASE_MS + 5_000 },
    ]);
  });

  it("of nobody's audit log are not reported, and pruned all the same", () => {
    const windows = openWindows('{"healthz":{"limit":1}}');
    windows.take("healthz", BASE_MS);
    expect(windows.take("healthz", BASE_MS).allowed).toBe(false);
    expect(windows.unreported()).toEqual([]);
    windows.prune(BASE_MS + 120_000);
    expect(windows.nextDueMs()).toBeUndefined();
  });
});

describe("RATE_LIMITS", () => {
  it("is the contract's table when empty, and changes only what it names", () => {
    expect(readBudgets("")).toEqual(readBudgets(undefined));
    expect(readBudgets("").index).toEqual({ limit: 30, windowSec: 3_600 });
    const budgets = readBudgets('{"index":{"limit":60},"search":{"limit":1,"windowSec":10}}');
    expect(budgets.index).toEqual({ limit: 60, windowSec: 3_600 });
    expect(budgets.search).toEqual({ limit: 1, windowSec: 10 });
    expect(budgets.metered).toEqual({ limit: 600, windowSec: 60 });
  });

  it.each([
    ["{", /RATE_LIMITS is not JSON/],
    ["[]", /RATE_LIMITS must be a JSON object/],
    ['{"indx":{"limit":1}}', /RATE_LIMITS\.indx is not a known surface/],
    ['{"index":5}', /RATE_LIMITS\.index must be a JSON object/],
    ['{"index":{"limit":0}}', /RATE_LIMITS\.index\.limit must be a whole number/],
    ['{"index":{"limit":"9"}}', /RATE_LIMITS\.index\.limit/],
    ['{"index":{"per":1}}', /RATE_LIMITS\.index\.per is not a known field/],
    ['{"toString":{"limit":1}}', /RATE_LIMITS\.toString is not a known surface/],
  ])("rejects %s with the field's name", (json, message) => {
    expect(() => readBudgets(json)).toThrow(message);
  });
});
