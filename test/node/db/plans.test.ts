/**
 * The cost of a statement follows what it returns, however large the tables are and whatever the planner knows of the tenant: each
 * statement of the real code is explained on tables of 10⁵ rows, for a tenant that the statistics know and for one that they do not.
 */
import { neonConfig } from "@neondatabase/serverless";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { regexModule } from "../../../src/cli/exact/regex-module.ts";
import { startDatabase } from "../../../src/tooling/local/database/database.ts";
import { search } from "../../support/ask-hosted.ts";
import { type GitBackend, startGitBackend } from "../../support/git-backend.ts";
import { GitRepo } from "../../support/git-repo.ts";
import { fillLarge, type LargeTenant, type Statistics } from "../../support/large-database.ts";
import { Pipeline } from "../../support/pipeline.ts";
import { PlanWatcher, statementSites } from "../../support/plans.ts";
import { servePostgres, startPostgres } from "../../support/postgres-server.ts";
import type { Embedder } from "../../../src/engines/embedding/index.ts";
import { HostedIndex } from "../../../src/service/hosted-index/hosted-index.ts";
import { repairRevision } from "../../../src/service/hosted-index/repair.ts";
import { findRevision, revisionSource } from "../../../src/service/snapshots/revision.ts";
import { SearchCache } from "../../../src/service/hosted-index/cache.ts";
import { SearchRequest } from "../../../src/contract/search.ts";
import { CASES } from "./plan-cases.ts";
import { CHANGES } from "./plan-cases-changes.ts";
import { GITHUB } from "./plan-cases-github.ts";
import { sharedParser } from "../parsing/support.ts";
import { REQUESTS } from "./plan-cases-requests.ts";

const DATABASES: [string, Statistics, () => Promise<{ url: string; close(): Promise<void> }>][] = [
  ["the embedded database", "early", startDatabase],
  [
    "a PostgreSQL server",
    "later",
    async () => {
      const server = await startPostgres();
      const served = await servePostgres(server);
      const close = async () => {
        await served.close();
        await server.close();
      };
      return { url: served.neonUrl, close };
    },
  ],
];

/** Where statements of requests and of the daily job are. */
const FOLDERS = ["src/service", "src/workers"];
/** Numbers of statements without a case: all read or write single rows by a key, or by a page of ids. A further one needs a case. */
const ELSEWHERE: Record<string, number> = {
  "src/service/sources/sources.ts": 1,
  "src/workers/indexer/snapshot-run.ts": 1,
  "src/service/indexing/blob-sink.ts": 1,
  "src/service/indexing/changes.ts": 1,
  "src/service/indexing/finish.ts": 2,
  "src/service/indexing/plan.ts": 2,
  "src/service/runs/outbox.ts": 2,
  "src/service/runs/start.ts": 1,
  "src/service/db/rows.ts": 2,
  "src/service/indexing/sweep.ts": 1,
  "src/service/hosted-index/repair.ts": 1,
  "src/service/hosted-index/whole-texts/repair.ts": 3,
  "src/service/hosted-index/whole-texts/sweep.ts": 4,
  "src/service/snapshots/build.ts": 2,
  "src/service/snapshots/sweep.ts": 2,
  // The code that the landing page shows; it is never run there.
  "src/workers/site/landing.ts": 1,
};

const MODEL: Embedder = {
  isModel: true,
  fingerprint: "plans",
  dimension: 4,
  probeDimension: async () => 4,
  embed: async (inputs) => ({
    vectors: inputs.map((text) => new Float32Array([1, text.length % 7, -1, 2])),
    tokens: inputs.length,
  }),
};

/** Rows that a statement may look at unless its case says otherwise. */
const ROWS = 2_000;
/** More is a list or a page of the daily job. With statistics of nearly empty tables such a statement may read a table once. */
const SINGLE = 5_000;
const ONE_PASS = 150_000;
const LONG_MS = 600_000;

const send: unknown = neonConfig.fetchFunction;
// Later files of this process use the driver as well.
afterAll(() => expect(neonConfig.fetchFunction).toBe(send));

describe.each(DATABASES)("statements on %s with %s statistics", (_name, statistics, start) => {
  let database: { url: string; close(): Promise<void> };
  let watcher: PlanWatcher;
  let tenants: [LargeTenant, LargeTenant];
  let git: GitBackend;
  let repo: GitRepo;

  beforeAll(async () => {
    database = await start();
    tenants = await fillLarge(database.url, statistics);
    watcher = await PlanWatcher.open(database.url);
    repo = new GitRepo();
    git = await startGitBackend(repo.root);
  }, LONG_MS);
  afterAll(async () => {
    watcher?.[Symbol.dispose]();
    await git?.close();
    repo?.remove();
    await database?.close();
  });

  async function expectCheap(call: Parameters<PlanWatcher["during"]>[0], usual = ROWS): Promise<void> {
    const rows = statistics === "early" && usual > SINGLE ? Math.max(usual, ONE_PASS) : usual;
    const seen = await watcher.during(call);
    expect(seen).not.toEqual([]);
    expect(seen.filter((one) => one.rows > rows)).toEqual([]);
  }

  describe.each([0, 1] as const)("of tenant %i", (which) => {
    it.each([...CASES, ...REQUESTS, ...GITHUB, ...CHANGES].map(([name, call, rows]) => ({ name, call, rows })))(
      "$name",
      ({ call, rows }) => expectCheap((db) => call(db, tenants[which]), rows),
    );
  });

  it("of an index run, a push, a search, a snapshot and a repair of a new tenant", async () => {
    const pipeline = Object.assign(new Pipeline(database.url), { db: watcher.db });
    const { db, tenantId, workspaceId, searchBucket: bucket } = pipeline;
    await pipeline.prepare();
    for (let n = 0; n < 12; n++) repo.write(`src/${n}.ts`, `export function leaf${n}() { return ${n}; }\n`);
    repo.commit("first");
    await expectCheap(() => pipeline.run({ url: git.url("repo"), embedder: MODEL }));
    repo.write("src/3.ts", "export const changed = 3;\n");
    repo.commit("second");
    await expectCheap(() => pipeline.run({ url: git.url("repo"), embedder: MODEL }));
    // The same commit again, and a branch beside the line.
    await expectCheap(() => pipeline.run({ url: git.url("repo"), embedder: MODEL }));
    repo.branch("side").checkout("side").write("src/4.ts", "export const beside = 4;\n").commit("side");
    await expectCheap(() =>
      pipeline.run({ url: git.url("repo"), ref: "side", options: { current: false }, embedder: MODEL }),
    );
    repo.checkout("main");
    const edit = [
      { path: "src/5.ts", text: "export const edited = 5;\n" },
      { path: "src/6.ts", text: null },
    ];
    for (const seq of [2, 3]) await expectCheap(() => pipeline.overlay(seq, edit));
    await expectCheap(() => pipeline.overlay(99, edit).catch(() => undefined));
    const model = { fingerprint: MODEL.fingerprint, embed: async () => new Float32Array([1, 0, 0, 1]) };
    const deps = { db, bucket, cache: new SearchCache(), regexModule, repair: async () => {}, model };
    await expectCheap(() => search(deps, tenantId, SearchRequest.parse({ query: "leaf5" })));
    await expectCheap(() => new HostedIndex(deps, { tenantId }).repos());
    await expectCheap(async () => {
      const revision = await findRevision(db, { tenantId, workspaceId }, { seq: 2 });
      if (!revision) throw new Error("the push made no revision");
      const source = await revisionSource(
        { db, bucket, parser: sharedParser, beat: async () => {} },
        revision,
        () => {},
      );
      const paths: string[] = [];
      for await (const file of source.files()) paths.push(file.path);
      expect(paths).toHaveLength(12);
    });
    for (const key of bucket.objects.keys()) if (key.includes("/segments/")) await bucket.delete(key);
    await expectCheap(() =>
      repairRevision(
        { db, bucket, model: MODEL.fingerprint, parser: sharedParser, beat: async () => {} },
        { tenantId, workspaceId, seq: 2 },
      ),
    );
  });

  it("all have a case", () => {
    const sites = statementSites(FOLDERS);
    expect(sites.length).toBeGreaterThan(100);
    const missing = sites.filter((site) => !watcher.sites.has(site));
    const unknown = missing.filter((site) => {
      const file = site.slice(0, site.indexOf(":"));
      return missing.filter((other) => other.startsWith(`${file}:`)).length > (ELSEWHERE[file] ?? 0);
    });
    expect(unknown).toEqual([]);
  });
});
