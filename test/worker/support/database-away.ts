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

/** Counts queries on their way to Postgres, but for flushes of gates, which other tests may have left. */
export function countQueries(): { restore: () => void; tries: () => number } {
  let tries = 0;
  const { restore } = watchDatabase((body, carryOut) => {
    if (!isFlush(body)) tries++;
    return carryOut();
  });
  return { restore, tries: () => tries };
}

/** Time without a query after which those of earlier requests, which go on behind their answers, are over. */
const QUIET_MS = 200;

/** As `countQueries`, from when no query has been sent for a while. */
export async function countQueriesOfTest(): Promise<ReturnType<typeof countQueries>> {
  for (;;) {
    const counted = countQueries();
    await scheduler.wait(QUIET_MS);
    if (counted.tries() === 0) return counted;
    counted.restore();
  }
}

/**
 * Breaks the database at a query, counted from 1, and from then on: that one fails before it is carried out, or after it, when its
 * answer gets lost. Flushes of gates go through.
 */
export function breakDatabaseAt(
  query: number,
  moment: "before" | "after",
): { restore: () => void; tries: () => number } {
  const refused = () => Promise.reject(new TypeError("connection refused"));
  let tried = 0;
  const { restore } = watchDatabase(async (body, carryOut) => {
    if (isFlush(body) || ++tried < query) return carryOut();
    if (tried === query && moment === "after") await carryOut();
    return refused();
  });
  return { restore, tries: () => tried };
}

const isFlush = (body: string): boolean => body.includes("usage_months");

function watchDatabase(answer: (body: string, carryOut: () => Promise<Response>) => Promise<Response>): {
  restore: () => void;
  tries: () => number;
} {
  const original = globalThis.fetch;
  let tries = 0;
  const spy = vi.spyOn(globalThis, "fetch").mockImplementation((input, init) => {
    const url = typeof input === "string" ? input : input instanceof URL ? input.href : input.url;
    if (new URL(url).host !== databaseHost) return original(input, init);
    const body = typeof init?.body === "string" ? init.body : "";
    tries++;
    return answer(body, () => original(input, init));
  });
  return { restore: () => spy.mockRestore(), tries: () => tries };
}
