import { sql } from "drizzle-orm";
import { expect, it } from "vitest";
import { regexModule } from "../../../src/cli/exact/regex-module.ts";
import { GrepRequest } from "../../../src/contract/exact.ts";
import { SearchCache } from "../../../src/service/hosted-index/cache.ts";
import type { SearchDeps } from "../../../src/service/hosted-index/core.ts";
import { rowsOf } from "../../../src/service/db/rows.ts";
import { TextCache } from "../../../src/service/hosted-index/whole-texts/cache.ts";
import { enclosingSymbols, HostedTexts } from "../../../src/service/hosted-index/whole-texts/hosted-texts.ts";
import type { TextDeps, TextTarget } from "../../../src/service/hosted-index/whole-texts/text-files.ts";
import { repairRevision } from "../../../src/service/hosted-index/repair.ts";
import { tableKey } from "../../../src/service/hosted-index/store.ts";
import { grep } from "../../support/ask-hosted.ts";
import { git, givenRepository, pipeline, repo } from "../../support/given-repository.ts";
import { sharedParser } from "../parsing/support.ts";

givenRepository();

/** What asks `pipeline` over a bucket that tells which keys are read, before they are. */
function depsReading(onRead: (key: string) => unknown): SearchDeps {
  const { searchBucket: stored, db } = pipeline;
  const get: SearchDeps["bucket"]["get"] = async (key, options) => {
    await onRead(key);
    return stored.get(key, options);
  };
  const bucket = Object.assign(Object.create(stored) as typeof stored, { get });
  return { db, bucket, cache: new SearchCache(), regexModule, repair: () => Promise.resolve() };
}

const ask = (deps: SearchDeps) =>
  grep(deps, pipeline.tenantId, GrepRequest.parse({ workspaceId: pipeline.workspaceId, pattern: "closeSession" }));

/** Gives the table the name that versions before this one gave it. */
async function nameTableWithoutDigest(): Promise<void> {
  const { searchBucket, db, tenantId } = pipeline;
  const named = sql`select distinct search_table as id from revisions where search_table like '%.%-%.%'`;
  for (const { id } of await rowsOf<{ id: string }>(db, named)) {
    const earlier = id.slice(0, id.lastIndexOf("."));
    const bytes = searchBucket.objects.get(tableKey(tenantId, id));
    if (bytes) searchBucket.objects.set(tableKey(tenantId, earlier), bytes);
    searchBucket.objects.delete(tableKey(tenantId, id));
    await db.execute(sql`update revisions set search_table = ${earlier} where search_table = ${id}`);
  }
}

it("the digest of an answer is told by the name of the table, which is read where an earlier version has named it", async () => {
  repo.files({ "src/a.ts": "export function closeSession() {}\n" }).commit("first");
  await pipeline.run({ url: git.url("repo") });
  const { tenantId, workspaceId, db, searchBucket: bucket } = pipeline;
  const reads: string[] = [];
  const tables = () => reads.filter((key) => key.includes("/tables/")).length;
  const now = await ask(depsReading((key) => reads.push(key)));
  expect(now).toMatchObject({ total: { lines: 1 }, complete: true });
  expect(tables()).toBe(0);
  await nameTableWithoutDigest();
  expect(await ask(depsReading((key) => reads.push(key)))).toEqual(now);
  expect(tables()).toBe(1);
  const writer = { db, bucket, model: null, parser: sharedParser, beat: () => Promise.resolve() };
  expect(await repairRevision(writer, { tenantId, workspaceId, seq: 1 })).toBe("whole");
});

it("a table that is read for its digest is read while lists and texts are", async () => {
  repo.files({ "src/a.ts": "export function closeSession() {}\n" }).commit("first");
  await pipeline.run({ url: git.url("repo") });
  await nameTableWithoutDigest();
  let onTable = () => {};
  const table = new Promise<void>((resolve) => (onTable = resolve));
  const deps = depsReading((key) => {
    if (key.includes("/tables/")) onTable();
    // Until the table is read as well.
    return key.includes("/lists/") ? table : undefined;
  });
  expect(await ask(deps)).toMatchObject({ total: { lines: 1 }, complete: true });
});

it("the files of the same lists are given as the same, also to another question", async () => {
  const { searchBucket: bucket, db, tenantId, workspaceId } = pipeline;
  const texts = new TextCache();
  const deps: TextDeps = { db, bucket, texts, regexModule, repair: () => Promise.resolve() };
  const filesNow = async () => {
    const [target] = await rowsOf<TextTarget>(
      db,
      sql`select ${tenantId} as "tenantId", workspace_id as "workspaceId", seq, base_seq as "baseSeq", text_list as "textList"
          from revisions where workspace_id = ${workspaceId} order by seq desc limit 1`,
    );
    return new HostedTexts(deps, target ? [target] : []).files();
  };
  repo.files({ "a.ts": "export const a = 1;\n", "b.ts": "export const b = 1;\n" }).commit("files");
  await pipeline.run({ url: git.url("repo") });
  const files = await filesNow();
  expect(await filesNow()).toBe(files);
  repo.files({ "one-more.ts": "export const more = 1;\n" }).commit("one more");
  await pipeline.run({ url: git.url("repo") });
  expect((await filesNow()).map(({ path }) => path)).toEqual([...files.map(({ path }) => path), "one-more.ts"]);
});

it("of the symbols of a file only those around the wanted lines are read", async () => {
  const functions = Array.from({ length: 100 }, (_, i) => `export function f${i}() {\n  return ${i};\n}\n`);
  repo.files({ "a.ts": `${functions.join("")}// end\nclass C {\n  m() {\n    return 1;\n  }\n}\n` }).commit("first");
  await pipeline.run({ url: git.url("repo") });
  const { db: stored, tenantId, workspaceId } = pipeline;
  let rows = 0;
  const execute: typeof stored.execute = (async (statement: Parameters<typeof stored.execute>[0]) => {
    const found = await stored.execute(statement);
    rows += found.rows.length;
    return found;
  }) as typeof stored.execute;
  const db = Object.assign(Object.create(stored) as typeof stored, { execute });
  const target = { tenantId, workspaceId, seq: 1, baseSeq: null, textList: null };
  const lines = [304, 2, 301, 300, 149, 150, 302];
  const found = await enclosingSymbols(db, [target], [{ revision: 0, path: "a.ts", lines }]);
  expect(found).toEqual([["C.m", "f0", null, "f99", "f49", "f49", "C"]]);
  // Three functions, the class and its method.
  expect(rows).toBe(5);
});
