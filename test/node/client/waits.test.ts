import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  MAX_BACKOFF_MS,
  nextWait,
  Pacer,
  readRateWindow,
  readRetryAfterMs,
} from "../../../src/interface/client/waits.ts";

const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe("nextWait", () => {
  it("waits at least Retry-After and at most 25 % more, once Retry-After is the longer of the two", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 86_400_000 }), random, (retryAfterMs, chance) => {
        const { waitMs } = nextWait(0, retryAfterMs, chance);
        expect(waitMs).toBeGreaterThanOrEqual(retryAfterMs);
        expect(waitMs).toBeLessThanOrEqual(Math.ceil(Math.max(retryAfterMs, 1_000) * 1.25));
      }),
    );
  });

  it("doubles each time, never beyond five minutes unless the service asks for more", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.option(fc.integer({ min: 0, max: 600_000 })), random), { minLength: 2, maxLength: 20 }),
        (refusals) => {
          let previousMs = 0;
          for (const [retryAfterMs, chance] of refusals) {
            const { baseMs, waitMs } = nextWait(previousMs, retryAfterMs ?? undefined, chance);
            expect(waitMs).toBeGreaterThan(0);
            expect(waitMs).toBeGreaterThanOrEqual(Math.min(previousMs * 2, MAX_BACKOFF_MS));
            expect(waitMs).toBeGreaterThanOrEqual(retryAfterMs ?? 0);
            if ((retryAfterMs ?? 0) * 1.25 <= MAX_BACKOFF_MS) expect(waitMs).toBeLessThanOrEqual(MAX_BACKOFF_MS);
            previousMs = baseMs;
          }
        },
      ),
    );
  });
});

describe("Pacer", () => {
  it("lets requests through while more than 10 % of the budget is left", () => {
    const pacer = new Pacer();
    expect(pacer.reserve(0)).toBe(0);
    pacer.observe({ limit: 100, remaining: 11, resetsAtMs: 60_000 });
    expect(pacer.reserve(0)).toBe(0);
  });

  it("spreads the rest of the window over the requests left, and stays within both", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 100, max: 60_000 }), (remaining, leftMs) => {
        const pacer = new Pacer();
        const nowMs = 1_000_000;
        pacer.observe({ limit: 600, remaining, resetsAtMs: nowMs + leftMs });
        const waits = Array.from({ length: remaining + 3 }, () => pacer.reserve(nowMs));
        expect(waits[0]).toBeGreaterThan(0);
        for (const [position, wait] of waits.entries()) {
          if (position > 0) expect(wait).toBeGreaterThanOrEqual(waits[position - 1]!);
          expect(wait).toBeLessThanOrEqual(Math.ceil(leftMs));
        }
        // At any moment no more have left than the spread allows.
        expect(waits.filter((wait) => wait < leftMs / 2).length).toBeLessThanOrEqual(Math.ceil(remaining / 2));
      }),
    );
  });

  it("waits for the next window when nothing is left, and no longer", () => {
    const pacer = new Pacer();
    pacer.observe({ limit: 10, remaining: 0, resetsAtMs: 5_000 });
    expect(pacer.reserve(2_000)).toBe(3_000);
    expect(pacer.reserve(5_000)).toBe(0);
  });

  it("takes the lowest figure of a window when answers overtake each other", () => {
    const pacer = new Pacer();
    pacer.observe({ limit: 100, remaining: 5, resetsAtMs: 10_000 });
    pacer.observe({ limit: 100, remaining: 50, resetsAtMs: 10_000 });
    expect(pacer.reserve(0)).toBeGreaterThan(0);
    pacer.observe({ limit: 100, remaining: 99, resetsAtMs: 70_000 });
    expect(pacer.reserve(10_000)).toBe(0);
  });

  it("doubles once for requests that were refused together", () => {
    const pacer = new Pacer();
    expect(pacer.refused(0, 100, 2_000, 0)).toBe(2_000);
    expect(pacer.refused(50, 100, 2_000, 0)).toBe(2_000);
    expect(pacer.refused(2_200, 2_300, 2_000, 0)).toBe(4_000);
    pacer.succeeded();
    expect(pacer.refused(9_000, 9_000, 2_000, 0)).toBe(2_000);
  });
});

describe("headers", () => {
  it("takes the reset relative to the service's clock", () => {
    const headers = new Headers({
      "X-RateLimit-Limit": "600",
      "X-RateLimit-Remaining": "12",
      "X-RateLimit-Reset": String(Date.parse("2026-11-20T10:01:00Z") / 1_000),
      Date: "Fri, 20 Nov 2026 10:00:30 GMT",
    });
    expect(readRateWindow(headers, 5_000)).toEqual({ limit: 600, remaining: 12, resetsAtMs: 35_000 });
    headers.set("X-RateLimit-Remaining", "many");
    expect(readRateWindow(headers, 5_000)).toBeUndefined();
  });

  it("reads Retry-After as seconds or as a date", () => {
    expect(readRetryAfterMs(new Headers({ "Retry-After": "7" }), 0)).toBe(7_000);
    expect(readRetryAfterMs(new Headers({ "Retry-After": "Thu, 01 Jan 1970 00:00:09 GMT" }), 4_000)).toBe(5_000);
    expect(readRetryAfterMs(new Headers({ "Retry-After": "soon" }), 0)).toBeUndefined();
    expect(readRetryAfterMs(new Headers(), 0)).toBeUndefined();
  });
});
