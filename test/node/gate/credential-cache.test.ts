import { describe, expect, it } from "vitest";
import {
  CredentialCache,
  type CredentialFacts,
  CREDENTIALS_SCHEMA,
  readFacts,
  storeFacts,
} from "../../../src/service/gate/credential-cache.ts";
import { openSql } from "../../support/sqlite.ts";

const NOON = Date.UTC(2026, 10, 20, 12);
const MINUTE_MS = 60_000;
const FACTS: CredentialFacts = {
  kind: "api_key",
  secretHash: "00".repeat(32),
  expiresAtMs: null,
  monthlyCredits: 10,
  sharedIndex: false,
};

function setUp() {
  const database = { facts: FACTS as CredentialFacts | null, isAway: false, queries: 0 };
  const clock = { nowMs: NOON };
  const sql = openSql(CREDENTIALS_SCHEMA);
  const open = () =>
    new CredentialCache(
      {
        load: async () => {
          database.queries++;
          if (database.isAway) throw new Error("connection refused");
          return database.facts;
        },
        store: (id, facts, checkedAtMs) => storeFacts(sql, id, facts, checkedAtMs),
        now: () => clock.nowMs,
      },
      readFacts(sql),
    );
  return { database, clock, open };
}

describe("credential cache", () => {
  it("never decides on facts older than 900 ms while the database answers", async () => {
    const { database, clock, open } = setUp();
    const cache = open();
    expect(await cache.find("a")).toEqual(FACTS);
    database.facts = null;
    clock.nowMs += 901;
    expect(await cache.find("a")).toBe("unknown");
    database.facts = FACTS;
    clock.nowMs += 901;
    expect(await cache.find("a")).toEqual(FACTS);
  });

  it("asks the database about twice a second, however many requests come", async () => {
    const { database, clock, open } = setUp();
    const cache = open();
    for (let i = 0; i < 1_000; i++) {
      clock.nowMs += 10;
      await Promise.all([cache.find("a"), cache.find("a")]);
    }
    expect(database.queries).toBeGreaterThan(10);
    expect(database.queries).toBeLessThanOrEqual(26);
  });

  it("loads once for concurrent requests, and caches unknown ids", async () => {
    const { database, open } = setUp();
    database.facts = null;
    const cache = open();
    const found = await Promise.all(Array.from({ length: 50 }, () => cache.find("x")));
    expect(new Set(found)).toEqual(new Set(["unknown"]));
    await cache.find("x");
    expect(database.queries).toBe(1);
  });

  it("trusts a known credential for ten minutes while the database is away, and no longer", async () => {
    const { database, clock, open } = setUp();
    let cache = open();
    await cache.find("a");
    database.isAway = true;
    clock.nowMs = NOON + 9 * MINUTE_MS;
    expect(await cache.find("a")).toEqual(FACTS);
    expect(await cache.find("other")).toBe("unavailable");
    // What an earlier instance stored is worth as much.
    cache = open();
    expect(await cache.find("a")).toEqual(FACTS);
    clock.nowMs = NOON + 10 * MINUTE_MS + 1;
    expect(await cache.find("a")).toBe("unavailable");
    database.isAway = false;
    expect(await cache.find("a")).toEqual(FACTS);
  });

  it("does not trust a revoked credential that an earlier instance knew as valid", async () => {
    const { database, clock, open } = setUp();
    const cache = open();
    await cache.find("a");
    database.facts = null;
    clock.nowMs += 1_000;
    await cache.find("a");
    database.isAway = true;
    expect(await open().find("a")).toBe("unavailable");
  });

  it("refuses a credential from the moment it expires", async () => {
    const { database, clock, open } = setUp();
    database.facts = { ...FACTS, expiresAtMs: NOON + 100 };
    const cache = open();
    expect(await cache.find("a")).toMatchObject({ kind: "api_key" });
    clock.nowMs = NOON + 100;
    expect(await cache.find("a")).toBe("unknown");
  });

  it("does not take facts for fresh after the clock was set back", async () => {
    const { database, clock, open } = setUp();
    const cache = open();
    await cache.find("a");
    clock.nowMs -= 60 * MINUTE_MS;
    database.facts = null;
    expect(await cache.find("a")).toBe("unknown");
  });
});
