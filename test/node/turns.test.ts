import * as fc from "fast-check";
import { expect, it, vi } from "vitest";
import { pause } from "../../src/lib/pause.ts";
import { RefusalDelay } from "../../src/lib/refusal-delay.ts";
import { TooManyWaitingError, Turns } from "../../src/lib/turns.ts";

it("runs works in the order they came, as many at once as there is room for", async () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 150 }), { minLength: 1, maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(sizes, async (all) => {
      const turns = new Turns({ room: 100, maxWorkMs: 10_000 });
      const started: number[] = [];
      let [taken, working] = [0, 0];
      await Promise.all(
        all.map((bytes, i) =>
          turns.run("a", bytes, async () => {
            started.push(i);
            taken += bytes;
            working++;
            expect(taken <= 100 || working === 1).toBe(true);
            await pause(0);
            taken -= bytes;
            working--;
          }),
        ),
      );
      expect(started).toEqual(all.map((_, i) => i));
    }),
    { numRuns: 15 },
  );
});

it("lets an owner who asks for little wait for one work of another who floods it, not for all", async () => {
  for (const options of [
    { room: 2, maxWorkMs: 10_000 },
    { room: Infinity, share: 2, maxWorkMs: 10_000 },
  ]) {
    const turns = new Turns(options);
    const started: string[] = [];
    let atOnce = 0;
    const work = (owner: string) => () =>
      turns.run(owner, 1, async () => {
        started.push(owner);
        const own = started.filter((one) => one === "flood").length;
        atOnce = Math.max(atOnce, own - ended);
        await pause(5);
        if (owner === "flood") ended++;
      });
    let ended = 0;
    const flood = Array.from({ length: 24 }, () => work("flood")());
    await pause(0);
    await work("quiet")();
    expect(started.indexOf("quiet")).toBeLessThanOrEqual(4);
    await Promise.all(flood);
    expect(started).toHaveLength(25);
    expect(atOnce).toBeLessThanOrEqual(2);
  }
});

it("gives the room of a failed work, and of one that never ends, to the next", async () => {
  const turns = new Turns({ room: 100, maxWorkMs: 20 });
  const failing = turns.run("a", 100, () => Promise.reject(new Error("no")));
  await expect(failing).rejects.toThrow("no");
  void turns.run("a", 100, () => new Promise(() => {}));
  expect(await turns.run("a", 100, async () => "done")).toBe("done");
});

it("passes over one that was cancelled while it waited", async () => {
  const turns = new Turns({ room: 100, maxWorkMs: 10_000 });
  let end = () => {};
  const working = turns.run("a", 100, () => new Promise<void>((resolve) => (end = resolve)));
  // The timers of a cancelled request never fire.
  const timers = vi.spyOn(globalThis, "setTimeout").mockImplementationOnce(() => 0 as never);
  void turns.run("a", 100, async () => "cancelled");
  timers.mockRestore();
  const next = turns.run("a", 100, async () => "done");
  end();
  await working;
  expect(await next).toBe("done");
});

it("gives the room of one that was cancelled while it worked to the next, long before the longest work ends", async () => {
  const turns = new Turns({ room: 100, maxWorkMs: 3_600_000 });
  const timers = vi.spyOn(globalThis, "setInterval").mockImplementationOnce(() => 0 as never);
  void turns.run("a", 100, () => new Promise(() => {}));
  timers.mockRestore();
  expect(await turns.run("a", 100, async () => "done")).toBe("done");
});

it("lets hundreds of works of one owner wait without taking the processor", async () => {
  vi.useFakeTimers();
  try {
    const looks = vi.spyOn(globalThis, "setTimeout");
    const turns = new Turns({ room: Infinity, share: 2, maxWorkMs: 60_000 });
    const held = Promise.withResolvers<void>();
    let done = 0;
    const works = Array.from({ length: 600 }, () => turns.run("a", 1, () => held.promise.then(() => done++)));
    await vi.advanceTimersByTimeAsync(100);
    // About 1,600. If each looked every 2 ms, 30,000.
    expect(looks.mock.calls.length).toBeLessThan(4_000);
    held.resolve();
    await vi.advanceTimersByTimeAsync(5_000);
    await Promise.all(works);
    expect(done).toBe(600);
  } finally {
    vi.restoreAllMocks();
    vi.useRealTimers();
  }
});

it("refuses further works of an owner who has the most waiting", async () => {
  const turns = new Turns({ room: Infinity, share: 1, maxWorkMs: 10_000, maxWaiting: 2 });
  const held = Promise.withResolvers<void>();
  const works = Array.from({ length: 3 }, () => turns.run("a", 1, () => held.promise));
  await expect(turns.run("a", 1, async () => undefined)).rejects.toThrow(TooManyWaitingError);
  expect(await turns.run("b", 1, async () => "another's")).toBe("another's");
  held.resolve();
  await Promise.all(works);
  expect(await turns.run("a", 1, async () => "later")).toBe("later");
});

it("does not count a work while it only waits, and lets it go on before those that wait for their first turn", async () => {
  const turns = new Turns({ room: Infinity, share: 1, maxWorkMs: 10_000 });
  const order: string[] = [];
  const upstream = Promise.withResolvers<void>();
  const calling = turns.run("a", 1, async ({ outside }) => {
    order.push("calls");
    await outside(() => upstream.promise);
    order.push("answers");
  });
  const held = Promise.withResolvers<void>();
  const second = turns.run("a", 1, async () => {
    order.push("second");
    await held.promise;
  });
  await pause(0);
  const third = turns.run("a", 1, async () => void order.push("third"));
  upstream.resolve();
  await pause(0);
  held.resolve();
  await Promise.all([calling, second, third]);
  expect(order).toEqual(["calls", "second", "answers", "third"]);
});

it("ends a turn whose wait outside of it fails", async () => {
  const turns = new Turns({ room: Infinity, share: 1, maxWorkMs: 10_000 });
  const failing = turns.run("a", 1, ({ outside }) => outside(() => Promise.reject(new Error("away"))));
  await expect(failing).rejects.toThrow("away");
  expect(await turns.run("a", 1, async () => "done")).toBe("done");
});

it("gives an owner its small share only while another has begun a work in the last second", async () => {
  const turns = new Turns({ room: Infinity, share: 2, shareAlone: 5, maxWorkMs: 10_000 });
  const mostAtOnce = async (): Promise<number> => {
    let [working, most] = [0, 0];
    await Promise.all(
      Array.from({ length: 12 }, () =>
        turns.run("a", 1, async () => {
          most = Math.max(most, ++working);
          await pause(2);
          working--;
        }),
      ),
    );
    return most;
  };
  expect(await mostAtOnce()).toBe(5);
  await turns.run("b", 1, async () => undefined);
  expect(await mostAtOnce()).toBe(2);
});

it("delays refusals of an owner beyond eight in a row, by 100 ms at most, and lets them pass evenly", () => {
  const delay = new RefusalDelay();
  const at = (now: number, owner = "a") => delay.delayOf(owner, now);
  expect(Array.from({ length: 14 }, () => at(5_000))).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 25, 50, 75, 100, 100, 100]);
  expect(at(5_000, "b")).toBe(0);
  // Forty a second, wherever a second begins.
  expect([5_050, 5_075, 5_990, 6_000].map((now) => at(now))).toEqual([50, 50, 0, 0]);
});
