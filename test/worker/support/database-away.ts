import { env } from "cloudflare:workers";
import { vi } from "vitest";

const databaseHost = new URL(env.DATABASE_URL).host;

/**
 * Cuts the Worker off from Postgres: requests to its address fail as if nothing listened there. Objects run in the same
 * isolate as the tests, so it cuts them off too. Returns the way back, and counts the queries that were tried.
 */
export function cutDatabase(): { restore: () => void; tries: () => number } {
  return watchDatabase(() => Promise.reject(new TypeError("connection refused")));
}

/** Counts queries on their way to Postgres. */
export function countQueries(): { restore: () => void; tries: () => number } {
  return watchDatabase();
}

/**
 * Breaks the database at a query, counted from 1, and from then on: that one fails before it is carried out, or after it, when its
 * answer gets lost.
 */
export function breakDatabaseAt(
  query: number,
  moment: "before" | "after",
): { restore: () => void; tries: () => number } {
  const refused = () => Promise.reject(new TypeError("connection refused"));
  return watchDatabase(async (tried, carryOut) => {
    if (tried < query) return carryOut();
    if (tried === query && moment === "after") await carryOut();
    return refused();
  });
}

function watchDatabase(answer?: (tried: number, carryOut: () => Promise<Response>) => Promise<Response>): {
  restore: () => void;
  tries: () => number;
} {
  const original = globalThis.fetch;
  let tries = 0;
  const spy = vi.spyOn(globalThis, "fetch").mockImplementation((input, init) => {
    const url = typeof input === "string" ? input : input instanceof URL ? input.href : input.url;
    if (new URL(url).host !== databaseHost) return original(input, init);
    tries++;
    return answer ? answer(tries, () => original(input, init)) : original(input, init);
  });
  return { restore: () => spy.mockRestore(), tries: () => tries };
}
