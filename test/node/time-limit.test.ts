import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { requestTimer, type TimeLimit, withTimer } from "../../src/time-limit.ts";

const never = () => new Promise<string>(() => {});
const late = () => "late";
const after = (ms: number, value: string) => () =>
  new Promise<string>((resolve) => {
    setTimeout(() => resolve(value), ms);
  });

describe.each<[string, () => TimeLimit]>([
  ["a timer for one limit", () => withTimer],
  ["a timer for all limits of a request", requestTimer],
])("%s", (_, create) => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("comes to what the work comes to, when that is in time", async () => {
    const within = create();
    const done = within(100, after(99, "done"), late);
    const failed = expect(within(100, () => Promise.reject(new RangeError("bad")), late)).rejects.toThrow(RangeError);
    await vi.advanceTimersByTimeAsync(99);
    expect(await done).toBe("done");
    await failed;
  });

  it("comes to what the caller makes of it, when the work is late", async () => {
    const within = create();
    const returned = within(100, never, late);
    const thrown = within(100, never, () => {
      throw new RangeError("too late");
    });
    const threw = expect(thrown).rejects.toThrow("too late");
    await vi.advanceTimersByTimeAsync(101);
    expect(await returned).toBe("late");
    await threw;
  });

  it("ignores how late work ends", async () => {
    const within = create();
    const first = within(10, after(50, "done"), late);
    const second = within(
      10,
      async () => {
        await after(50, "")();
        throw new RangeError("nobody waits");
      },
      late,
    );
    await vi.advanceTimersByTimeAsync(100);
    expect(await Promise.all([first, second])).toEqual(["late", "late"]);
  });

  it("holds each of several limits, one after the other or at once", async () => {
    const within = create();
    const ends: string[] = [];
    const note = (name: string) => (value: string) => ends.push(`${name} ${value} ${Date.now() - startedAt}`);
    const startedAt = Date.now();
    const long = within(300, never, late).then(note("long"));
    const short = within(100, never, late).then(note("short"));
    const quick = within(100, after(20, "done"), late).then(note("quick"));
    await vi.advanceTimersByTimeAsync(150);
    const next = within(100, never, late).then(note("next"));
    await vi.advanceTimersByTimeAsync(500);
    await Promise.all([long, short, quick, next]);
    expect(ends).toEqual(["quick done 20", "short late 100", "next late 250", "long late 300"]);
  });

  it("is over at once with no time left", async () => {
    const within = create();
    const over = within(-5, never, late);
    await vi.advanceTimersByTimeAsync(1);
    expect(await over).toBe("late");
  });

  it("rejects with what work throws at once", async () => {
    const broken = () => {
      throw new RangeError("at once");
    };
    await expect(create()(100, broken, late)).rejects.toThrow("at once");
  });
});

describe("a timer for all limits of a request", () => {
  it("is set once for limits that are kept", async () => {
    const set = vi.spyOn(globalThis, "setTimeout");
    try {
      const within = requestTimer();
      for (const limitMs of [5_000, 60_000, 60_000]) await within(limitMs, () => Promise.resolve(""), late);
      expect(set).toHaveBeenCalledTimes(1);
    } finally {
      for (const { value } of set.mock.results) clearTimeout(value as NodeJS.Timeout);
      set.mockRestore();
    }
  });
});
