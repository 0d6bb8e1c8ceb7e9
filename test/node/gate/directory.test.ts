import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  AWAY_PATIENCE_MS,
  Directory,
  type DirectoryState,
  FORCED_INTERVAL_MS,
  LOAD_TIMEOUT_MS,
  MAX_AGE_MS,
  NEGATIVE_TTL_MS,
  REFRESH_AGE_MS,
  type Wait,
} from "../../../src/gate/directory.ts";

const TENANT = { monthlyCredits: 100, sharedIndex: false };

/** A database with one tenant, whose answers take `latencyMs` of the fake clock. */
class FakeDatabase {
  keys = new Set(["a"]);
  latencyMs = 5;
  mode: "up" | "refuses" | "hangs" = "up";
  loads = 0;
  accepted = 0;

  load = async (): Promise<{ state: DirectoryState; accepted: () => void }> => {
    this.loads++;
    const { mode } = this;
    // What a query sees is decided when it begins.
    const ids = [...this.keys];
    if (mode === "hangs") return new Promise(() => {});
    await delay(this.latencyMs);
    if (mode === "refuses") throw new TypeError("connection refused");
    const credentials = ids.map((id) => ({ id, kind: "api_key" as const, secretHash: "00".repeat(32) }));
    return { state: { tenant: TENANT, credentials }, accepted: () => this.accepted++ };
  };

  directory(initial?: DirectoryState): Directory {
    return new Directory({ load: this.load, now: Date.now, wait, initial });
  }
}

const delay = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

const wait = (ms: number): Wait => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return { done: new Promise((resolve) => (timer = setTimeout(resolve, ms))), cancel: () => clearTimeout(timer) };
};

/** Asks and lets the fake clock run until there is an answer. Returns it with the time it took. */
async function ask(directory: Directory, id: string): Promise<{ found: string; tookMs: number }> {
  const startedMs = Date.now();
  const answer: { found?: string } = {};
  const asked = directory.find(id).then((found) => (answer.found = typeof found === "string" ? found : "known"));
  while (answer.found === undefined) await vi.advanceTimersByTimeAsync(1);
  return { found: await asked, tookMs: Date.now() - startedMs };
}

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 10, 20) });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("directory", () => {
  it("asks the database once for all credentials and answers from memory while that is fresh", async () => {
    const database = new FakeDatabase();
    const directory = database.directory();
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(directory, "a")));
    expect(answers.every(({ found }) => found === "known")).toBe(true);
    await vi.advanceTimersByTimeAsync(REFRESH_AGE_MS - 30);
    expect(await ask(directory, "a")).toMatchObject({ found: "known" });
    expect(database.loads).toBe(1);
    expect(directory.tenant).toEqual(TENANT);
  });

  it("never answers from facts older than a second while the database answers", async () => {
    const database = new FakeDatabase();
    const directory = database.directory();
    let revokedAtMs = Infinity;
    let age = 0;
    for (let i = 0; i < 200; i++) {
      if (i === 100) {
        database.keys.delete("a");
        revokedAtMs = Date.now();
      }
      const { found } = await ask(directory, "a");
      if (found === "known") age = Math.max(age, Date.now() - revokedAtMs);
      await vi.advanceTimersByTimeAsync((i * 37) % 300);
    }
    expect(age).toBeLessThan(1_000);
    expect((await ask(directory, "a")).found).toBe("unknown");
  });

  it("waits for new facts after a pause, and renews in the background under traffic", async () => {
    const database = new FakeDatabase();
    const directory = database.directory();
    await ask(directory, "a");
    await vi.advanceTimersByTimeAsync(REFRESH_AGE_MS + 50);
    expect((await ask(directory, "a")).tookMs).toBeLessThan(database.latencyMs);
    expect(database.loads).toBe(2);
    await vi.advanceTimersByTimeAsync(MAX_AGE_MS + 50);
    expect((await ask(directory, "a")).tookMs).toBeGreaterThanOrEqual(database.latencyMs);
  });

  it("lets a key in that was made a moment ago", async () => {
    const database = new FakeDatabase();
    const directory = database.directory();
    await ask(directory, "a");
    database.keys.add("new");
    expect((await ask(directory, "new")).found).toBe("known");
  });

  it("looks a query that began earlier not good enough for an unknown credential", async () => {
    const database = new FakeDatabase();
    database.latencyMs = 50;
    const directory = database.directory();
    const first = directory.find("a");
    await vi.advanceTimersByTimeAsync(10);
    database.keys.add("new");
    expect((await ask(directory, "new")).found).toBe("known");
    await first;
  });

  it("turns a flood of wrong keys into a trickle of queries", async () => {
    const database = new FakeDatabase();
    const directory = database.directory();
    await ask(directory, "a");
    const before = database.loads;
    const startedMs = Date.now();
    const answers: string[] = [];
    for (let i = 0; i < 2_000; i++) {
      void directory.find(`wrong${i}`).then((found) => answers.push(typeof found === "string" ? found : "known"));
      if (i % 4 === 0) await vi.advanceTimersByTimeAsync(1);
    }
    await vi.advanceTimersByTimeAsync(5_000);
    expect(answers).toHaveLength(2_000);
    expect(new Set(answers)).toEqual(new Set(["unknown"]));
    const floodMs = 500;
    expect(database.loads - before).toBeLessThanOrEqual(floodMs / FORCED_INTERVAL_MS + 3);
    expect(Date.now()).toBeGreaterThan(startedMs);
  });

  it("remembers for a moment that a key is unknown", async () => {
    const database = new FakeDatabase();
    const directory = database.directory();
    await ask(directory, "wrong");
    const { loads } = database;
    expect(await ask(directory, "wrong")).toEqual({ found: "unknown", tookMs: 1 });
    expect(database.loads).toBe(loads);
    database.keys.add("wrong");
    await vi.advanceTimersByTimeAsync(NEGATIVE_TTL_MS);
    expect((await ask(directory, "wrong")).found).toBe("known");
  });

  it.each(["refuses", "hangs"] as const)("goes on with what it knows while the database %s", async (mode) => {
    const database = new FakeDatabase();
    const directory = database.directory();
    await ask(directory, "a");
    database.mode = mode;
    await vi.advanceTimersByTimeAsync(10_000);
    expect((await ask(directory, "a")).found).toBe("known");
    // Only the first request had to find out.
    for (let i = 0; i < 5; i++) {
      const { found, tookMs } = await ask(directory, "a");
      expect(found).toBe("known");
      expect(tookMs).toBeLessThanOrEqual(AWAY_PATIENCE_MS + 1);
    }
    const unknown = await ask(directory, "b");
    expect(unknown.found).toBe("unavailable");
    expect(unknown.tookMs).toBeLessThanOrEqual(2 * LOAD_TIMEOUT_MS);

    database.mode = "up";
    database.keys = new Set(["b"]);
    await vi.advanceTimersByTimeAsync(LOAD_TIMEOUT_MS);
    await ask(directory, "a");
    await vi.advanceTimersByTimeAsync(database.latencyMs);
    expect((await ask(directory, "a")).found).toBe("unknown");
    expect((await ask(directory, "b")).found).toBe("known");
  });

  it("knows nobody when it never reached the database, unless an earlier life did", async () => {
    const database = new FakeDatabase();
    database.mode = "refuses";
    expect((await ask(database.directory(), "a")).found).toBe("unavailable");
    const credentials = [{ id: "a", kind: "api_key" as const, secretHash: "00".repeat(32) }];
    const directory = database.directory({ tenant: TENANT, credentials });
    expect((await ask(directory, "a")).found).toBe("known");
    expect((await ask(directory, "b")).found).toBe("unavailable");
  });

  it("leaves no timer behind", async () => {
    const directory = new FakeDatabase().directory();
    await ask(directory, "a");
    expect(vi.getTimerCount()).toBe(0);
  });

  it("does not take over an answer that came too late", async () => {
    const database = new FakeDatabase();
    database.latencyMs = LOAD_TIMEOUT_MS + 500;
    const directory = database.directory();
    expect((await ask(directory, "a")).found).toBe("unavailable");
    await vi.advanceTimersByTimeAsync(LOAD_TIMEOUT_MS);
    expect(database.accepted).toBe(0);
  });
});
