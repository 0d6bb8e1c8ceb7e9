/** Sweeps, erasures and runs beside one another, on a server with many sessions. */
import { sql } from "drizzle-orm";
import type { Client } from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { disconnectRepository } from "../../../src/service/sources/sources.ts";
import { type Db, openDb } from "../../../src/service/db/client.ts";
import { rowsOf } from "../../../src/service/db/rows.ts";
import { sweepIndex } from "../../../src/service/indexing/sweep.ts";
import { eraseTenant } from "../../../src/service/tenancy/erase.ts";
import { seededFractions } from "../../support/numbers.ts";
import { holderOf, interleave, Scene, untilBlocked } from "../../support/interleave.ts";
import { MemoryBucket } from "../../support/pipeline.ts";
import {
  type PostgresServer,
  servePostgres,
  type ServedDatabase,
  startPostgres,
} from "../../support/postgres-server.ts";

/** `INTERLEAVINGS=1000` for the long test. */
const ROUNDS = Number(process.env["INTERLEAVINGS"] ?? 40);

let server: PostgresServer;
let database: ServedDatabase;
let db: Db;
let holder: Client;
beforeAll(async () => {
  server = await startPostgres();
  database = await servePostgres(server);
  db = openDb(database.neonUrl);
  holder = await holderOf(database.url);
});
afterAll(async () => {
  await holder?.end();
  await database?.close();
  await server?.close();
});

const deadlocks = async () => {
  const { rows } = await holder.query(
    "select deadlocks::int as n from pg_stat_database where datname = current_database()",
  );
  return (rows[0] as { n: number }).n;
};

it("erases a tenant whose run has just referred to a content", async () => {
  const scene = await new Scene(db).prepare();
  const [content] = scene.contents;
  await holder.query(
    `begin; insert into revision_files (workspace_id, path, from_seq, content_id, git_oid, mode) values ('${scene.workspaceId}', 'a', 1, '${content?.id}', '', 33188)`,
  );
  const erased = eraseTenant(db, scene.tenantId);
  await untilBlocked(holder);
  await holder.query("commit");
  expect(await erased).toBe(true);
  expect(await scene.left()).toBe(0);
});

it("sweeps beside a run that has just referred to a content, and leaves it", async () => {
  const scene = await new Scene(db).prepare();
  const [content, ...others] = scene.contents;
  await holder.query(
    `begin; insert into revision_files (workspace_id, path, from_seq, content_id, git_oid, mode) values ('${scene.workspaceId}', 'a', 1, '${content?.id}', '', 33188)`,
  );
  const swept = sweepIndex(db, new MemoryBucket(), Date.now());
  await untilBlocked(holder);
  await holder.query("commit");
  expect(await swept).toMatchObject({ contents: others.length });
  expect(await scene.faults()).toEqual([]);
  await eraseTenant(db, scene.tenantId);
});

it.each(["erase", "disconnect"] as const)("does not deadlock: %s against a switch", async (what) => {
  const scene = await new Scene(db).prepare();
  const { tenantId, workspaceId } = scene;
  const runs = [await scene.newRun(), await scene.newRun()].toSorted();
  const before = await deadlocks();
  await holder.query(`begin; select 1 from runs where id = '${runs[0]}' for update`);
  const gone =
    what === "erase" ? eraseTenant(db, tenantId) : disconnectRepository(db, { tenantId, workspaceId, actor: "test" });
  await untilBlocked(holder);
  const switched = scene.switchTo(runs[1] ?? "", { workspaceId, seq: 1, baseSeq: null, current: true });
  await untilBlocked(holder);
  await holder.query("commit");
  await gone;
  // The workspace goes, or the run comes first; either way neither is a deadlock's victim.
  expect(typeof (await switched)).toBe("boolean");
  expect(await deadlocks()).toBe(before);
  if (what === "disconnect") await eraseTenant(db, tenantId);
  expect(await scene.left()).toBe(0);
});

it("repeats a transaction that was the victim of a deadlock", async () => {
  const [one, two] = [await new Scene(db).prepare(), await new Scene(db).prepare()];
  const touch = (scene: Scene) => db.execute(sql`update tenants set name = name || '+' where id = ${scene.tenantId}`);
  const before = await deadlocks();
  await holder.query(
    `begin; select 1 from workspaces where tenant_id in ('${one.tenantId}', '${two.tenantId}') for update`,
  );
  const waits = (scene: Scene) => db.execute(sql`select 1 from workspaces where id = ${scene.workspaceId} for update`);
  const both = Promise.all([
    db.batch([touch(one), waits(one), touch(two)]),
    db.batch([touch(two), waits(two), touch(one)]),
  ]);
  await untilBlocked(holder);
  await new Promise((resolve) => setTimeout(resolve, 50));
  await holder.query("commit");
  await both;
  expect(await deadlocks()).toBeGreaterThan(before);
  const names = await rowsOf<{ name: string }>(
    db,
    sql`select name from tenants where id in (${one.tenantId}, ${two.tenantId})`,
  );
  expect(names.map(({ name }) => name)).toEqual(["t++", "t++"]);
  for (const { tenantId } of [one, two]) await eraseTenant(db, tenantId);
});

it(`loses and orphans no row in ${ROUNDS} interleavings`, { timeout: 60_000 + ROUNDS * 2_000 }, async () => {
  const random = seededFractions(27);
  const faults: string[] = [];
  for (let round = 0; round < ROUNDS; round++) faults.push(...(await interleave(database, holder, random)));
  expect(faults).toEqual([]);
});
