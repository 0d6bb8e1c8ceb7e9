import type { NeonQueryFunction } from "@neondatabase/serverless";
import { Client } from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { pinSessions, unfitSettings } from "../../../src/tooling/local/database/session-settings.ts";
import { HOSTILE_SETTINGS, type PostgresServer, startPostgres } from "../../support/postgres-server.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.close());

/** Like a provider's HTTP endpoint: each request has a session with the defaults, and takes no settings. */
function requests(url: string, options = ""): NeonQueryFunction<false, false> {
  const query = async (text: string, params?: unknown[]) => {
    const client = new Client({ connectionString: url, options });
    await client.connect();
    try {
      return (await client.query(text, params)).rows;
    } finally {
      await client.end();
    }
  };
  return { query } as unknown as NeonQueryFunction<false, false>;
}

it("makes what the statements rely on the role's defaults, whatever those of the database are", async () => {
  const url = await server.createDatabase({ settings: HOSTILE_SETTINGS });
  const sql = requests(url);
  expect((await unfitSettings(sql)).map(({ name }) => name)).toContain("default_transaction_isolation");
  await pinSessions(sql, 1);
  expect(await unfitSettings(sql)).toEqual([]);
  const [row] = await sql.query(
    "select current_setting('transaction_isolation') as isolation, '2026-11-23T01:02:03Z'::timestamptz::text as at, '\\x00ff'::bytea::text as bytes",
  );
  expect(row).toEqual({ isolation: "read committed", at: "2026-11-23 01:02:03+00", bytes: "\\x00ff" });
});

it("refuses a database whose sessions do not follow, and says what to run", async () => {
  const sql = requests(
    await server.createDatabase(),
    "-c DateStyle=SQL,DMY -c default_transaction_isolation=serializable",
  );
  await expect(pinSessions(sql, 1)).rejects.toMatchObject({
    name: "OperatorError",
    message: expect.stringMatching(
      /default_transaction_isolation is "serializable" and must be "read committed"; DateStyle is "SQL, DMY".*alter role .* set DateStyle = 'ISO, MDY';/,
    ),
  });
});
