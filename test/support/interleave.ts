/**
 * Interleavings on a real server: operations of one tenant run at the same time while a session of the test holds a row in which they
 * have to wait. Afterwards no row may be lost or orphaned.
 */
import { sql } from "drizzle-orm";
import { Client } from "pg";
import { disconnectRepository } from "../../src/service/sources/sources.ts";
import { type Db, openDb } from "../../src/service/db/client.ts";
import { PG_FOREIGN_KEY_VIOLATION, pgErrorCode } from "../../src/service/db/errors.ts";
import { rowsOf } from "../../src/service/db/rows.ts";
import { contentId, sha256Hex } from "../../src/service/indexing/ids.ts";
import {
  discardLeftovers,
  nextSeq,
  switchTo,
  type PendingRevision,
  writeChanges,
} from "../../src/service/indexing/revision-writes.ts";
import { NO_TOTALS } from "../../src/service/indexing/result.ts";
import {
  claimVectors,
  findContents,
  findUnembedded,
  writeContents,
  writeVectors,
} from "../../src/service/indexing/store.ts";
import { classifyFailure } from "../../src/service/indexing/steps.ts";
import { sweepIndex } from "../../src/service/indexing/sweep.ts";
import { eraseTenant } from "../../src/service/tenancy/erase.ts";
import { TenancyError } from "../../src/service/tenancy/errors.ts";
import { MemoryBucket } from "./pipeline.ts";
import type { ServedDatabase } from "./postgres-server.ts";

const FINGERPRINT = "f";
const FILES = 10;
const CHUNKS = 3;
const RUN_TRIES = 8;

const hex = (text: string) => sha256Hex(new TextEncoder().encode(text));
const bytesOf = (hash: string) => ({ hash, bytes: new Uint8Array([1, 2]) });
/** A tenant with old contents and vectors, which a sweep removes unless a run uses them. */
export class Scene {
  readonly tenantId = crypto.randomUUID();
  readonly workspaceId = crypto.randomUUID();
  readonly db: Db;
  readonly contents = Array.from({ length: FILES }, (_, n) => {
    const sha256 = hex(`content ${n}`);
    const hashes = Array.from({ length: CHUNKS }, (_chunk, ordinal) => hex(`chunk ${n} ${ordinal}`));
    return { id: contentId(this.tenantId, sha256, "go"), sha256, hashes };
  });

  constructor(db: Db) {
    this.db = db;
  }

  async prepare(): Promise<this> {
    const { db, tenantId, workspaceId } = this;
    await db.execute(sql`insert into tenants (id, name) values (${tenantId}, 't')`);
    await db.execute(
      sql`insert into workspaces (id, tenant_id, repo) values (${workspaceId}, ${tenantId}, ${workspaceId})`,
    );
    await this.write(this.contents);
    await db.batch([
      db.execute(sql`update contents set created_at = now() - interval '3 days' where tenant_id = ${tenantId}`),
      db.execute(sql`update vectors set used_on = current_date - 5 where tenant_id = ${tenantId}`),
    ]);
    return this;
  }

  /** What a shard writes: claimed vectors are kept, the others are made. */
  async write(contents: readonly Scene["contents"][number][]): Promise<void> {
    const { db, tenantId } = this;
    const hashes = contents.flatMap((content) => content.hashes);
    const known = await claimVectors(db, tenantId, FINGERPRINT, hashes);
    const parsed = contents.map(({ id, sha256, hashes: own }) => ({
      id,
      sha256,
      language: "go",
      sizeBytes: 9,
      parsed: {
        outcome: "syntax" as const,
        fallbackReason: null,
        lineCount: 9,
        symbols: [],
        chunks: own.map((hash, at) => ({
          hash,
          context: "",
          text: "x",
          symbol: null,
          startLine: at + 1,
          endLine: at + 1,
          startByte: at,
          endByte: at + 1,
          withheld: false,
        })),
      },
    }));
    const missing = hashes.filter((hash) => !known.has(hash)).map(bytesOf);
    await writeContents(db, tenantId, FINGERPRINT, parsed as unknown as Parameters<typeof writeContents>[3], missing);
  }

  async newRun(): Promise<string> {
    const runId = crypto.randomUUID();
    await this.db.execute(
      sql`insert into runs (id, tenant_id, workspace_id, kind, state, request) values (${runId}, ${this.tenantId}, ${this.workspaceId}, 'index', 'running', '{}')`,
    );
    return runId;
  }

  /** An index run of some of the contents, planned again where the real one is. Returns whether it has switched. */
  async run(runId: string, contents: readonly Scene["contents"][number][]): Promise<boolean> {
    for (let attempt = 1; attempt <= RUN_TRIES; attempt++) {
      try {
        const outcome = await this.#attempt(runId, contents);
        if (outcome !== "again") return outcome;
      } catch (error) {
        if (classifyFailure(error, "finish").action !== "restart") throw error;
        // The tenant or the workspace is gone, a sweep has removed a content since the plan, or another attempt writes the same rows.
        const [row] = await rowsOf(
          this.db,
          sql`select 1 from runs where id = ${runId} and state in ('queued', 'running')`,
        );
        if (!row) return false;
      }
    }
    throw new Error("the run found no end");
  }

  async #attempt(runId: string, contents: readonly Scene["contents"][number][]): Promise<boolean | "again"> {
    const { db, tenantId, workspaceId } = this;
    const [workspace] = await rowsOf<{ current_seq: number | null }>(
      db,
      sql`select current_seq from workspaces where id = ${workspaceId}`,
    );
    if (!workspace) return false;
    const ids = contents.map(({ id }) => id);
    const found = await findContents(db, ids);
    const lacking = new Set(await findUnembedded(db, tenantId, FINGERPRINT, [...found]));
    await this.write(contents.filter(({ id }) => !found.has(id)));
    const vectors = contents.filter(({ id }) => lacking.has(id)).flatMap(({ hashes }) => hashes.map(bytesOf));
    await writeVectors(db, tenantId, FINGERPRINT, vectors);
    const seq = await nextSeq(db, workspaceId);
    const target = { workspaceId, seq, baseSeq: workspace.current_seq, current: true };
    await discardLeftovers(db, target);
    const open = await rowsOf<{ path: string }>(
      db,
      sql`select path from revision_files where workspace_id = ${workspaceId} and to_seq is null`,
    );
    const puts = ids.map((id) => ({ path: id, contentId: id, oid: "00", mode: 33_188 }));
    const deletes = open.map(({ path }) => path).filter((path) => !ids.includes(path));
    await writeChanges(db, target, { puts, deletes });
    const [written] = await rowsOf<{ n: number }>(
      db,
      sql`select count(*)::int as n from revision_files where workspace_id = ${workspaceId} and from_seq = ${seq}`,
    );
    if (written?.n !== puts.length) return this.#outcome(runId);
    return (await this.switchTo(runId, target, puts.length)) || this.#outcome(runId);
  }

  /** The statement that ends a run. */
  switchTo(runId: string, target: PendingRevision, files = 0): Promise<boolean> {
    return switchTo(this.db, target, {
      runId,
      gitSha: String(target.seq),
      rootTree: "t",
      planKey: "p",
      fingerprint: FINGERPRINT,
      dimension: 1,
      totals: { ...NO_TOTALS, files },
      stats: {},
      defaultBranch: null,
      ref: "refs/heads/main",
      result: {},
      texts: { list: "l", packs: [], searchedOnly: 0 },
      table: { table: "t", segments: [], vectors: null },
    });
  }

  async #outcome(runId: string): Promise<boolean | "again"> {
    const [row] = await rowsOf<{ state: string }>(this.db, sql`select state from runs where id = ${runId}`);
    return row?.state === "succeeded" || (row?.state === "running" ? "again" : false);
  }

  /** Rows that are lost or orphaned; empty if all is well. */
  async faults(): Promise<string[]> {
    const { tenantId, workspaceId } = this;
    const [row] = await rowsOf<Record<string, number>>(
      this.db,
      sql`with files as (
            select f.content_id from workspaces w join revision_files f on f.workspace_id = w.id
            where w.id = ${workspaceId} and f.from_seq <= w.current_seq and (f.to_seq is null or f.to_seq > w.current_seq))
          select
            (select count(*) from workspaces w where w.id = ${workspaceId} and w.current_seq is not null and (select count(*) from files) is distinct from
              (select file_count from revisions r where r.workspace_id = w.id and r.seq = w.current_seq))::int as "files of the revision",
            (select count(*) from files f join contents c on c.id = f.content_id
              where c.chunk_count <> (select count(*) from chunks k where k.content_id = c.id))::int as "chunks of contents",
            (select count(*) from files f join chunks k on k.content_id = f.content_id where not exists (
              select 1 from vectors v where v.tenant_id = ${tenantId} and v.fingerprint = ${FINGERPRINT} and v.chunk_hash = k.hash))::int as "vectors of chunks",
            (select count(*) from runs r where r.workspace_id = ${workspaceId} and (r.state = 'succeeded') <> exists (
              select 1 from revisions v where v.run_id = r.id))::int as "revisions of runs",
            (select count(*) from revision_overlays o where not exists (select 1 from revisions r where r.workspace_id = o.workspace_id and r.seq = o.seq))::int
              as "overlays"`,
    );
    return Object.entries(row ?? {}).flatMap(([name, count]) => (count === 0 ? [] : [`${count} wrong: ${name}`]));
  }

  /** Rows that an erasure has left. */
  async left(): Promise<number> {
    const tables = ["contents", "vectors", "git_blobs", "workspaces", "runs", "audit_events", "tenants"];
    const counts = tables.map((table) => {
      const key = table === "tenants" ? "id" : "tenant_id";
      return sql`(select count(*) from ${sql.raw(table)} where ${sql.raw(key)} = ${this.tenantId})`;
    });
    const [row] = await rowsOf<{ n: number }>(this.db, sql`select (${sql.join(counts, sql` + `)})::int as n`);
    return row?.n ?? -1;
  }
}

/** A session of the test, which makes others wait. */
export async function holderOf(url: string): Promise<Client> {
  const client = new Client(url);
  await client.connect();
  return client;
}

/** Resolves when a session waits for a lock, or after a moment in which none does. */
export async function untilBlocked(client: Client): Promise<void> {
  for (let tries = 0; tries < 20; tries++) {
    const { rows } = await client.query("select 1 from pg_locks where not granted limit 1");
    if (rows.length > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** Rows that the holder may lock. */
const LOCKS = (scene: Scene, runId: string, at: number): string[] => [
  `select 1 from contents where id = '${scene.contents[at]?.id}' for update`,
  `select 1 from contents where id = '${scene.contents[at]?.id}' for key share`,
  `select 1 from vectors where tenant_id = '${scene.tenantId}' and chunk_hash = '\\x${scene.contents[at]?.hashes[0]}' for update`,
  `select 1 from workspaces where id = '${scene.workspaceId}' for update`,
  `select 1 from runs where id = '${runId}' for update`,
  `select 1 from tenants where id = '${scene.tenantId}' for update`,
  `select 1 from revision_files where workspace_id = '${scene.workspaceId}' limit 3 for update`,
  `select 1 from revisions where workspace_id = '${scene.workspaceId}' for key share`,
];

/**
 * One round: two to four operations in a random order, of which some have to wait. Returns what went wrong. The tenant is erased at the
 * end, whether an operation of the round did so or not.
 */
export async function interleave(database: ServedDatabase, holder: Client, random: () => number): Promise<string[]> {
  const scene = await new Scene(openDb(database.neonUrl)).prepare();
  const { db, tenantId, workspaceId } = scene;
  const some = () => scene.contents.filter(() => random() < 0.5);
  const faults: string[] = [];
  if (random() < 0.7) await scene.run(await scene.newRun(), some());
  const runId = await scene.newRun();
  const operations: [name: string, run: () => Promise<unknown>][] = [
    ["run", () => scene.run(runId, some())],
    ["second run", async () => scene.run(await scene.newRun(), some())],
    ["sweep", () => sweepIndex(db, new MemoryBucket(), Date.now())],
    ["shard", () => scene.write(some())],
    ["erase", () => eraseTenant(db, tenantId)],
    ["disconnect", () => disconnectRepository(db, { tenantId, workspaceId, actor: "test" })],
    ["second sweep", () => sweepIndex(db, new MemoryBucket(), Date.now())],
  ];
  const chosen = operations
    .map((operation) => ({ operation, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .slice(0, 2 + Math.floor(random() * 3))
    .map(({ operation }) => operation);
  const locks = LOCKS(scene, runId, Math.floor(random() * FILES));
  const lock = locks[Math.floor(random() * locks.length)] ?? "";
  await holder.query(`begin; ${lock}`);
  const going = chosen.map(async ([name, run]) => {
    await run().catch((error: unknown) => {
      // Of operations that come after the end of their tenant or workspace.
      const isGone = pgErrorCode(error) === PG_FOREIGN_KEY_VIOLATION || error instanceof TenancyError;
      const ended = chosen.some(([other]) => other === "erase" || other === "disconnect");
      if (!isGone || !ended || name === "erase" || name.includes("sweep"))
        faults.push(`${name}: ${pgErrorCode(error)} ${String((error as Error).cause ?? error)}`);
    });
  });
  await untilBlocked(holder);
  await holder.query("commit");
  await Promise.all(going);
  faults.push(...(await scene.faults()));
  if (chosen.some(([name]) => name === "erase")) {
    const left = await scene.left();
    if (left > 0) faults.push(`${left} rows left after the erasure`);
  } else await eraseTenant(db, tenantId);
  return faults.map((fault) => `${chosen.map(([name]) => name).join(", ")} | ${lock.slice(0, 60)} | ${fault}`);
}
