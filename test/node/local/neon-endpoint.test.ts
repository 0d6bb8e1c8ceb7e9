import { neon, type NeonQueryFunction } from "@neondatabase/serverless";
import { sql as query } from "drizzle-orm";
import * as fc from "fast-check";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openDb } from "../../../src/service/db/client.ts";
import { tenants } from "../../../src/service/db/schema.ts";
import { startDatabase } from "../../../src/tooling/local/database/database.ts";
import { migrate } from "../../../src/tooling/local/database/migrations.ts";
import { HOSTILE_SETTINGS, servePostgres, startPostgres } from "../../support/postgres-server.ts";

interface Served {
  url: string;
  close(): Promise<void>;
}

/** On the embedded database, and on a server whose defaults are not those that the service needs. */
const DATABASES: [string, () => Promise<Served>][] = [
  ["the embedded database", startDatabase],
  [
    "a PostgreSQL server",
    async () => {
      const server = await startPostgres();
      const served = await servePostgres(server, { settings: HOSTILE_SETTINGS });
      const close = async () => {
        await served.close();
        await server.close();
      };
      return { url: served.neonUrl, close };
    },
  ],
];

describe.each(DATABASES)("the Neon-shaped endpoint of %s", (_name, start) => {
  let database: Served;
  let sql: NeonQueryFunction<false, false>;

  beforeAll(async () => {
    database = await start();
    sql = neon(database.url);
  });
  afterAll(() => database.close());

  async function endpoint(): Promise<string> {
    const { host } = new URL(database.url.replace(/^postgres:/, "http:"));
    return `http://${host}/sql`;
  }

  it("hands every kind of value to the driver's parsers as text", async () => {
    const [row] = await sql`select 1 as i, 2::bigint as b, 1.5::float8 as f, 1.50::numeric as n, true as t, null as z,
      '2026-01-02T03:04:05.678Z'::timestamptz as at, '{"a":[1,null]}'::jsonb as j, '{1,2}'::int[] as a, '\\x00ff'::bytea as y,
      ''::text as e`;
    // drizzle, once it is used, has the driver leave times as text.
    expect({ ...row, at: new Date(row?.["at"] as string | Date) }).toEqual({
      i: 1,
      b: "2",
      f: 1.5,
      n: "1.50",
      t: true,
      z: null,
      at: new Date("2026-01-02T03:04:05.678Z"),
      j: { a: [1, null] },
      a: [1, 2],
      y: Buffer.from([0, 255]),
      e: "",
    });
  });

  it("gives back whatever text it is given", async () => {
    // PostgreSQL has no NUL in text, and UTF-8 has no half surrogates.
    const text = fc
      .string({ unit: "binary", maxLength: 200 })
      .map((value) => value.toWellFormed().replaceAll("\0", ""));
    await fc.assert(
      fc.asyncProperty(text, fc.array(text, { maxLength: 5 }), async (value, list) => {
        const [row] =
          await sql`select ${value}::text as value, ${list}::text[] as list, ${JSON.stringify(value)}::jsonb as json`;
        expect(row).toEqual({ value, list, json: value });
      }),
      { numRuns: 100 },
    );
  });

  it("tells the driver what PostgreSQL says of an error", async () => {
    const id = crypto.randomUUID();
    await sql`insert into tenants (id, name) values (${id}, 'a')`;
    expect(await failure(sql`insert into tenants (id, name) values (${id}, 'b')`)).toMatchObject({
      name: "NeonDbError",
      severity: "ERROR",
      code: "23505",
      detail: `Key (id)=(${id}) already exists.`,
      schema: "public",
      table: "tenants",
      constraint: "tenants_pkey",
    });
    expect(await failure(sql`selekt 1`)).toMatchObject({ code: "42601", position: "1" });
    expect(await failure(sql.query("select $1", []))).toMatchObject({ code: "08P01" });
    expect(await sql`select 1 as ok`).toEqual([{ ok: 1 }]);
  });

  it("runs a batch in one transaction, all or nothing", async () => {
    const id = crypto.randomUUID();
    const insert = sql`insert into tenants (id, name) values (${id}, 'batch')`;
    expect(await failure(sql.transaction([insert, sql`select 1 / 0`]))).toMatchObject({ code: "22012" });
    expect(await sql`select 1 from tenants where id = ${id}`).toEqual([]);
    const again = sql`insert into tenants (id, name) values (${id}, 'batch')`;
    const results = await sql.transaction([again, sql`select name from tenants where id = ${id}`]);
    expect(results[1]).toEqual([{ name: "batch" }]);
  });

  it("takes the batch's isolation level and access mode", async () => {
    const level = sql`select current_setting('transaction_isolation') as level, current_setting('transaction_read_only') as ro`;
    const [rows] = await sql.transaction([level], { isolationLevel: "Serializable", readOnly: true, deferrable: true });
    expect(rows).toEqual([{ level: "serializable", ro: "on" }]);
    const write = sql`insert into tenants (id, name) values (${crypto.randomUUID()}, 'a')`;
    expect(await failure(sql.transaction([write], { readOnly: true }))).toMatchObject({ code: "25006" });
  });

  it("never mixes two transactions", async () => {
    const id = crypto.randomUUID();
    await sql`insert into tenants (id, name, monthly_credits) values (${id}, 'counter', 0)`;
    const batches = Array.from({ length: 40 }, () =>
      sql.transaction([
        sql`update tenants set monthly_credits = monthly_credits + 1 where id = ${id}`,
        sql`select txid_current(), monthly_credits from tenants where id = ${id}`,
      ]),
    );
    const seen = (await Promise.all(batches)).map((results) => Number(results[1]?.[0]?.["monthly_credits"]));
    expect(seen.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, i) => i + 1));
  });

  it("lets nothing of one request reach the next", async () => {
    await sql`set search_path = pg_catalog`;
    await sql.query("begin");
    const [row] = await sql`select current_setting('search_path') as path, pg_current_xact_id_if_assigned() as tx`;
    expect(row).toEqual({ path: "public", tx: null });
    expect(await sql`select count(*)::int as n from tenants where name = 'nobody'`).toEqual([{ n: 0 }]);
  });

  it("asks for the password", async () => {
    const wrong = database.url.replace(/:[^:@]+@/, ":wrong@");
    expect(await failure(neon(wrong)`select 1`)).toMatchObject({ code: "28P01" });
    const bare = await fetch(await endpoint(), { method: "POST", body: '{"query":"select 1"}' });
    expect(bare.status).toBe(400);
  });

  it("answers what it cannot understand without failing", async () => {
    const url = await endpoint();
    const headers = { "Neon-Connection-String": database.url };
    for (const body of ["", "{", "[]", "{}", '{"query":1}', '{"query":"select 1","params":1}', '{"queries":[{}]}']) {
      expect((await fetch(url, { method: "POST", headers, body })).status).toBe(400);
    }
    expect((await fetch(url.replace("/sql", "/other"), { method: "POST", headers })).status).toBe(404);
    expect((await fetch(url, { headers })).status).toBe(405);
    const rows = await fetch(url, {
      method: "POST",
      headers,
      body: '{"query":"select $1::int as a, $2::bool as b","params":[1,true]}',
    });
    expect(await rows.json()).toMatchObject({ command: "SELECT", rowCount: 1, rows: [{ a: "1", b: "t" }] });
  });

  it("works under drizzle, batches of it included", async () => {
    const db = openDb(database.url);
    const id = crypto.randomUUID();
    const [made] = await db.batch([
      db.insert(tenants).values({ id, name: "drizzle" }).returning(),
      db.execute(query`select 1`),
    ]);
    expect(made[0]).toMatchObject({ id, name: "drizzle", sharedIndex: false, createdAt: expect.any(Date) });
  });

  describe("a malformed request", () => {
    const post = async (body: string | Buffer, headers: Record<string, string> = {}) => {
      const response = await fetch(await endpoint(), {
        method: "POST",
        headers: { "Neon-Connection-String": database.url, ...headers },
        body,
      });
      return { status: response.status, ...((await response.json()) as { message: string; code?: string }) };
    };

    it.each([
      ["not JSON", "{", {}],
      ["no object", "null", {}],
      ["no query", "{}", {}],
      ["a query of the wrong type", '{"query":{"length":1}}', {}],
      ["parameters of the wrong type", '{"query":"select 1","params":{"length":-1}}', {}],
      ["a batch of nothing", '{"queries":[null]}', {}],
      ["a NUL in the query", JSON.stringify({ query: "select '\0'" }), {}],
      ["a lone surrogate in a parameter", String.raw`{"query":"select $1","params":["\ud800"]}`, {}],
      ["deep nesting", "[".repeat(1_000_000), {}],
      ["deep nesting in a parameter", `{"query":"select 1","params":[${"[".repeat(50_000)}${"]".repeat(50_000)}]}`, {}],
      ["too many parameters", JSON.stringify({ query: "select 1", params: Array(70_000).fill(1) }), {}],
      ["an unknown isolation level", '{"queries":[]}', { "Neon-Batch-Isolation-Level": "toString" }],
      [
        "a connection string that cannot be decoded",
        '{"query":"select 1"}',
        { "Neon-Connection-String": "postgres://a:%zz@b/c" },
      ],
      ["a connection string that is no URL", '{"query":"select 1"}', { "Neon-Connection-String": "%" }],
      ["a copy from a client that sends nothing", '{"query":"copy tenants from stdin"}', {}],
      [
        "an expression nested too deeply",
        JSON.stringify({ query: `select ${"(".repeat(20_000)}1${")".repeat(20_000)}` }),
        {},
      ],
    ])("is answered with 400 and ends nothing: %s", async (_name, body, headers) => {
      expect(await post(body, headers)).toMatchObject({ status: 400, message: expect.stringMatching(/./) });
      expect(await sql`select 1 as one`).toEqual([{ one: 1 }]);
    });

    it("of any other kind is answered, too", async () => {
      const bytes = fc.uint8Array({ maxLength: 300 });
      const json = fc
        .record({
          query: fc.oneof(fc.string(), fc.jsonValue()),
          params: fc.oneof(fc.array(fc.jsonValue()), fc.jsonValue()),
        })
        .map((value) => new TextEncoder().encode(JSON.stringify(value)));
      await fc.assert(
        fc.asyncProperty(fc.oneof(bytes, json), async (body) => {
          const { status } = await post(Buffer.from(body));
          expect([200, 400]).toContain(status);
        }),
        { numRuns: 200 },
      );
      expect(await sql`select 1 as one`).toEqual([{ one: 1 }]);
    });

    it("that breaks off harms no other", async () => {
      const { hostname, port } = new URL(await endpoint());
      const head = `POST /sql HTTP/1.1\r\nHost: x\r\nNeon-Connection-String: ${database.url}\r\nContent-Length: 1000\r\n\r\n`;
      for (const text of ["GARBAGE\r\n\r\n", head, `${head}{"query":`]) {
        await new Promise<void>((resolve, reject) => {
          const socket = connect(Number(port), hostname, () => socket.write(text, () => socket.resetAndDestroy()));
          socket.once("close", () => resolve());
          socket.once("error", reject);
        });
      }
      expect(await sql`select 1 as one`).toEqual([{ one: 1 }]);
    });
  });

  it("has its migrations applied once, also by several at the same time", async () => {
    expect(await Promise.all([migrate(database.url), migrate(database.url)])).toEqual([0, 0]);
    const [before] = await sql`select count(*)::int as n from drizzle.__drizzle_migrations`;
    await sql`drop schema public cascade`;
    await sql`create schema public`;
    await sql`drop schema drizzle cascade`;
    const counts = await Promise.all([migrate(database.url), migrate(database.url), migrate(database.url)]);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(before?.["n"]);
    await sql`insert into drizzle.__drizzle_migrations (hash, created_at) values ('of-another-version', 1)`;
    await expect(migrate(database.url)).rejects.toThrow(/made by another version/);
  });
});

async function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => {
      throw new Error("expected a failure");
    },
    (error: unknown) => error,
  );
}
