import { type SQL, sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { regexModule } from "../../../src/cli/exact/regex-module.ts";
import { FileQuery, OutlineQuery, SearchRequest, SymbolsQuery } from "../../../src/contract/search.ts";
import { ReferencesQuery } from "../../../src/contract/relations.ts";
import { searchText } from "../../../src/interface/mcp/answers.ts";
import { search as searchQuestion, symbols as symbolsQuestion } from "../../../src/interface/questions/questions.ts";
import { HostedIndex } from "../../../src/service/hosted-index/hosted-index.ts";
import { createWorkspace } from "../../../src/service/tenancy/workspaces.ts";
import type { SearchDeps } from "../../../src/service/hosted-index/core.ts";
import { SearchCache } from "../../../src/service/hosted-index/cache.ts";
import { file, outline, references, search, symbols } from "../../support/ask-hosted.ts";
import type { QueueMessage } from "../../../src/service/runs/messages.ts";
import { requestRebuilds } from "../../../src/service/hosted-index/rebuilds.ts";
import { SEARCH_PREFIX, TABLE_ID_PREFIX, tableKey } from "../../../src/service/hosted-index/store.ts";
import { sweepSearch } from "../../../src/service/hosted-index/sweep.ts";
import { repairRevision } from "../../../src/service/hosted-index/repair.ts";
import { git, givenRepository, newPipeline, pipeline, repo } from "../../support/given-repository.ts";
import { sharedParser } from "../parsing/support.ts";
import type { Pipeline } from "../../support/pipeline.ts";

givenRepository();

const DAY_MS = 86_400_000;

const run = (own = pipeline) => own.run({ url: git.url("repo") });
const writer = (own: Pipeline) => ({
  db: own.db,
  bucket: own.searchBucket,
  model: null,
  parser: sharedParser,
  beat: async () => {},
});

function deps(own = pipeline): SearchDeps {
  return {
    db: own.db,
    bucket: own.searchBucket,
    cache: new SearchCache(),
    regexModule,
    repair: async (target) => {
      await repairRevision(writer(own), target);
    },
  };
}

/** What a search answers, without what differs between workspaces. */
async function answers(query: string, own = pipeline, using = deps(own)): Promise<unknown> {
  const answer = await search(using, own.tenantId, SearchRequest.parse({ query, workspaceId: own.workspaceId }));
  const results = answer.results.map((result) => ({ ...result, workspaceId: undefined }));
  const digests = answer.indexes.map(({ digest, gitSha }) => ({ digest, gitSha }));
  return { ...answer, results, indexes: digests };
}

/** Sets what the workspace's revisions record as their table. */
async function setTable(table: SQL): Promise<void> {
  await pipeline.db.execute(
    sql`update revisions set search_table = ${table} where workspace_id = ${pipeline.workspaceId}`,
  );
}

const QUERIES = ["session expires", "closeSession", "where are invoices written", "parse the header path:src/*"];

const noun = (i: number) => ["session", "invoice", "header", "cursor", "ledger"][i % 5] ?? "";

function source(i: number, revision = 0): string {
  return [
    `/** Closes a ${noun(i)} once it expires. */`,
    `export function close${noun(i)}${i}(${noun(i)}: string): number {`,
    `  // revision ${revision}`,
    `  return parse${noun(i + 1)}(${noun(i)}, ${i});`,
    "}",
    "",
  ].join("\n");
}

function sources(count: number, revision = 0): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`src/${noun(i)}-${i}.ts`, source(i, revision)]));
}

describe("hosted search", () => {
  it("answers from the commit that was indexed, and says which", async () => {
    const commit = repo.files(sources(12)).commit("first");
    await run();
    const answer = await search(
      deps(),
      pipeline.tenantId,
      SearchRequest.parse({ query: "close ledger when it expires" }),
    );
    expect(answer.results[0]).toMatchObject({
      path: expect.stringContaining("ledger"),
      gitSha: commit,
      language: "typescript",
    });
    expect(answer.indexes).toMatchObject([
      { workspaceId: pipeline.workspaceId, gitSha: commit, digest: expect.stringMatching(/^[0-9a-f]{32}$/) },
    ]);
    const query = { workspaceId: pipeline.workspaceId };
    const found = await symbols(deps(), pipeline.tenantId, SymbolsQuery.parse({ ...query, name: "closesession0" }));
    expect(found.symbols).toMatchObject([{ name: "closesession0", path: "src/session-0.ts", startLine: 2 }]);
    const used = await references(deps(), pipeline.tenantId, ReferencesQuery.parse({ ...query, name: "parseinvoice" }));
    expect(used.references.map(({ path, line }) => [path, line])).toContainEqual(["src/session-0.ts", 4]);
    const tree = await outline(deps(), pipeline.tenantId, OutlineQuery.parse({ ...query, path: "src/session-0.ts" }));
    expect(tree.outline).toMatchObject([{ name: "closesession0", depth: 0 }]);
    const text = await file(
      deps(),
      pipeline.tenantId,
      FileQuery.parse({ ...query, path: "src/session-0.ts", start: "2", end: "4" }),
    );
    expect(text.text).toBe(source(0).split("\n").slice(1, 4).join("\n"));
    expect(text).toMatchObject({ startLine: 2, endLine: 4, withheld: [] });
  });

  it("names the files that are too large to be indexed where a name is not found", async () => {
    const large = "// words\n".repeat(70_000);
    repo.files({ ...sources(2), "src/module.ts": large, "vendor/large.ts": large }).commit("first");
    await run();
    const query = { workspaceId: pipeline.workspaceId };
    const tooLarge = { files: 1, paths: ["src/module.ts"] };
    const none = symbols(deps(), pipeline.tenantId, SymbolsQuery.parse({ ...query, name: "nowhere" }));
    await expect(none).rejects.toMatchObject({ code: "NOT_FOUND", tooLarge });
    const similar = symbols(deps(), pipeline.tenantId, SymbolsQuery.parse({ ...query, name: "zclose" }));
    await expect(similar.catch((error: unknown) => error)).resolves.toMatchObject({ tooLarge });
  });

  it("names what is near to what is not there", async () => {
    repo.files(sources(6)).commit("first");
    await run();
    const query = { workspaceId: pipeline.workspaceId };
    const noPath = outline(deps(), pipeline.tenantId, OutlineQuery.parse({ ...query, path: "lib/session-0.ts" }));
    await expect(noPath).rejects.toMatchObject({ code: "NOT_FOUND", near: ["src/session-0.ts", "src/session-5.ts"] });
    const noName = symbols(deps(), pipeline.tenantId, SymbolsQuery.parse({ ...query, name: "nowhere" }));
    await expect(noName).rejects.toMatchObject({ code: "NOT_FOUND", tooLarge: undefined });
    const other = await newPipeline();
    await expect(answers("session", other)).rejects.toMatchObject({ code: "NO_INDEX" });
    const foreign = search(deps(), other.tenantId, SearchRequest.parse({ query: "session", ...query }));
    await expect(foreign).rejects.toMatchObject({ code: "NO_WORKSPACE" });
    expect((await search(deps(), other.tenantId, SearchRequest.parse({ query: "session" }))).results).toEqual([]);
  });

  it("answers alike after many pushes and after one cold run", async () => {
    repo.files(sources(30)).commit("first");
    await run();
    const using = deps();
    for (let push = 1; push <= 12; push++) {
      repo.files({ [`src/${noun(push)}-${push}.ts`]: source(push, push) });
      if (push % 3 === 0) repo.rename(`src/${noun(push)}-${push}.ts`, `src/moved-${push}.ts`);
      if (push % 4 === 0) repo.delete(`src/${noun(push + 13)}-${push + 13}.ts`);
      repo.commit(`push ${push}`);
      await run();
      await answers("session", pipeline, using);
    }
    const cold = await newPipeline();
    await run(cold);
    for (const query of QUERIES) {
      expect(await answers(query, pipeline, using), query).toEqual(await answers(query, cold));
    }
    const keys = [...pipeline.searchBucket.objects.keys()].filter((key) => key.includes("/segments/"));
    expect(keys.length).toBeGreaterThan(12);
    const tables = await pipeline.db.execute(
      sql`select cardinality(search_segments) as n from revisions where workspace_id = ${pipeline.workspaceId} order by seq desc limit 1`,
    );
    // Small segments have been merged on the way.
    expect(Number(tables.rows[0]?.["n"])).toBeLessThan(10);
  });

  it.each([
    ["from before search", sql`null`],
    ["of another version", sql`'1.2.3-0123456789abcdef0123456789abcdef'`],
  ])("writes an index %s again from what is stored, says so meanwhile, and answers as before", async (_, table) => {
    repo.files(sources(10)).commit("first");
    await run();
    const before = await answers("session expires");
    await setTable(table);
    await pipeline.db.execute(sql`update contents set segment = null where tenant_id = ${pipeline.tenantId}`);
    pipeline.searchBucket.objects.clear();
    const { tenantId, workspaceId } = pipeline;
    for (const request of [{ workspaceId }, {}]) {
      await setTable(table);
      await expect(
        search(deps(), tenantId, SearchRequest.parse({ query: "session", ...request })),
      ).rejects.toMatchObject({
        code: "UNAVAILABLE",
        message: `the search index of ${workspaceId} is being rewritten for this version of the service; try again`,
        headers: { "Retry-After": "10" },
      });
      expect(await answers("session expires")).toEqual(before);
    }
  });

  it("leaves a workspace whose index is being rewritten out of a search over all, and says so", async () => {
    repo.files(sources(10)).commit("first");
    await run();
    const { tenantId, workspaceId } = pipeline;
    const { workspaceId: other } = await createWorkspace(pipeline.db, { tenantId });
    // The other has the same revision, of another version of the format.
    for (const table of ["revisions", "revision_files"])
      await pipeline.db.execute(
        sql`insert into ${sql.identifier(table)} select (jsonb_populate_record(null::${sql.identifier(table)}, to_jsonb(t) || jsonb_build_object('workspace_id', ${other}::text))).* from ${sql.identifier(table)} t where workspace_id = ${workspaceId}`,
      );
    await pipeline.db.execute(
      sql`update revisions set search_table = '1.2.3-0123456789abcdef0123456789abcdef' where workspace_id = ${other}`,
    );
    await pipeline.db.execute(
      sql`update workspaces set current_seq = (select max(seq) from revisions where workspace_id = ${other}) where id = ${other}`,
    );
    const index = new HostedIndex({ ...deps(), repair: async () => {} }, { tenantId });
    const found = await index.ask(searchQuestion, {}, SearchRequest.parse({ query: "session" }));
    expect(found.results.length).toBeGreaterThan(0);
    expect(found.indexes.map((one) => one.workspaceId)).toEqual([workspaceId]);
    expect(found.leftOut).toEqual([{ repo: null, workspaceId: other }]);
    expect(searchText(found, { maxTokens: 1_000, nowMs: Date.now() })).toContain(
      `Not searched, because their index is being rewritten: ${other}.`,
    );
    await expect(index.ask(symbolsQuestion, {}, { name: "nowhereToBeFound", limit: 1 })).rejects.toMatchObject({
      code: "UNAVAILABLE",
    });
  });

  it("asks for a few rewrites a question, however many repositories wait for one", async () => {
    repo.files(sources(10)).commit("first");
    await run();
    const { tenantId, workspaceId } = pipeline;
    await pipeline.db.execute(
      sql`insert into workspaces (id, tenant_id) select gen_random_uuid(), ${tenantId} from generate_series(1, 60)`,
    );
    await pipeline.db.execute(sql`
      insert into revisions select (jsonb_populate_record(null::revisions, to_jsonb(r) || jsonb_build_object('workspace_id', w.id, 'seq', 1, 'search_table', null))).*
      from revisions r, workspaces w where r.workspace_id = ${workspaceId} and w.id <> ${workspaceId} and w.tenant_id = ${tenantId}`);
    await pipeline.db.execute(
      sql`update workspaces set current_seq = 1 where id <> ${workspaceId} and tenant_id = ${tenantId}`,
    );
    const asked = new Set<string>();
    const repair: SearchDeps["repair"] = async (revision) => void asked.add(revision.workspaceId);
    const index = new HostedIndex({ ...deps(), repair }, { tenantId });
    const found = await index.ask(searchQuestion, {}, SearchRequest.parse({ query: "session" }));
    expect([found.indexes.length, found.leftOut?.length]).toEqual([1, 60]);
    expect(asked.size).toBe(20);
  });

  it("says that an index waits for the next run if what is stored is not enough, and the run writes it", async () => {
    repo.files(sources(10)).commit("first");
    await run();
    const before = await answers("session expires");
    await setTable(sql`null`);
    // Every segment that is written is lost at once.
    const bucket = Object.assign(Object.create(pipeline.searchBucket) as typeof pipeline.searchBucket, {
      put: async () => {},
    });
    await pipeline.db.execute(sql`update contents set segment = null where tenant_id = ${pipeline.tenantId}`);
    pipeline.searchBucket.objects.clear();
    const { tenantId, workspaceId } = pipeline;
    const revision = { tenantId, workspaceId, seq: 1 };
    expect(await repairRevision({ ...writer(pipeline), bucket }, revision)).toBe("impossible");
    expect(await repairRevision(writer(pipeline), revision)).toBe("whole");
    for (const request of [{ workspaceId }, {}]) {
      await expect(
        search(deps(), tenantId, SearchRequest.parse({ query: "session", ...request })),
      ).rejects.toMatchObject({
        code: "NO_INDEX",
        message: expect.stringContaining("waits for the workspace's next run"),
      });
    }
    expect((await run()).result).toMatchObject({ skippedUnchanged: 10 });
    expect(await answers("session expires")).toEqual(before);
  });

  it("requests the rewriting of outdated revisions, each once, in pages", async () => {
    repo.files(sources(3)).commit("first");
    await run();
    await run(await newPipeline());
    const prefix = TABLE_ID_PREFIX;
    const walk = async () => {
      await pipeline.db.execute(sql`delete from service_settings where name = 'search_rebuild'`);
      const requested: string[] = [];
      const send = async (message: QueueMessage) => {
        if (message.kind === "rebuild_search") requested.push(message.workspaceId);
      };
      for (let call = 0; call < 20; call++) await requestRebuilds(pipeline.db, send);
      const [setting] = (
        await pipeline.db.execute(sql`select value from service_settings where name = 'search_rebuild'`)
      ).rows;
      expect(setting).toEqual({ value: `${prefix} done` });
      return requested.filter((id) => id === pipeline.workspaceId);
    };
    expect(await walk()).toEqual([]);
    await setTable(sql`'1.2.3-0123456789abcdef0123456789abcdef'`);
    // More revisions than a page has; those that no ref reads are left alone.
    await pipeline.db
      .execute(sql`insert into revisions (workspace_id, seq, run_id, git_sha, root_tree, plan_key, fingerprint, dimension, file_count, symbol_count, chunk_count, stats)
      select workspace_id, 1000 + n, run_id, git_sha, root_tree, plan_key, fingerprint, dimension, 0, 0, 0, stats
      from revisions, generate_series(1, 600) n where workspace_id = ${pipeline.workspaceId} and seq = 1`);
    expect(await walk()).toEqual([pipeline.workspaceId]);
    await pipeline.db.execute(
      sql`insert into revision_refs (workspace_id, ref, seq) values (${pipeline.workspaceId}, 'refs/heads/old', 1600)`,
    );
    expect(await walk()).toEqual([pipeline.workspaceId, pipeline.workspaceId]);
  });

  it("writes a table again whose name has another digest than the table", async () => {
    repo.files(sources(3)).commit("first");
    await run();
    const { db, tenantId, workspaceId, searchBucket } = pipeline;
    const revision = { tenantId, workspaceId, seq: 1 };
    const tables = async () =>
      (await db.execute(sql`select search_table as id from revisions where workspace_id = ${workspaceId}`)).rows.map(
        (row) => String(row["id"]),
      );
    const [right = ""] = await tables();
    expect(await repairRevision(writer(pipeline), revision)).toBe("whole");
    const bytes = searchBucket.objects.get(tableKey(tenantId, right))?.bytes ?? new Uint8Array();
    for (const wrong of [right.replace(/.{4}$/, "0000"), `${right}0`]) {
      await searchBucket.put(tableKey(tenantId, wrong), bytes);
      await setTable(sql`${wrong}`);
      expect(await repairRevision(writer(pipeline), revision)).toBe("rebuilt");
      expect(await tables()).toEqual([right]);
    }
  });

  it("notices a damaged or missing object, has it rebuilt and answers as before", async () => {
    repo.files(sources(10)).commit("first");
    await run();
    const before = await answers("session expires");
    // A rebuild puts objects back: the keys are those of now.
    const keys = Array.from(pipeline.searchBucket.objects.keys()).filter((key) => key.startsWith(SEARCH_PREFIX));
    for (const key of keys) {
      const object = pipeline.searchBucket.objects.get(key);
      for (const damage of ["flip", "cut", "empty", "delete"] as const) {
        const bytes = object?.bytes ?? new Uint8Array();
        if (damage === "delete") pipeline.searchBucket.objects.delete(key);
        else
          await pipeline.searchBucket.put(
            key,
            damage === "flip"
              ? bytes.map((byte) => byte ^ 0x10)
              : bytes.subarray(0, damage === "cut" ? bytes.length / 2 : 0),
          );
        await expect(answers("session expires"), `${damage} ${key}`).rejects.toMatchObject({
          code: "UNAVAILABLE",
          headers: { "Retry-After": "30" },
        });
        expect(await answers("session expires"), `after ${damage} ${key}`).toEqual(before);
      }
    }
  });

  it("sweeps what no revision reads, and nothing else", async () => {
    repo.files(sources(20)).commit("first");
    await run();
    for (let push = 0; push < 10; push++) {
      repo.files({ "src/session-0.ts": source(0, push + 1) }).commit(`push ${push}`);
      await run();
    }
    const before = await answers("revision 10");
    await pipeline.db.execute(sql`delete from revisions where workspace_id = ${pipeline.workspaceId} and seq < 9`);
    const count = () => [...pipeline.searchBucket.objects.keys()].filter((key) => key.startsWith(SEARCH_PREFIX)).length;
    const all = count();
    expect(await sweepSearch(pipeline.db, pipeline.searchBucket, Date.now())).toBe(0);
    expect(await sweepSearch(pipeline.db, pipeline.searchBucket, Date.now() + 2 * DAY_MS)).toBeGreaterThan(5);
    expect(count()).toBeLessThan(all);
    expect(await answers("revision 10")).toEqual(before);
  });
});
