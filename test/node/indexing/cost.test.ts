/** The cost of a run and of the sweep follows the change: no statement of theirs reads a large table from end to end. */
import { type SQL, sql } from "drizzle-orm";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Db, openDb } from "../../../src/db/client.ts";
import { rowsOf } from "../../../src/db/rows.ts";
import { filesAfter } from "../../../src/indexing/revision-files.ts";
import {
  changeOfTotals,
  discardLeftovers,
  nextSeq,
  recordUnchanged,
  switchTo,
  trimRefs,
  writeChanges,
} from "../../../src/indexing/revision-writes.ts";
import { NO_TOTALS } from "../../../src/indexing/run-result.ts";
import {
  claimVectors,
  findBlobs,
  findContents,
  findUnembedded,
  unembeddedChunks,
  writeBlobs,
} from "../../../src/indexing/store.ts";
import { statements } from "../../../src/indexing/sweep.ts";
import { type RunningDatabase, startDatabase } from "../../../src/local/database/database.ts";

const FILES = 50_000;
const TENANT = crypto.randomUUID();
const WORKSPACE = crypto.randomUUID();
const OTHER = crypto.randomUUID();
const RUN = crypto.randomUUID();

let database: RunningDatabase;
let db: Db;

beforeAll(async () => {
  database = await startDatabase();
  db = openDb(database.url);
  const id = sql.raw("md5(n::text)::uuid");
  const hash = sql.raw("sha256(n::text::bytea)");
  await db.execute(sql`insert into tenants (id, name) values (${TENANT}, 'cost')`);
  await db.execute(sql`insert into workspaces (id, tenant_id) values (${WORKSPACE}, ${TENANT}), (${OTHER}, ${TENANT})`);
  await db.execute(sql`insert into contents (id, tenant_id, sha256, language, parser_version, size_bytes, line_count, symbol_count, chunk_count, redacted_count, outcome)
    select ${id}, ${TENANT}, ${hash}, 'go', 1, 9, 1, 1, 1, 0, 'syntax' from generate_series(1, ${FILES}) n`);
  await db.execute(sql`insert into chunks (content_id, ordinal, hash, context, text, start_line, end_line, start_byte, end_byte, withheld)
    select ${id}, 0, ${hash}, '', 'x', 1, 1, 0, 1, false from generate_series(1, ${FILES}) n`);
  await db.execute(
    sql`insert into vectors (tenant_id, fingerprint, chunk_hash, vector) select ${TENANT}, 'f', ${hash}, '' from generate_series(1, ${FILES}) n`,
  );
  await db.execute(
    sql`insert into git_blobs (tenant_id, oid, sha256, size_bytes, parser_version) select ${TENANT}, substring(${hash} for 20), ${hash}, 9, 1 from generate_series(1, ${FILES}) n`,
  );
  await db.execute(sql`insert into revisions (workspace_id, seq, run_id, git_sha, root_tree, plan_key, fingerprint, dimension, file_count, symbol_count, chunk_count, stats)
    select ${WORKSPACE}, n, gen_random_uuid(), 'c' || n, 't', 'p', 'f', 1, 1, 1, 1, '{}' from generate_series(1, 20) n`);
  await db.execute(sql`update workspaces set current_seq = 20 where id = ${WORKSPACE}`);
  await db.execute(sql`insert into revision_files (workspace_id, path, from_seq, to_seq, content_id, git_oid, mode)
    select ${WORKSPACE}, 'src/' || n || '.go', 1 + n % 20, case when n % 100 = 0 then 21 + n / 5000 end, ${id}, '', 33188 from generate_series(1, ${FILES}) n`);
  await db.execute(
    sql`insert into revision_overlays (workspace_id, seq, path) select case when n > 1000 then ${OTHER}::uuid else ${WORKSPACE}::uuid end, 2 + n % 10, 'src/' || n || '.go' from generate_series(1, ${FILES}) n`,
  );
  await db.execute(sql`insert into audit_events (id, tenant_id, at, event, actor, dedupe_key, details)
    select ${id}, ${TENANT}, now(), 'X', 'a', n::text, '{}' from generate_series(1, ${FILES}) n`);
  await db.execute(sql`insert into runs (id, tenant_id, workspace_id, kind, state, request, finished_at)
    select ${id}, ${TENANT}, ${WORKSPACE}, 'index', 'succeeded', '{}', now() from generate_series(1, ${FILES}) n`);
  await db.execute(sql`analyze`);
});
afterAll(async () => {
  await database.close();
});

/** The statements that a call would send; nothing is done. */
async function statementsOf(call: (fake: Db) => Promise<unknown>): Promise<SQL[]> {
  const seen: SQL[] = [];
  const fake = {
    execute: async (statement: SQL) => {
      seen.push(statement);
      return { rows: [] };
    },
    batch: async (batch: Promise<unknown>[]) => Promise.all(batch),
  };
  await call(fake as unknown as Db);
  return seen;
}

const hashes = Array.from({ length: 20 }, (_, i) => String(i).padStart(64, "0"));
const ids = Array.from({ length: 20 }, () => crypto.randomUUID());
const changes = {
  puts: ids.map((contentId, i) => ({ path: `src/${i}.go`, oid: "00".repeat(20), mode: 33188, contentId })),
  deletes: ["src/77.go"],
};
const target = { workspaceId: WORKSPACE, seq: 21, baseSeq: 20, current: true };
const aside = { ...target, current: false };
const revision = {
  runId: RUN,
  gitSha: "c",
  rootTree: "t",
  planKey: "p",
  fingerprint: "f",
  dimension: 1,
  totals: NO_TOTALS,
  stats: {},
  defaultBranch: "main",
  ref: "refs/heads/main",
  result: {},
  table: { table: "t", segments: ["s"], vectors: null },
};
const line = { workspaceId: WORKSPACE, seq: 20, baseSeq: null };

it.each<[string, (fake: Db) => Promise<unknown>]>([
  ["nextSeq", (fake) => nextSeq(fake, WORKSPACE)],
  ["discardLeftovers", (fake) => discardLeftovers(fake, target)],
  ["writeChanges", (fake) => writeChanges(fake, target, changes)],
  ["writeChanges beside", (fake) => writeChanges(fake, aside, changes)],
  ["changeOfTotals", (fake) => changeOfTotals(fake, target)],
  ["changeOfTotals beside", (fake) => changeOfTotals(fake, aside)],
  ["switchTo", (fake) => switchTo(fake, target, revision)],
  ["recordUnchanged", (fake) => recordUnchanged(fake, line, { ...revision, kind: "index" })],
  ["trimRefs", (fake) => trimRefs(fake, WORKSPACE, 64)],
  ["findBlobs", (fake) => findBlobs(fake, TENANT, ["00".repeat(20)])],
  [
    "writeBlobs",
    (fake) => writeBlobs(fake, TENANT, [{ oid: "00", sha256: "00", sizeBytes: 1, skip: null, interpreter: null }]),
  ],
  ["findContents", (fake) => findContents(fake, ids)],
  ["findUnembedded", (fake) => findUnembedded(fake, TENANT, "f", ids)],
  ["unembeddedChunks", (fake) => unembeddedChunks(fake, TENANT, "f", ids)],
  ["claimVectors", (fake) => claimVectors(fake, TENANT, "f", hashes)],
  ["a page of the files", (fake) => rowsOf(fake, sql`select path from ${filesAfter(line, "src/3", 500)} f`)],
  [
    "a page of the files beside",
    (fake) => rowsOf(fake, sql`select path from ${filesAfter({ ...line, seq: 7, baseSeq: 20 }, "src/3", 500)} f`),
  ],
  ["sweep revisions", (fake) => rowsOf(fake, statements.revisions(WORKSPACE))],
  ["sweep files", (fake) => rowsOf(fake, statements.files(WORKSPACE))],
  ["sweep contents", (fake) => rowsOf(fake, statements.contents(crypto.randomUUID()))],
  ["sweep vectors", (fake) => rowsOf(fake, statements.vectors({ first: "80", last: "81" }))],
  ["sweep blobs", (fake) => rowsOf(fake, statements.blobs())],
  ["sweep runs", (fake) => rowsOf(fake, statements.runs())],
  ["sweep audit events", (fake) => rowsOf(fake, statements.auditEvents())],
])("%s reads no large table from end to end", async (_name, call) => {
  const large =
    /Seq Scan on (?:revision_files|revision_overlays|contents|chunks|vectors|git_blobs|runs|audit_events)\b/;
  for (const statement of await statementsOf(call)) {
    const plan = await rowsOf<Record<string, string>>(db, sql`explain ${statement}`);
    expect(plan.map((row) => row["QUERY PLAN"]).filter((text) => large.test(text ?? ""))).toEqual([]);
  }
});
