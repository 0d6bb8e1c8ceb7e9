import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readBudgets } from "../../../src/gate/budgets.ts";
import type { SurfaceWindow } from "../../../src/gate/store.ts";
import { SurfaceWindows } from "../../../src/gate/surface-windows.ts";
import { currentWindow, type RateWindow, takeFrom } from "../../../src/gate/windows.ts";

const BASE_MS = Date.UTC(2026, 10, 20);

/** Windows on a disk that survives a crash. */
class Rows {
  readonly rows = new Map<string, SurfaceWindow>();
  saveWindow(row: Readonly<SurfaceWindow>): void {
    this.rows.set(`${row.surface} ${row.startMs}`, { ...row });
  }
  dropWindow({ surface, startMs }: Pick<SurfaceWindow, "surface" | "startMs">): void {
    this.rows.delete(`${surface} ${startMs}`);
  }
  windows(json?: string): SurfaceWindows {
    const sorted = [...this.rows.values()].sort((a, b) => a.startMs - b.startMs);
    return new SurfaceWindows(readBudgets(json), this, sorted);
  }
}

describe("fixed windows", () => {
  it("admit at most the limit in each window, and all of it, under any sequence of clock readings", () => {
    const budget = { limit: 5, windowSec: 60 };
    fc.assert(
      fc.property(fc.array(fc.nat(400_000), { maxLength: 200 }), (offsets) => {
        let window: RateWindow | undefined;
        const admitted = new Map<number, number>();
        const turnedAway = new Set<number>();
        for (const offset of offsets) {
          const nowMs = BASE_MS + offset;
          window = currentWindow(window, budget, nowMs);
          const { allowed, rate, retryAfterSec } = takeFrom(window, budget, nowMs);
          const seen = admitted.get(window.startMs) ?? 0;
          expect(allowed).toBe(seen < budget.limit);
          if (allowed) admitted.set(window.startMs, seen + 1);
          else turnedAway.add(window.startMs);
          expect(rate).toEqual({
            limit: 5,
            remaining: Math.max(0, 5 - (admitted.get(window.startMs) ?? 0)),
            resetSec: window.startMs / 1_000 + 60,
          });
          expect(window.startMs % 60_000).toBe(0);
          expect(retryAfterSec).toBeGreaterThanOrEqual(1);
          // After waiting as long as it says, the window is over.
          expect(nowMs + retryAfterSec * 1_000).toBeGreaterThanOrEqual(window.startMs + 60_000);
        }
        for (const count of admitted.values()) expect(count).toBeLessThanOrEqual(5);
        for (const start of turnedAway) expect(admitted.get(start)).toBe(5);
      }),
    );
  });

  it("stays in the last window when the clock goes back", () => {
    const budget = { limit: 2, windowSec: 60 };
    const window = currentWindow(undefined, budget, BASE_MS + 60_000);
    takeFrom(window, budget, BASE_MS + 60_000);
    expect(currentWindow(window, budget, BASE_MS + 59_000)).toBe(window);
    expect(currentWindow(window, budget, BASE_MS + 120_000)).not.toBe(window);
  });

  it("starts anew when the window's length was changed", () => {
    const window = currentWindow(undefined, { limit: 5, windowSec: 60 }, BASE_MS + 90_000);
    expect(currentWindow(window, { limit: 5, windowSec: 3_600 }, BASE_MS + 90_000)).toMatchObject({
      startMs: BASE_MS,
      used: 0,
    });
  });
});

describe("windows of a subject", () => {
  it("count on after a crash and report each rejected window once, with all its rejections", () => {
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
        const disk = new Rows();
        const json = '{"search":{"limit":7,"windowSec":60}}';
        let windows = disk.windows(json);
        let nowMs = BASE_MS;
        const admitted = new Map<number, number>();
        const rejected = new Map<number, number>();
        const audit = new Map<number, number>();
        const report = () => {
          for (const window of windows.unreported()) {
            audit.set(window.startMs, Math.max(audit.get(window.startMs) ?? 0, window.rejected));
            windows.reported(window);
          }
        };
        for (const event of sequence) {
          if (event === "take") {
            const start = nowMs - (nowMs % 60_000);
            const outcome = windows.take("search", "someone", nowMs).allowed ? admitted : rejected;
            outcome.set(start, (outcome.get(start) ?? 0) + 1);
            expect(admitted.get(start)).toBeLessThanOrEqual(7);
          } else if (event === "crash") windows = disk.windows(json);
          else if (event === "report") report();
          else if (event === "prune") windows.prune(nowMs);
          else nowMs += 60_000;
        }
        report();
        expect(audit).toEqual(rejected);
        windows.prune(nowMs + 10 * 60_000);
        expect(disk.rows.size).toBe(0);
        expect(windows.nextDueMs()).toBeUndefined();
      }),
    );
  });

  it("keep surfaces apart and name the first that was turned away", () => {
    const windows = new Rows().windows('{"index":{"limit":1}}');
    expect(windows.take("index", "first", BASE_MS).allowed).toBe(true);
    expect(windows.take("search", "first", BASE_MS).allowed).toBe(true);
    expect(windows.take("index", "second", BASE_MS)).toMatchObject({ allowed: false, retryAfterSec: 3_600 });
    expect(windows.take("index", "third", BASE_MS).allowed).toBe(false);
    expect(windows.unreported()).toMatchObject([{ surface: "index", actor: "second", rejected: 2, reported: 0 }]);
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
    ["[]", /RATE_LIMITS has to be a JSON object/],
    ['{"indx":{"limit":1}}', /RATE_LIMITS\.indx is not a known surface/],
    ['{"index":5}', /RATE_LIMITS\.index has to be a JSON object/],
    ['{"index":{"limit":0}}', /RATE_LIMITS\.index\.limit has to be a whole number/],
    ['{"index":{"limit":"9"}}', /RATE_LIMITS\.index\.limit/],
    ['{"index":{"per":1}}', /RATE_LIMITS\.index\.per is not a known field/],
    ['{"toString":{"limit":1}}', /RATE_LIMITS\.toString is not a known surface/],
  ])("rejects %s with the field's name", (json, message) => {
    expect(() => readBudgets(json)).toThrow(message);
  });
});
