import { sql } from "drizzle-orm";
import { expect, it } from "vitest";
import { regexModule } from "../../../src/cli/exact/regex-module.ts";
import { GrepRequest } from "../../../src/contract/exact.ts";
import { SearchCache } from "../../../src/service/hosted-index/cache.ts";
import type { SearchDeps } from "../../../src/service/hosted-index/core.ts";
import { rowsOf } from "../../../src/service/db/rows.ts";
import { TextCache } from "../../../src/service/hosted-index/whole-texts/cache.ts";
import { HostedTexts } from "../../../src/service/hosted-index/whole-texts/hosted-texts.ts";
import type { TextDeps, TextTarget } from "../../../src/service/hosted-index/whole-texts/text-files.ts";
import { grep } from "../../support/ask-hosted.ts";
import { git, givenRepository, pipeline, repo } from "../../support/given-repository.ts";

givenRepository();

it("what names the index is read while lists and texts are", async () => {
  repo.files({ "src/a.ts": "export function closeSession() {}\n" }).commit("first");
  await pipeline.run({ url: git.url("repo") });
  const { searchBucket: stored, db, tenantId, workspaceId } = pipeline;
  let onTable = () => {};
  const table = new Promise<void>((resolve) => (onTable = resolve));
  const get: SearchDeps["bucket"]["get"] = async (key, options) => {
    if (key.includes("/tables/")) onTable();
    // Until the table is read as well.
    if (key.includes("/lists/")) await table;
    return stored.get(key, options);
  };
  const bucket = Object.assign(Object.create(stored) as typeof stored, { get });
  const deps: SearchDeps = { db, bucket, cache: new SearchCache(), regexModule, repair: () => Promise.resolve() };
  const answer = await grep(deps, tenantId, GrepRequest.parse({ workspaceId, pattern: "closeSession" }));
  expect(answer).toMatchObject({ total: { lines: 1 }, complete: true });
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
