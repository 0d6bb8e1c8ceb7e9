import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type SimulationOptions, simulate } from "../../../bench/scale/simulate.ts";
import { grantSlots, MAX_WORKING_RUNS } from "../../../src/service/runs/fair-share.ts";

describe("fair sharing of the queue", () => {
  it("grants free slots to the oldest waiting runs, and never more than there are", () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 20 }), fc.integer({ min: 1, max: 8 }), (granted, slots) => {
        const line = granted.map((granted, position) => ({ granted, position }));
        const next = grantSlots(line, slots);
        const working = granted.filter(Boolean).length;
        expect(next.length).toBe(Math.max(0, Math.min(slots - working, granted.length - working)));
        expect(next).toEqual(line.filter(({ granted }) => !granted).slice(0, next.length));
      }),
    );
  });

  it("ends every run, keeps tenants within their slots, and repeats itself", () => {
    const options = fc.record({
      seed: fc.integer(),
      tenants: fc.integer({ min: 2, max: 50 }),
      pushesPerSec: fc.integer({ min: 1, max: 20 }),
      seconds: fc.constant(20),
      workers: fc.integer({ min: 1, max: 30 }),
      runSec: fc.constant(0.5),
      burst: fc.integer({ min: 0, max: 100 }),
      slots: fc.constant(MAX_WORKING_RUNS),
    });
    fc.assert(
      fc.property(options, (options: SimulationOptions) => {
        const result = simulate(options);
        expect(result.runs).toBeGreaterThanOrEqual(options.burst);
        expect(result.maxGranted).toBeLessThanOrEqual(MAX_WORKING_RUNS);
        expect(simulate(options)).toEqual(result);
      }),
      { numRuns: 30 },
    );
  });

  it("keeps a burst of one tenant from delaying the others", () => {
    const options = { seed: 7, tenants: 200, pushesPerSec: 10, seconds: 120, workers: 20, runSec: 1, burst: 1_000 };
    const fair = simulate({ ...options, slots: MAX_WORKING_RUNS });
    const unfair = simulate({ ...options, slots: Infinity });
    expect(fair.runs).toBe(unfair.runs);
    expect(fair.waitP99).toBeLessThan(unfair.waitP99 / 5);
  });
});
