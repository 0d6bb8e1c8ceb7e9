import { expect, it } from "vitest";
import { regexModule } from "../../../src/cli/exact/regex-module.ts";
import { SearchRequest } from "../../../src/contract/search.ts";
import { SearchCache } from "../../../src/service/hosted-index/cache.ts";
import type { SearchDeps } from "../../../src/service/hosted-index/core.ts";
import { file, search } from "../../support/ask-hosted.ts";
import { git, givenRepository, newPipeline, repo } from "../../support/given-repository.ts";
import { MemoryBucket, type Pipeline } from "../../support/pipeline.ts";

givenRepository();

const FILES = 8;
/** Set for a longer run by hand: `SEARCH_SWITCHES=50 SEARCH_QUERIES=10000`. */
const SWITCHES = Number(process.env["SEARCH_SWITCHES"] ?? 4);
const QUERIES = Number(process.env["SEARCH_QUERIES"] ?? 120);

/** All files of a commit carry its number. */
function filesOf(version: number): Record<string, string> {
  const text = (i: number) =>
    `/** Renews lease ${i}. */\nexport function renew${i}(): string {\n  return "version ${version}";\n}\n`;
  return Object.fromEntries(Array.from({ length: FILES }, (_, i) => [`src/lease-${i}.ts`, text(i)]));
}

function depsOf(pipeline: Pipeline): SearchDeps {
  return {
    db: pipeline.db,
    bucket: pipeline.searchBucket,
    cache: new SearchCache(),
    regexModule,
    repair: () => Promise.reject(new Error("nothing is damaged here")),
  };
}

async function ask(pipeline: Pipeline, deps: SearchDeps) {
  const { workspaceId, tenantId } = pipeline;
  return search(deps, tenantId, SearchRequest.parse({ query: "renew lease version", workspaceId, limit: FILES }));
}

it("answers wholly from one revision while runs switch them", async () => {
  const pipeline = await newPipeline();
  const versions = new Map<string, number>();
  const commit = async (version: number) => {
    versions.set(repo.files(filesOf(version)).commit(`version ${version}`), version);
    await pipeline.run({ url: git.url("repo") });
  };
  await commit(0);
  const deps = depsOf(pipeline);
  const seen = new Set<number>();
  let asked = 0;
  const runs = { areDone: false };
  const client = async () => {
    while (!runs.areDone || asked < QUERIES) {
      const { results, indexes } = await ask(pipeline, deps);
      asked++;
      const [index] = indexes;
      const version = versions.get(index?.gitSha ?? "") ?? Number.NaN;
      seen.add(version);
      expect(results).toHaveLength(FILES);
      for (const result of results) {
        expect(result.gitSha).toBe(index?.gitSha);
        expect(result.excerpts[0]?.text ?? "").toContain(`"version ${version}"`);
      }
    }
  };
  const clients = Promise.all(Array.from({ length: 3 }, client));
  for (let version = 1; version <= SWITCHES; version++) await commit(version);
  runs.areDone = true;
  await clients;
  expect(asked).toBeGreaterThanOrEqual(QUERIES);
  expect(seen.size).toBeGreaterThan(1);
}, 600_000);

/** A bucket whose n-th write fails, before or after it took place. */
class FailingBucket extends MemoryBucket {
  writes = 0;
  failAt = 0;
  isLost = false;

  override async put(key: string, value: Uint8Array): Promise<void> {
    this.writes++;
    if (this.writes !== this.failAt) return super.put(key, value);
    if (this.isLost) await super.put(key, value);
    throw new Error("the object store failed");
  }
}

it("answers as a fresh workspace does, wherever a write of the index failed", async () => {
  repo.files(filesOf(0)).commit("first");
  const failing = new FailingBucket();
  const pipeline = await newPipeline({ searchBucket: failing });
  const index = (own: Pipeline) => own.run({ url: git.url("repo") });
  await index(pipeline);
  const deps = depsOf(pipeline);
  for (const isLost of [false, true]) {
    for (let step = 1; ; step++) {
      const before = await ask(pipeline, deps);
      repo
        .files({ [`src/lease-${step % FILES}.ts`]: `export const step = ${step}${String(isLost)};\n` })
        .commit("next");
      Object.assign(failing, { writes: 0, failAt: step, isLost });
      // The step that failed is delivered again, as the queue does.
      const whole = await pipeline
        .run({ url: git.url("repo") }, async (_message, once) => {
          const hadFailed = failing.writes >= step;
          await once();
          // A later step may belong to the next attempt, which succeeds.
          if (!hadFailed && failing.writes >= step) expect(await ask(pipeline, deps)).toEqual(before);
        })
        .then(({ error }) => error === undefined);
      const hasFailed = failing.writes >= step;
      failing.failAt = 0;
      if (!whole) await index(pipeline);
      const fresh = await newPipeline();
      await index(fresh);
      expect((await ask(pipeline, deps)).results.map(withoutWorkspace)).toEqual(
        (await ask(fresh, depsOf(fresh))).results.map(withoutWorkspace),
      );
      if (!hasFailed) break;
    }
  }
}, 300_000);

const withoutWorkspace = (result: { workspaceId: string }) => ({ ...result, workspaceId: "" });

it("keeps what each branch has apart, at the cost of its differences", async () => {
  const pipeline = await newPipeline();
  repo.files(filesOf(0)).commit("first");
  await pipeline.run({ url: git.url("repo") });
  const bytes = () =>
    [...pipeline.searchBucket.objects]
      .filter(([key]) => key.includes("/segments/"))
      .reduce((sum, [, object]) => sum + object.bytes.byteLength, 0);
  const first = bytes();
  const deps = depsOf(pipeline);
  for (let branch = 1; branch <= 3; branch++) {
    repo.git("checkout", "-q", "-b", `branch-${branch}`, "main");
    repo.files({ "src/lease-0.ts": `export const branch = ${branch};\n` }).commit(`branch ${branch}`);
    const record = await pipeline.run({
      url: git.url("repo"),
      ref: `branch-${branch}`,
      options: { current: false },
    });
    expect(record.result).toMatchObject({ embeddedCount: 1 });
  }
  expect(bytes() - first).toBeLessThan(first);
  for (let branch = 1; branch <= 3; branch++) {
    const query = { workspaceId: pipeline.workspaceId, path: "src/lease-0.ts", ref: `branch-${branch}` };
    expect((await file(deps, pipeline.tenantId, query)).text).toContain(`branch = ${branch}`);
  }
  expect((await ask(pipeline, deps)).results[0]?.excerpts[0]?.text).toContain('"version 0"');
});
