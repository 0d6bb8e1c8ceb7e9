import { expect, it } from "vitest";
import { TimeLimitError, withinTime } from "../../../src/cli/machine/time-limit.ts";
import { wasm } from "../../../src/engines/parsing/wasm.ts";

it("gives the result of the work, and its error", () => {
  expect(withinTime(1_000, () => [1])).toEqual([1]);
  const error = new RangeError("too far");
  expect(() =>
    withinTime(1_000, () => {
      throw error;
    }),
  ).toThrow(error);
});

it("ends a loop, a regular expression and a function of WebAssembly, and none of their handlers runs", () => {
  // (module (func (export "run") (loop (br 0))))
  const module = [
    0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 7, 7, 1, 3, 114, 117, 110, 0, 0, 10, 9, 1, 7, 0, 3, 64,
    12, 0, 11, 11,
  ];
  const { exports } = new wasm.Instance(new wasm.Module(new Uint8Array(module)), {});
  const hangs: (() => unknown)[] = [
    () => {
      for (;;);
    },
    () => /^(a+)+$/.test(`${"a".repeat(60)}b`),
    () => exports["run"]?.(),
  ];
  let handled = 0;
  for (const hang of hangs) {
    const work = (): unknown => {
      try {
        return hang();
      } catch {
        return handled++;
      } finally {
        handled++;
      }
    };
    expect(() => withinTime(50, work)).toThrow(TimeLimitError);
  }
  expect(handled).toBe(0);
  expect(withinTime(1_000, () => 2)).toBe(2);
});

it("tells work that used the processor from a thread that did not have it", async () => {
  const interrupted = (work: () => unknown): unknown => {
    try {
      return withinTime(200, work);
    } catch (error) {
      return error;
    }
  };
  const asleep = new Int32Array(new SharedArrayBuffer(4));
  expect(interrupted(() => Atomics.wait(asleep, 0, 0, 20_000))).toMatchObject({ wasPaused: true });
  const busy = (): void => {
    for (;;);
  };
  // Others may have the processor for a while.
  await expect.poll(() => interrupted(busy), { timeout: 20_000 }).toMatchObject({ wasPaused: false });
});
