import { sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { regexModule } from "../../../src/cli/exact/regex-module.ts";
import { ReferencesQuery } from "../../../src/contract/relations.ts";
import { SearchCache } from "../../../src/service/hosted-index/cache.ts";
import type { SearchDeps } from "../../../src/service/hosted-index/core.ts";
import { repairRevision } from "../../../src/service/hosted-index/repair.ts";
import { SEARCH_PREFIX } from "../../../src/service/hosted-index/store.ts";
import { references } from "../../support/ask-hosted.ts";
import { git, givenRepository, pipeline, repo } from "../../support/given-repository.ts";
import { sharedParser } from "../parsing/support.ts";

givenRepository();

const FILES = {
  "src/store.ts":
    "export class Store {\n  open(): void {}\n}\nexport function load(): Store {\n  return new Store();\n}\n",
  "src/index.ts": 'export { load as start } from "./store.ts";\n',
  "src/app.ts":
    'import { start } from "./index.ts";\nexport function main(): void {\n  const load = 1;\n  start().open();\n}\n',
  "src/cli.ts": 'import { main } from "./app.ts";\nimport "left-pad/lib";\nfunction run() {\n  main();\n}\n',
  "src/other.ts": "function load() {}\nload();\n",
};

const run = () => pipeline.run({ url: git.url("repo") });

function deps(): SearchDeps {
  const { db, searchBucket: bucket } = pipeline;
  return {
    db,
    bucket,
    cache: new SearchCache(),
    regexModule,
    repair: async (target) => {
      await repairRevision({ db, bucket, model: null, parser: sharedParser, beat: async () => {} }, target);
    },
  };
}

async function ask(query: Record<string, unknown>, using = deps()) {
  const { workspaceId, tenantId } = pipeline;
  return references(using, tenantId, ReferencesQuery.parse({ workspaceId, ...query }));
}

const shown = ({ references: list }: Awaited<ReturnType<typeof ask>>): string[] =>
  list.map(
    ({ path, line, certainty, distance, enclosing, target }) =>
      `${path}:${line} ${certainty} ${distance} ${enclosing ?? "-"} → ${target?.path ?? "?"}:${target?.line ?? "?"}`,
  );

const CALLERS = ["src/app.ts:4 certain 1 main → src/store.ts:4"];
const LOAD = { name: "load", path: "src/store.ts" };

/** Forgets all segments and tables, as after an update of the service; `texts` remain. */
async function loseSearch(): Promise<void> {
  await pipeline.db.execute(sql`update revisions set search_table = null where workspace_id = ${pipeline.workspaceId}`);
  await pipeline.db.execute(sql`update contents set segment = null where tenant_id = ${pipeline.tenantId}`);
  for (const key of pipeline.searchBucket.objects.keys())
    if (key.startsWith(SEARCH_PREFIX)) pipeline.searchBucket.objects.delete(key);
}

describe("relations of a hosted index", () => {
  it("are answered from stored uses, through re-exports and aliases", async () => {
    repo.files(FILES).commit("first");
    await run();
    expect(shown(await ask({ relation: "callers", ...LOAD }))).toEqual(CALLERS);
    expect(shown(await ask({ relation: "callers", ...LOAD, depth: "3" }))).toEqual([
      ...CALLERS,
      "src/cli.ts:4 certain 2 run → src/app.ts:2",
    ]);
    expect(shown(await ask({ relation: "callees", name: "main" }))).toEqual([
      "src/app.ts:4 certain 1 main → src/store.ts:2",
      "src/app.ts:4 certain 1 main → src/store.ts:4",
    ]);
    expect(shown(await ask({ relation: "importers", path: "src/store.ts" }))).toEqual([
      "src/index.ts:1 certain 1 - → ?:?",
    ]);
    expect(shown(await ask({ relation: "importers", path: "left-pad" }))).toEqual(["src/cli.ts:2 certain 1 - → ?:?"]);
    await expect(ask({ relation: "importers", path: "src/stroe.ts" })).rejects.toMatchObject({
      message: expect.stringContaining("src/store.ts"),
    });
    const answer = await ask({ relation: "callers", name: "load", certainty: "certain" });
    expect(answer).toMatchObject({ total: 2, truncated: false, unread: 0 });
  });

  it("are there again after an update, from the stored texts, without a pull", async () => {
    repo.files(FILES).commit("first");
    await run();
    await loseSearch();
    const using = deps();
    await expect(ask({ relation: "callers", ...LOAD }, using)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(shown(await ask({ relation: "callers", ...LOAD }, using))).toEqual(CALLERS);
  });

  it("say which files were not read, where their texts are gone too", async () => {
    repo.files(FILES).commit("first");
    await run();
    await loseSearch();
    pipeline.searchBucket.objects.clear();
    const using = deps();
    await expect(ask({ relation: "callers", ...LOAD }, using)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(await ask({ relation: "callers", ...LOAD }, using)).toMatchObject({ references: [], unread: 4 });
  });
});
