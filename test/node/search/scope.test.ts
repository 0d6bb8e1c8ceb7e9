import { sql } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";
import { regexModule } from "../../../src/cli/exact/regex-module.ts";
import type { Caller, Scope } from "../../../src/interface/questions/code-index.ts";
import { file, outline, references, search, symbols } from "../../../src/interface/questions/questions.ts";
import { SearchCache } from "../../../src/service/hosted-index/cache.ts";
import { HostedIndex } from "../../../src/service/hosted-index/hosted-index.ts";
import { git, givenRepository, newPipeline, pipeline, repo } from "../../support/given-repository.ts";
import type { Pipeline } from "../../support/pipeline.ts";

givenRepository({ isShared: true });

const OWN = "github.com/acme/own";
const OTHER = "github.com/acme/other";
let other: Pipeline;
let unnamed: Pipeline;

/** The tenant's indexes, as a key sees them that is for these repositories. */
function indexFor(repos?: readonly string[]): HostedIndex {
  const caller: Caller = { tenantId: pipeline.tenantId, repos };
  const { db, searchBucket: bucket } = pipeline;
  return new HostedIndex({ db, bucket, cache: new SearchCache(), regexModule, repair: async () => {} }, caller);
}

beforeAll(async () => {
  const shared = { tenantId: pipeline.tenantId, searchBucket: pipeline.searchBucket };
  [other, unnamed] = await Promise.all([newPipeline(shared), newPipeline(shared)]);
  for (const [own, name] of [
    [pipeline, OWN],
    [other, OTHER],
    [unnamed, null],
  ] as const) {
    repo.files({ "src/lease.ts": "export function closeLease(): void {}\n\ncloseLease();\n" }).commit(String(name));
    await own.run({ url: git.url("repo") });
    await pipeline.db.execute(sql`update workspaces set repo = ${name} where id = ${own.workspaceId}`);
  }
});

describe("a caller with a list of repositories", () => {
  it("is asked about those only, whatever the question", async () => {
    const index = indexFor([OWN]);
    for (const asked of [
      index.ask(search, {}, { query: "closeLease", limit: 10, offset: 0, maxTokens: 2_000 }),
      index.ask(symbols, {}, { name: "closeLease", limit: 10 }),
      index.ask(references, {}, { name: "closeLease", limit: 10 }),
      index.ask(outline, {}, { path: "src/lease.ts" }),
      index.ask(file, {}, { path: "src/lease.ts" }),
    ]) {
      expect((await asked).indexes.map(({ name }) => name)).toEqual([OWN]);
    }
    expect((await index.repos()).map(({ name }) => name)).toEqual([OWN]);
  });

  it("gets the answer of what does not exist for all others of the tenant", async () => {
    const index = indexFor([OWN]);
    const ask = (scope: Scope) => index.ask(symbols, scope, { name: "closeLease", limit: 10 });
    const missing = await ask({ repo: "github.com/acme/nobody" }).catch((error: unknown) => error);
    expect(missing).toMatchObject({ code: "NO_WORKSPACE" });
    for (const scope of [{ repo: OTHER }, { repo: OTHER, ref: "main" }])
      await expect(ask(scope), JSON.stringify(scope)).rejects.toEqual(missing);
    const missingId = await ask({ workspaceId: crypto.randomUUID() }).catch((error: unknown) => error);
    for (const { workspaceId } of [other, unnamed]) await expect(ask({ workspaceId })).rejects.toEqual(missingId);
    expect((await ask({ workspaceId: pipeline.workspaceId })).symbols).toHaveLength(1);
  });

  it("is told of a ref that no repository of it has, and answered by those that have it", async () => {
    const ask = (index: HostedIndex, ref: string) => index.ask(symbols, { ref }, { name: "closeLease", limit: 10 });
    for (const index of [indexFor([OWN]), indexFor()])
      await expect(ask(index, "nowhere")).rejects.toMatchObject({
        code: "NO_INDEX",
        message: expect.stringContaining("ref: nowhere is not indexed in any repository"),
      });
    expect((await ask(indexFor([OWN]), "main")).indexes.map(({ name }) => name)).toEqual([OWN]);
    await expect(ask(indexFor([]), "nowhere")).rejects.toMatchObject({ message: "Nothing is indexed yet." });
  });

  it("has nothing with an empty list, and all of the tenant without one", async () => {
    expect(await indexFor([]).repos()).toEqual([]);
    await expect(indexFor([]).ask(file, {}, { path: "src/lease.ts" })).rejects.toMatchObject({ code: "NO_INDEX" });
    const all = (await indexFor().repos()).map(({ name }) => name);
    expect(all).toEqual([OTHER, OWN, unnamed.workspaceId]);
  });
});
