import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { pessimisticTokens, splitIntoSpans } from "../../../src/engines/embedding/batching.ts";
import { runBounded } from "../../../src/engines/embedding/call.ts";

describe("splitIntoSpans", () => {
  const texts = fc.array(fc.string({ minLength: 1, maxLength: 40 }), { maxLength: 60 });
  const limits = fc.record({ maxItems: fc.integer({ min: 1, max: 10 }), maxTokens: fc.integer({ min: 1, max: 60 }) });

  it("covers every text once, in order, within the limits", () => {
    fc.assert(
      fc.property(texts, limits, fc.integer({ min: 0, max: 10 }), (inputs, limit, perItem) => {
        const spans = splitIntoSpans(inputs, limit, perItem);
        expect(spans.flatMap(({ start, end }) => inputs.slice(start, end))).toEqual(inputs);
        for (const { start, end } of spans) {
          const tokens = inputs.slice(start, end).reduce((sum, text) => sum + pessimisticTokens(text) + perItem, 0);
          expect(end - start).toBeGreaterThan(0);
          expect(end - start).toBeLessThanOrEqual(limit.maxItems);
          // Only a text that is too large by itself may pass the limit, and then it is alone.
          if (end - start > 1) expect(tokens).toBeLessThanOrEqual(limit.maxTokens);
        }
      }),
    );
  });

  it("makes no span that could have held the next text too", () => {
    fc.assert(
      fc.property(texts, limits, (inputs, limit) => {
        const spans = splitIntoSpans(inputs, limit);
        for (const { start, end } of spans.slice(0, -1)) {
          const withNext = inputs.slice(start, end + 1).reduce((sum, text) => sum + pessimisticTokens(text), 0);
          expect(end - start === limit.maxItems || withNext > limit.maxTokens).toBe(true);
        }
      }),
    );
  });
});

describe("runBounded", () => {
  it("keeps order and bound whatever finishes first", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat({ max: 5 }), { maxLength: 20 }),
        fc.integer({ min: 1, max: 5 }),
        async (turns, bound) => {
          let running = 0;
          let most = 0;
          const tasks = turns.map((turnCount, position) => async () => {
            most = Math.max(most, ++running);
            for (let turn = 0; turn < turnCount; turn++) await Promise.resolve();
            running--;
            return position;
          });
          expect(await runBounded(tasks, bound)).toEqual(turns.map((_, position) => position));
          expect(most).toBeLessThanOrEqual(bound);
        },
      ),
    );
  });

  it("starts nothing more after a failure", async () => {
    const started: number[] = [];
    const tasks = [0, 1, 2, 3].map((position) => async () => {
      started.push(position);
      if (position === 1) throw new Error("boom");
    });
    await expect(runBounded(tasks, 1)).rejects.toThrow("boom");
    expect(started).toEqual([0, 1]);
  });
});
