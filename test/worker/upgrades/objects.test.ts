/**
 * Durable Objects with the tables that earlier commits wrote. The layouts are those of the commits' own `create table`
 * statements; the rows are what their code writes.
 */
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { and, eq } from "drizzle-orm";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import { auditEvents, usageMonths } from "../../../src/service/db/records-schema.ts";
import { TENANT_GATE_TABLES } from "../../../src/service/gate/tables.ts";
import { newRun } from "../../../src/service/runs/state.ts";
import { type ObjectTables, openTables } from "../../../src/lib/object-tables.ts";
import { startClock, stopClock } from "../support/clock.ts";
import { admitTo, gateOf, rateBucket } from "../support/gates.ts";
import { coordinator, givenWorkspaces, newSpec, sent, stub, worker, workspaceId } from "../support/runs.ts";
import { createTenant, db, type TestTenant } from "../support/tenants.ts";

givenWorkspaces();

const NOON = Date.UTC(2026, 10, 20, 12);
const DAY_MS = 24 * 60 * 60_000;

/** A gate's tables from b64fbad on. */
const GATE_1 = `
create table meta (key text primary key, value text not null) without rowid;
create table windows (
  surface text not null, start_ms integer not null, window_sec integer not null, used integer not null,
  rejected integer not null, reported integer not null, actor text not null, primary key (surface, start_ms)
) without rowid;
create table months (
  period text primary key, version integer not null, flushed_version integer not null, seeded integer not null,
  credits integer not null, embed_tokens integer not null, rerank_tokens integer not null, index_tokens integer not null,
  calls text not null
) without rowid;
create table reservations (
  id text primary key, period text not null, credits integer not null, deadline_ms integer not null,
  state text not null, charged integer not null
) without rowid;
create table counted (day integer not null, key text not null, primary key (day, key)) without rowid;
`;
/** From 2535ac9 to 4d22081; 5dc0dc8 is among them. */
const GATE_2 = `${GATE_1}create table settled (until_ms integer not null, ids text not null);`;
/** From 6e03b9f on, before versions were recorded. */
const GATE_3 = `
create table meta (key text primary key, value text not null) without rowid;
create table windows (
  surface text not null, start_ms integer not null, end_ms integer not null, used integer not null,
  rejected integer not null, first_rejected_ms integer, tenant_id text, actor text, reported integer not null,
  primary key (surface, start_ms)
) without rowid;
create table months (
  period text primary key, version integer not null, flushed_version integer not null, seeded integer not null,
  credits integer not null, embed_tokens integer not null, rerank_tokens integer not null, index_tokens integer not null,
  embed_calls integer not null, rerank_calls integer not null, index_calls integer not null,
  snapshot_calls integer not null, search_calls integer not null
) without rowid;
create table reservations (
  id text primary key, credential_id text not null, period text not null, credits integer not null,
  deadline_ms integer not null, charged integer
) without rowid;
create index reservations_open on reservations (deadline_ms) where charged is null;
create table counted (key text primary key, at_ms integer not null) without rowid;
create table key_days (
  credential_id text not null, day text not null, calls integer not null, credits integer not null,
  tokens integer not null, last_used_ms integer not null, version integer not null, flushed_version integer not null,
  primary key (credential_id, day)
) without rowid;
create table credentials (id text primary key, facts text not null, checked_at_ms integer not null) without rowid;
`;

const RUNS_1 = `
create table runs (position integer primary key autoincrement, run_id text unique, ended integer, record text);
create table shards (run_id text, attempt integer, shard integer, primary key (run_id, attempt, shard));
`;
const RUNS_2 = `
create table runs (position integer primary key autoincrement, run_id text unique, ended integer, record text);
create table run_shards (run_id text, attempt integer, shard integer, state text, failures integer default 0,
  primary key (run_id, attempt, shard));
create table run_usage (token text primary key, run_id text, tenant_id text, embedded integer, embed_ms real,
  tokens integer, batch text);
create index run_usage_run on run_usage (run_id);
`;
const RUNS_3 = `${RUNS_2}create table uncounted_runs (run_id text primary key, tenant_id text, kind text);`;

/** Replaces an object's storage by these tables, as if its next start were the first one of this release. */
async function rewrite(object: DurableObjectStub, sql: string, ...statements: [string, ...(string | number)[]][]) {
  await runInDurableObject(object, async (_, { storage }) => {
    await storage.deleteAll();
    storage.sql.exec(sql);
    for (const [statement, ...values] of statements) storage.sql.exec(statement, ...values);
  });
  await evictDurableObject(object);
}

const versionOf = (object: DurableObjectStub) =>
  runInDurableObject(object, (_, { storage }) => storage.sql.exec("select version from tables_version").one());

afterEach(startClock);

describe("the tables of a gate", () => {
  const charge = async (tenant: TestTenant, tokens: number) => {
    const admitted = await admitTo(tenant.tenantId, tenant.request(1));
    if (admitted.outcome !== "admitted" || admitted.reservationId === null) throw new Error(admitted.outcome);
    return gateOf(tenant.tenantId).settle(admitted.reservationId, { outcome: "charged", kind: "embed", tokens });
  };

  it.each([
    ["the first commits", GATE_1],
    ["5dc0dc8", GATE_2],
  ])("of %s keep counters, windows, reservations and counted keys", async (_, tables) => {
    stopClock(NOON);
    const tenant = await createTenant(20);
    const gate = () => gateOf(tenant.tenantId);
    const calls = JSON.stringify({ embed: 4, rerank: 1, index: 2, search: 3 });
    const isFirst = tables === GATE_1;
    await rewrite(
      gate(),
      tables,
      ["insert into meta values ('tenant', ?), ('directory', '{}')", tenant.tenantId],
      ["insert into windows values ('metered', ?, 60, 598, 0, 0, '')", NOON],
      ["insert into windows values ('search', ?, 60, 600, 7, 0, 'somebody')", NOON],
      ["insert into months values ('2026-11', 9, 4, 1, 12, 9000, 3000, 50, ?)", calls],
      ["insert into reservations values ('open', '2026-11', 3, ?, 'open', 0)", NOON + 60_000],
      ["insert into counted values (?, 'run:1')", Math.floor(NOON / DAY_MS)],
      isFirst
        ? ["insert into reservations values ('done', '2026-11', 3, ?, 'settled', 5)", NOON + 60_000]
        : ["insert into settled values (?, ?)", NOON, JSON.stringify([["done", "2026-11", NOON + 60_000, 5]])],
    );
    expect(await gate().settle("done", { outcome: "failed" })).toEqual({ credits: 5 });
    const figures = { used: 12, embedTokens: 9_000, rerankTokens: 3_000, indexTokens: 50 };
    expect(await gate().usage()).toMatchObject({
      ...figures,
      calls: { embed: 4, rerank: 1, index: 2, snapshot: 0, search: 3 },
    });
    await gate().count("run:1", "index");
    expect((await gate().usage()).calls.index).toBe(2);
    // 12 charged and 3 reserved of 20 leave room for 5; the window has room for one more.
    const search = await admitTo(tenant.tenantId, { credential: tenant.credential, surface: "search" });
    expect(search).toMatchObject({ outcome: "rate_limited" });
    expect(await admitTo(tenant.tenantId, tenant.request(6))).toMatchObject({ outcome: "quota_exceeded", used: 15 });
    expect(await charge(tenant, 1)).toEqual({ credits: 1 });
    expect(await admitTo(tenant.tenantId, tenant.request())).toMatchObject({ outcome: "rate_limited" });
    expect(await gate().settle("open", { outcome: "charged", kind: "rerank", tokens: 2_500 })).toEqual({ credits: 3 });
    expect(await gate().usage()).toMatchObject({ used: 16, rerankTokens: 5_500 });

    startClock();
    await gate().flush();
    const [month] = await db.select().from(usageMonths).where(eq(usageMonths.tenantId, tenant.tenantId));
    expect(month).toMatchObject({ period: "2026-11", credits: 16, calls: { embed: 5, rerank: 2, search: 3 } });
    const rejections = and(eq(auditEvents.tenantId, tenant.tenantId), eq(auditEvents.event, "RATE_LIMITED"));
    const audited = (await db.select().from(auditEvents).where(rejections)).map(({ details }) => details);
    expect(audited).toContainEqual(expect.objectContaining({ surface: "search", rejected: 8 }));
  });

  it("of releases without a version are given one, and new gates have the same tables as upgraded ones", async () => {
    const [unversioned, old, fresh] = [await createTenant(), await createTenant(), await createTenant()];
    await rewrite(gateOf(unversioned.tenantId), GATE_3, [
      "insert into months values ('2026-11', 9, 4, 1, 12, 9000, 3000, 50, 1, 2, 3, 4, 5)",
    ]);
    await rewrite(gateOf(old.tenantId), GATE_1);
    const tablesOf = ({ tenantId }: TestTenant) =>
      runInDurableObject(gateOf(tenantId), (_, { storage }) =>
        storage.sql
          .exec<{ name: string }>(
            "select name from sqlite_master where name not like '\\_cf%' escape '\\' order by name",
          )
          .toArray()
          .map(({ name }) => [
            name,
            storage.sql.exec("select name, type, pk from pragma_table_info(?)", name).toArray(),
          ]),
      );
    for (const tenant of [fresh, unversioned, old]) {
      expect(await charge(tenant, 1)).toEqual({ credits: 1 });
      expect(await versionOf(gateOf(tenant.tenantId))).toEqual({ version: 4 });
      expect(await tablesOf(tenant)).toEqual(await tablesOf(fresh));
    }
  });

  it("of a later release work if it says so, and are refused with its version otherwise", async () => {
    const tenant = await createTenant();
    const gate = () => gateOf(tenant.tenantId);
    await charge(tenant, 1);
    await runInDurableObject(gate(), (_, { storage }) => {
      storage.sql.exec("alter table months add column export_calls integer not null default 0");
      storage.sql.exec("alter table windows add column burst integer not null default 0");
      storage.sql.exec("alter table reservations add column scope text");
      storage.sql.exec("update tables_version set version = 9, readable_from = 4");
    });
    await evictDurableObject(gate());
    expect(await charge(tenant, 1)).toEqual({ credits: 1 });
    expect(await versionOf(gate())).toEqual({ version: 9 });
    await runInDurableObject(gate(), (_, { storage }) => {
      storage.sql.exec("update tables_version set readable_from = 5");
      expect(() => openTables(storage, TENANT_GATE_TABLES)).toThrow(
        "the tables of this TenantGate have version 9; this release reads them up to version 4. Deploy the later release again.",
      );
    });
  });

  it("stay as they were if an upgrade fails", async () => {
    const tenant = await createTenant();
    await rewrite(gateOf(tenant.tenantId), GATE_3);
    await runInDurableObject(gateOf(tenant.tenantId), (_, { storage }) => {
      const broken: ObjectTables = {
        ...TENANT_GATE_TABLES,
        upgrades: [...TENANT_GATE_TABLES.upgrades, "create table added (a); insert into nowhere values (1);"],
      };
      expect(() => openTables(storage, broken)).toThrow("nowhere");
      expect(storage.sql.exec("select 1 from sqlite_master where name = 'added'").toArray()).toEqual([]);
      expect(storage.sql.exec("select version from tables_version").one()).toEqual({ version: 4 });
    });
  });

  it("of 9c086fb keep their open reservations, which count against no budget of a credential", async () => {
    stopClock(NOON);
    const tenant = await createTenant(20);
    const gate = () => gateOf(tenant.tenantId);
    await rewrite(
      gate(),
      `${GATE_3}create table tables_version (version integer not null, readable_from integer not null);`,
      ["insert into tables_version values (3, 3)"],
      ["insert into meta values ('tenant', ?)", tenant.tenantId],
      ["insert into months values ('2026-11', 9, 9, 1, 12, 9000, 3000, 50, 1, 2, 3, 4, 5)"],
      ["insert into reservations values ('open', ?, '2026-11', 3, ?, null)", tenant.credential.id, NOON + 60_000],
    );
    expect(await admitTo(tenant.tenantId, tenant.request(6))).toMatchObject({ outcome: "quota_exceeded", used: 15 });
    expect(await gate().settle("open", { outcome: "charged", kind: "embed", tokens: 2_500 })).toEqual({ credits: 3 });
    expect(await gate().usage()).toMatchObject({ used: 15, embedTokens: 11_500 });
    expect(await versionOf(gate())).toEqual({ version: 4 });
  });
});

it("the tables of a rate bucket without a version keep their windows", async () => {
  stopClock(NOON);
  const bucket = () => rateBucket("upgraded");
  const windows = GATE_3.slice(GATE_3.indexOf("create table windows"), GATE_3.indexOf("create table months"));
  await rewrite(bucket(), windows, [
    "insert into windows values ('sign_in_email', ?, ?, 4, 0, null, null, null, 0)",
    Math.floor(NOON / 600_000) * 600_000,
    NOON + 600_000,
  ]);
  expect(await bucket().take("sign_in_email")).toMatchObject({ allowed: true, rate: { remaining: 0 } });
  expect(await bucket().take("sign_in_email")).toMatchObject({ allowed: false });
  expect(await versionOf(bucket())).toEqual({ version: 1 });
});

describe("the tables of a run coordinator", () => {
  it.each([
    ["the first commits", RUNS_1, 1],
    ["4d22081", RUNS_2, 2],
    ["cab1f13", RUNS_3, 3],
  ])("of %s keep their runs, which go on", async (_, tables, from) => {
    const [ended, waiting] = [await newSpec(), await newSpec()];
    // Fields that version 1 did not have.
    const { unsent, failures, lostAttempts, held, ...first } = newRun(waiting);
    const record = from === 1 ? { ...first, work: { embedded: 0, embedMs: 0, tokens: 0 } } : newRun(waiting);
    const insert = "insert into runs (run_id, ended, record) values (?, ?, ?)";
    const done = { ...newRun(ended), state: "succeeded", phase: "done", endedAt: 1_000, recorded: true };
    await rewrite(
      stub(),
      tables,
      [insert, ended.runId, 1_000, JSON.stringify(done)],
      [insert, waiting.runId, 0, JSON.stringify(record)],
    );
    expect({ unsent, failures, lostAttempts, held }).toBeDefined();
    expect(await coordinator().status(ended.runId)).toMatchObject({ state: "succeeded" });
    await runDurableObjectAlarm(stub());
    await expect.poll(() => sent(waiting.runId, "plan")).toHaveLength(1);
    expect(await worker().claim(waiting.runId, 1, "pulling")).toMatchObject({ spec: { runId: waiting.runId } });
    await worker().shardStaged(waiting.runId, 1, 0);
    await expect.poll(() => sent(waiting.runId, "shard")).toHaveLength(1);
    expect(await versionOf(stub())).toEqual({ version: 3 });
    await coordinator().cancel(waiting.runId);
  });

  it("are there again after an erasure", async () => {
    await coordinator().erase();
    expect(await coordinator().unfinished()).toEqual([]);
    expect(await versionOf(stub())).toEqual({ version: 3 });
  });
});

it("the line of a tenant's runs without a version keeps its slots", async () => {
  const line = env.TENANT_RUNS.get(env.TENANT_RUNS.idFromName(crypto.randomUUID()));
  const insert = "insert into line (run_id, workspace_id, granted) values (?, ?, 1)";
  await rewrite(
    line,
    "create table line (position integer primary key autoincrement, run_id text unique, workspace_id text, granted integer);",
    ...["a", "b", "c", "d"].map((run): [string, string, string] => [insert, run, workspaceId]),
  );
  expect(await line.request("e", workspaceId)).toBe(false);
  expect(await versionOf(line)).toEqual({ version: 1 });
});

it("the health monitor of a release without a version keeps its counts", async () => {
  const monitor = env.HEALTH_MONITOR.get(env.HEALTH_MONITOR.idFromName(crypto.randomUUID()));
  await runInDurableObject(monitor, async (_, { storage }) => {
    await storage.deleteAll();
    await storage.put("counts", { requests: { "GET /x 200 -": 2 }, latencies: {} });
  });
  await evictDurableObject(monitor);
  await monitor.record({ requests: { "GET /x 200 -": 1 }, latencies: {} });
  expect((await monitor.counts()).requests).toEqual({ "GET /x 200 -": 3 });
  expect(await versionOf(monitor)).toEqual({ version: 1 });
});
