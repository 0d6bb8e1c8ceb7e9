import { expect, it } from "vitest";
import { regexModule } from "../../../src/cli/exact/regex-module.ts";
import { GrepRequest } from "../../../src/contract/exact.ts";
import { SearchCache } from "../../../src/service/hosted-index/cache.ts";
import type { SearchDeps } from "../../../src/service/hosted-index/core.ts";
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
