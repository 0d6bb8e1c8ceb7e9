import { createHash } from "node:crypto";
import { sql } from "drizzle-orm";
import { expect, it } from "vitest";
import { regexModule } from "../../../src/cli/exact/regex-module.ts";
import { SearchRequest } from "../../../src/contract/search.ts";
import type { Embedder } from "../../../src/engines/embedding/index.ts";
import { SearchCache } from "../../../src/service/hosted-index/cache.ts";
import type { SearchDeps } from "../../../src/service/hosted-index/core.ts";
import { search } from "../../support/ask-hosted.ts";
import { sweepSearch } from "../../../src/service/hosted-index/sweep.ts";
import { QueryVectorCache } from "../../../src/service/hosted-index/vectors.ts";
import { repairRevision } from "../../../src/service/hosted-index/repair.ts";
import { sharedParser } from "../parsing/support.ts";
import { git, givenRepository, newPipeline, pipeline, repo } from "../../support/given-repository.ts";

const DIMENSION = 48;
const DAY_MS = 86_400_000;

/** A model that knows one thing: which texts are about being signed in. */
class TopicEmbedder implements Embedder {
  readonly isModel = true;
  readonly dimension = DIMENSION;
  readonly fingerprint: string;
  /** Of all components: models with different signs have different vectors and the same ranking. */
  readonly #sign: 1 | -1;

  constructor(fingerprint: string, sign: 1 | -1 = 1) {
    this.fingerprint = fingerprint;
    this.#sign = sign;
  }

  async probeDimension(): Promise<number> {
    return DIMENSION;
  }

  async embed(inputs: readonly string[]): Promise<{ vectors: Float32Array[]; tokens: number }> {
    return { vectors: inputs.map((text) => vectorOf(text).map((value) => this.#sign * value)), tokens: inputs.length };
  }
}

function vectorOf(text: string): Float32Array {
  const isTopic = /SessionLease|stay signed in/.test(text);
  const topic = componentsOf("topic");
  return componentsOf(text).map((value, i) => value + (isTopic ? 3 * (topic[i] as number) : 0));
}

function componentsOf(seed: string): Float32Array {
  const bytes = createHash("sha512").update(seed).digest();
  return Float32Array.from({ length: DIMENSION }, (_, i) => (bytes[i] as number) / 127.5 - 1);
}

const MODEL = new TopicEmbedder("emb_topic");

givenRepository({ isShared: true });

const run = (own = pipeline, embedder: Embedder = MODEL) => own.run({ url: git.url("repo"), embedder });

function deps(own = pipeline, overrides: Partial<SearchDeps> = {}): SearchDeps {
  return {
    db: own.db,
    bucket: own.searchBucket,
    cache: new SearchCache(),
    regexModule,
    repair: async (target) => {
      await repairRevision(
        { db: own.db, bucket: own.searchBucket, model: MODEL.fingerprint, parser: sharedParser, beat },
        target,
      );
    },
    model: { fingerprint: MODEL.fingerprint, embed: async (query) => vectorOf(query) },
    ...overrides,
  };
}
const beat = async () => {};

async function ask(own = pipeline, using = deps(own)) {
  const request = SearchRequest.parse({ query: "users stay signed in", workspaceId: own.workspaceId });
  const answer = await search(using, own.tenantId, request);
  const results = answer.results.map((result) => ({ ...result, workspaceId: "" }));
  return { ...answer, results, indexes: answer.indexes.map(({ digest }) => digest) };
}

const sectionKeys = (own = pipeline) => [...own.searchBucket.objects.keys()].filter((key) => key.includes("/vectors/"));

const LEASE = "src/lease.ts";
const files = Object.fromEntries(
  Array.from({ length: 30 }, (_, i) => [
    `src/amount-${i}.ts`,
    `/** Signed amounts of users. */\nexport function amountOf${i}(count: number): number {\n  return count * ${i};\n}\n`,
  ]),
);
files[LEASE] = "export class SessionLease {\n  renew(now: number): number {\n    return now + 1800;\n  }\n}\n";

it("ranks by vectors where the workspace has them, and by words where not", async () => {
  repo.files(files).commit("first");
  await run();
  const words = await ask(pipeline, deps(pipeline, { model: undefined }));
  expect(words.results[0]?.path).not.toBe(LEASE);
  const answer = await ask();
  expect(answer.results[0]).toMatchObject({ path: LEASE, matched: [{ kind: "similarity", text: "embedding" }] });
  expect(answer.indexes).not.toEqual(words.indexes);
  expect(await ask()).toEqual(answer);

  const failed = await ask(
    pipeline,
    deps(pipeline, { model: { fingerprint: MODEL.fingerprint, embed: async () => undefined } }),
  );
  expect(failed).toEqual({ ...words, degraded: "embedding" });
  const otherModel = { fingerprint: "emb_other", embed: async () => Promise.reject(new Error("must not be asked")) };
  expect(await ask(pipeline, deps(pipeline, { model: otherModel }))).toEqual(words);
});

it("writes the vectors of what a push changes, and answers as a fresh workspace does", async () => {
  const before = new Set(sectionKeys());
  for (let push = 0; push < 3; push++) {
    repo.files({ [`src/amount-${push}.ts`]: `export const pushed${push} = ${push};\n` }).commit(`push ${push}`);
    await run();
  }
  expect(sectionKeys().filter((key) => !before.has(key))).toHaveLength(3);
  const fresh = await newPipeline();
  await run(fresh);
  expect(await ask()).toEqual(await ask(fresh));
});

it("gives an index its vectors when a model is configured, by a run that pulls nothing", async () => {
  const answer = await ask();
  await pipeline.db.execute(
    sql`update revisions set search_vectors = null where workspace_id = ${pipeline.workspaceId}`,
  );
  for (const key of sectionKeys()) pipeline.searchBucket.objects.delete(key);
  expect((await ask()).results[0]?.path).not.toBe(LEASE);
  await run();
  expect(pipeline.messages.map(({ kind }) => kind)).toEqual(["plan"]);
  expect(await ask()).toEqual(answer);
});

it("rebuilds a damaged section, in an isolate that has read it too", async () => {
  const answer = await ask();
  for (const damage of ["flip", "delete"] as const) {
    const using = deps();
    // A rebuild writes other segments than the pushes did.
    const { rows } = await pipeline.db.execute(
      sql`select search_vectors[1] as id from revisions where workspace_id = ${pipeline.workspaceId} order by seq desc limit 1`,
    );
    const key = sectionKeys().find((own) => own.endsWith(String(rows[0]?.["id"]))) ?? "";
    const { bytes } = pipeline.searchBucket.objects.get(key) ?? { bytes: new Uint8Array() };
    if (damage === "delete") pipeline.searchBucket.objects.delete(key);
    else
      await pipeline.searchBucket.put(
        key,
        bytes.map((byte) => byte ^ 0x10),
      );
    await expect(ask(pipeline, using), damage).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(await ask(pipeline, using), damage).toEqual(answer);
  }
});

it("embeds again under another model, and sweeps the sections of the first", async () => {
  const answer = await ask();
  const other = new TopicEmbedder("emb_other", -1);
  await run(pipeline, other);
  const using = deps(pipeline, {
    model: { fingerprint: other.fingerprint, embed: async (q) => (await other.embed([q])).vectors[0] },
  });
  const { results } = await ask(pipeline, using);
  expect(results).toEqual(answer.results);
  const old = sectionKeys();
  await pipeline.db.execute(
    sql`delete from revisions where workspace_id = ${pipeline.workspaceId} and fingerprint = ${MODEL.fingerprint}`,
  );
  await sweepSearch(pipeline.db, pipeline.searchBucket, Date.now() + 2 * DAY_MS);
  expect(sectionKeys().length).toBeLessThan(old.length);
  expect((await ask(pipeline, using)).results).toEqual(answer.results);
});

it("keeps the vector of a query for ten minutes, for its tenant and model alone", () => {
  const cache = new QueryVectorCache();
  const vector = new Float32Array([1]);
  cache.set("tenant", "emb", "query", vector, 0);
  expect(cache.get("tenant", "emb", "query", 599_999)).toBe(vector);
  expect(cache.get("tenant", "emb", "query", 600_000)).toBeUndefined();
  expect(cache.get("other", "emb", "query", 0)).toBeUndefined();
  expect(cache.get("tenant", "other", "query", 0)).toBeUndefined();
  for (let i = 0; i < 1_000; i++) cache.set("tenant", "emb", String(i), new Float32Array(4_096), 0);
  expect(cache.get("tenant", "emb", "query", 0)).toBeUndefined();
  expect(cache.get("tenant", "emb", "999", 0)).toBeDefined();
});
