import { connect, createServer, type Server, type Socket } from "node:net";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { neon } from "@neondatabase/serverless";
import { Client } from "pg";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { connectServer, openDatabaseUrl } from "../../../src/tooling/local/database/database.ts";
import { migrate } from "../../../src/tooling/local/database/migrations.ts";
import { type PostgresServer, servePostgres, startPostgres } from "../../support/postgres-server.ts";
import { TEST_CERTIFICATE } from "../../support/test-certificate.ts";

let server: PostgresServer;
const cleanups: (() => unknown)[] = [];

beforeAll(async () => {
  server = await startPostgres({ tls: true });
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});
afterAll(() => server.close());

async function run(url: string, ...statements: string[]): Promise<void> {
  const client = new Client(url);
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

function change(
  url: string,
  parts: Partial<Pick<URL, "username" | "hostname" | "password" | "port" | "pathname" | "search">>,
): string {
  return Object.assign(new URL(url), parts).href;
}

/** Why a server is refused; the password is never part of it. */
async function refusal(url: string): Promise<string> {
  const error = await connectServer(url).then(
    () => new Error("the server was accepted"),
    (reason: unknown) => reason as Error,
  );
  expect(error.name).toBe("OperatorError");
  expect(error.message).not.toContain(new URL(url).password);
  return error.message;
}

/** A proxy that changes what the server says, before it passes it on. */
async function proxied(url: string, alter: (bytes: Buffer) => Buffer, search = ""): Promise<string> {
  const sockets: Socket[] = [];
  const proxy: Server = createServer((client) => {
    const upstream = connect(server.port, "127.0.0.1");
    sockets.push(client, upstream);
    client.pipe(upstream);
    upstream.on("data", (bytes) => client.write(alter(bytes)));
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      socket.on("error", () => {});
      socket.on("close", () => other.destroy());
    }
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  const address = proxy.address();
  return change(url, { port: String(typeof address === "object" && address ? address.port : 0), search });
}

/** The answer to a request for TLS is a single letter. */
const withoutTls = (bytes: Buffer) => (bytes.length === 1 && bytes[0] === 0x53 ? Buffer.from("N") : bytes);

const replaced = (bytes: Buffer, from: string, to: string) =>
  Buffer.from(withoutTls(bytes).toString("latin1").replaceAll(from, to), "latin1");

it("names the variable, what is wrong and the remedy", async () => {
  const url = await server.createDatabase();
  const limited = await server.createDatabase();
  const password = "p-of-limited";
  await run(limited, `create role limited login password '${password}'`);
  const latin = await server.createDatabase({
    suffix: "encoding 'LATIN1' locale_provider libc locale 'C' template template0",
  });
  const other = await server.createDatabase();
  await run(other, "create table invoices (id int)", "create table lines (id int)");
  const readOnly = await server.createDatabase({ settings: { default_transaction_read_only: "on" } });
  const owned = await servePostgres(server);
  cleanups.push(() => owned.close());
  await run(
    owned.url,
    "grant create on schema public to public",
    "grant all on all tables in schema public, drizzle to limited",
  );
  const asLimited = (of: string) => change(of, { username: "limited", password });

  const cases: [string, RegExp][] = [
    [change(url, { pathname: "/absent" }), /no database absent: create it \(create database "absent"/],
    [change(url, { password: "wrong" }), /refuses the password of the role postgres/],
    [change(url, { username: "nobody" }), /refuses the password of the role nobody/],
    [await proxied(url, withoutTls, "?sslmode=require"), /has no TLS: .* sslmode=disable/],
    [
      change(url, { search: "?sslmode=verify-full" }),
      /certificate is not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\): set sslrootcert/,
    ],
    [change(url, { search: "?sslmode=often" }), /sslmode: expected one of disable, prefer/],
    [change(url, { search: "?sslmode=verify-ca" }), /verify-ca needs sslrootcert/],
    [change(url, { search: "?sslrootcert=/absent.pem" }), /a file that its TLS options name cannot be read \(ENOENT\)/],
    [latin, /has the encoding LATIN1: create one with encoding 'UTF8'/],
    [other, /has tables of something else \(invoices, lines\): create one for the service alone/],
    [readOnly, /read-only by default/],
    [asLimited(limited), /may not create tables: make it the owner of the database/],
    [asLimited(owned.url), /does not own the service's tables \(__drizzle_migrations, /],
    // Versions before 15, and poolers that answer with process ids of their own, cannot be started here.
    [await proxied(url, (bytes) => replaced(bytes, "1700", "1400")), /PostgreSQL 15 or newer is needed/],
    [
      await proxied(url, (bytes) => replaced(bytes, "K\0\0\0\x0c\0", "K\0\0\0\x0c\x01")),
      /a connection pooler is in front/,
    ],
    [
      await proxied(url, (bytes) => replaced(bytes, "read committed", "serializable  ")),
      /does not let a session set default_transaction_isolation/,
    ],
  ];
  for (const [given, expected] of cases) {
    const message = await refusal(given);
    expect(message).toMatch(/^DATABASE_URL: /);
    expect(message).toMatch(expected);
  }
});

it("is reached over its socket, too", async () => {
  const url = new URL(await server.createDatabase());
  const socket = `postgres://${url.username}:${url.password}@/${url.pathname.slice(1)}?host=${server.socketFolder}&port=${server.port}`;
  const database = await connectServer(socket);
  cleanups.push(() => database.close());
  expect(await migrate(database.url)).toBeGreaterThan(0);
});

it("speaks TLS as sslmode says: if the server has it, or always, and with the certificate checked", async () => {
  const url = await server.createDatabase();
  const folder = mkdtempSync(path.join(os.tmpdir(), "code-context-tls-"));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  const authority = path.join(folder, "ca.pem");
  writeFileSync(authority, TEST_CERTIFICATE);
  const cases: [string, boolean][] = [
    [url, true],
    [change(url, { search: "?sslmode=disable" }), false],
    [await proxied(url, withoutTls), false],
    [change(url, { search: "?sslmode=require" }), true],
    [change(url, { search: `?sslmode=verify-ca&sslrootcert=${authority}` }), true],
    [change(url, { hostname: "localhost", search: `?sslmode=verify-full&sslrootcert=${authority}` }), true],
  ];
  for (const [given, expected] of cases) {
    const database = await connectServer(given);
    cleanups.push(() => database.close());
    const [row] = await neon(database.url)`select ssl from pg_stat_ssl where pid = pg_backend_pid()`;
    expect([given, row]).toEqual([given, { ssl: expected }]);
  }
  const wrongName = change(url, { search: `?sslmode=verify-full&sslrootcert=${authority}` });
  expect(await refusal(wrongName)).toMatch(/certificate is not trusted \(ERR_TLS_CERT_ALTNAME_INVALID\)/);
});

it("uses no more connections than it may, and gives every request its turn", async () => {
  const served = await servePostgres(server, { connections: 3 });
  cleanups.push(() => served.close());
  const sql = neon(served.neonUrl);
  const pids = await Promise.all(
    Array.from(
      { length: 30 },
      async () => (await sql`select pg_backend_pid() as pid, pg_sleep(0.01)`)[0]?.["pid"] as number,
    ),
  );
  expect(pids).toHaveLength(30);
  expect(new Set(pids).size).toBeLessThanOrEqual(3);
});

it("goes on after its connections were closed, and after it was away", async () => {
  const lines: string[] = [];
  const served = await servePostgres(server, { onNotice: (line) => lines.push(line) });
  cleanups.push(() => served.close());
  const sql = neon(served.neonUrl);
  const name = new URL(served.url).pathname.slice(1);
  await Promise.all(Array.from({ length: 5 }, () => sql`select pg_sleep(0.01)`));
  const waiting = sql`select pg_sleep(30)`.catch((error: unknown) => error);
  await expect
    .poll(
      async () =>
        (await sql`select count(*)::int as n from pg_stat_activity where query like '%pg_sleep(30)%'`)[0]?.["n"],
    )
    .toBeGreaterThan(1);
  await run(server.url, `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
  expect(await waiting).toMatchObject({ name: "NeonDbError" });
  // A connection that the server closed while it was idle may fail one request; a new one takes its place.
  await expect.poll(() => sql`select 1 as one`.catch(() => [])).toEqual([{ one: 1 }]);

  await server.stop();
  await expect(sql`select 1`).rejects.toThrow(/503.*does not answer/);
  await server.start();
  await expect.poll(() => sql`select 1 as one`.catch(() => [])).toEqual([{ one: 1 }]);
  expect(lines).toEqual([expect.stringMatching(/^the database does not answer \(/), "the database answers again"]);
});

it("is waited for while it starts", async () => {
  const url = await server.createDatabase();
  await server.stop();
  const lines: string[] = [];
  const connecting = openDatabaseUrl(url, { onNotice: (line) => lines.push(line) });
  await expect.poll(() => lines).toEqual(["waiting for the database (ECONNREFUSED)"]);
  await server.start();
  const database = await connecting;
  cleanups.push(() => database.close());
  expect(await neon(database.url)`select 1 as one`).toEqual([{ one: 1 }]);
});
