import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { embedText } from "../../../src/engines/embedding/builtin/lexical.ts";
import { FeatureTable } from "../../../src/engines/embedding/builtin/features.ts";
import { Scanner } from "../../../src/engines/embedding/builtin/scanner.ts";
import {
  createEmbedder,
  createReranker,
  readEmbedConfig,
  readRerankConfig,
} from "../../../src/engines/embedding/index.ts";
import type { Embedder, ProviderDeps, Reranker } from "../../../src/engines/embedding/index.ts";
import { GOLDEN_SHA256, GOLDEN_TEXTS } from "../../support/builtin-golden.ts";

const offline: ProviderDeps = { fetch: () => Promise.reject(new Error("the builtin provider asks nobody")) };
const embedder = createEmbedder(readEmbedConfig({ EMBED_MODEL: "lexical" }), offline) as Embedder;
const reranker = createReranker(readRerankConfig({ RERANK_MODEL: "lexical" }), offline) as Reranker;

function words(text: string): number[] {
  const scanner = new Scanner();
  scanner.scan(text, false);
  return [...scanner.words.values.subarray(0, scanner.words.length)];
}

function similarity(a: string, b: string): number {
  const [left, right] = [embedText(a, 256), embedText(b, 256)];
  return left.reduce((sum, component, i) => sum + component * (right[i] as number), 0);
}

describe("sub-tokens", () => {
  it.each([
    ["parseHTTPHeader", "parse http header"],
    ["parse_http_header", "parse http header"],
    ["ParseHttpHeader", "parse http header"],
    ["PARSE_HTTP_HEADER", "parse http header"],
    ["parse-http-header", "parse http header"],
    ["$scope.fetchURLs", "scope fetch url"],
    ["utf8Decoder", "utf 8 decoder"],
    ["sha256sum", "sha 256 sum"],
    ["__init__", "init"],
    ["XMLHttpRequest2", "xml http request 2"],
    ["GrößeÄndern", "größe ändern"],
    ["ПриветМир", "привет мир"],
  ])("of %s are %s", (identifier, expected) => {
    expect(words(identifier)).toEqual(words(expected));
    expect(words(identifier)).toHaveLength(expected.split(" ").length);
  });

  it.each([
    ["parse parses parsed parsing"],
    ["stop stops stopped stopping"],
    ["query queries"],
    ["validate validates validated validation"],
    ["class classes"],
    ["file files"],
  ])("of one word are one: %s", (forms) => {
    expect(new Set(words(forms)).size).toBe(1);
  });

  it.each(["status bus", "this thin", "sing single", "red read", "process progress"])(
    "of different words differ: %s",
    (pair) => {
      expect(new Set(words(pair)).size).toBe(2);
    },
  );

  it("pair up ideographs, which have no spaces between words", () => {
    expect(words("検索エンジン")).toHaveLength(5);
    expect(words("全文検索")).toEqual(expect.arrayContaining(words("検索")));
  });
});

describe("builtin embedding", () => {
  it("is fixed to the bit", () => {
    const hash = createHash("sha256");
    for (const dimension of [256, 1_000]) {
      for (const text of GOLDEN_TEXTS) hash.update(new Uint8Array(embedText(text, dimension).buffer));
    }
    expect(hash.digest("hex")).toBe(GOLDEN_SHA256);
  });

  it("gives any text a vector of norm 1, the same every time, whatever came before", () => {
    const texts = fc.array(fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom(...GOLDEN_TEXTS)), { maxLength: 4 });
    fc.assert(
      fc.property(texts, fc.integer({ min: 32, max: 600 }), (all, dimension) => {
        const first = all.map((text) => embedText(text, dimension));
        const again = all.toReversed().map((text) => embedText(text, dimension));
        expect(again.toReversed()).toEqual(first);
        for (const vector of first) {
          expect(vector).toHaveLength(dimension);
          expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
        }
      }),
    );
  });

  it("finds what shares words, in any spelling", () => {
    const code = "export function parseHttpHeaders(raw: string): Map<string, string> { return splitLines(raw); }";
    expect(similarity("parsing of HTTP headers", code)).toBeGreaterThan(0.3);
    expect(similarity("parsing of HTTP headers", code)).toBeGreaterThan(3 * similarity("draw circle on canvas", code));
    expect(similarity("getUserName", "get_user_name")).toBeGreaterThan(0.99);
    expect(similarity("authentication", "authenticate")).toBeGreaterThan(0.5);
  });

  it("takes a text far longer than its tables were made for", () => {
    const text = Array.from({ length: 60_000 }, (_, i) => `word${i.toString(36)}x`).join(" ");
    expect(Math.hypot(...embedText(text, 256))).toBeCloseTo(1, 5);
  });

  it("counts tokens as ceil(characters / 4) of the whole request", async () => {
    const { vectors, tokens } = await embedder.embed(["abc", "de"], { inputType: "query" });
    expect(tokens).toBe(2);
    expect(vectors.map((vector) => vector.length)).toEqual([256, 256]);
    expect(embedder.dimension).toBe(256);
    expect(await embedder.probeDimension()).toBe(256);
  });

  it("has a fingerprint of its own for every dimension", () => {
    const other = createEmbedder(
      readEmbedConfig({ EMBED_MODEL: "lexical", EMBED_DIMENSION: "512" }),
      offline,
    ) as Embedder;
    expect(embedder.fingerprint).toMatch(/^emb_[0-9a-f]{32}$/);
    expect(other.fingerprint).not.toBe(embedder.fingerprint);
  });

  it("does nothing once aborted", async () => {
    const signal = AbortSignal.abort();
    await expect(embedder.embed(["a"], { inputType: "query", signal })).rejects.toMatchObject({ code: "ABORTED" });
    await expect(reranker.rerank("a", ["b"], { signal })).rejects.toMatchObject({ code: "ABORTED" });
  });
});

describe("feature table", () => {
  it("counts like a map, in order of first occurrence", () => {
    // Keys that share their low bits collide in the table.
    const keys = fc.array(
      fc.oneof(
        fc.integer(),
        fc.nat(20).map((n) => n << 16),
      ),
      { maxLength: 6_000 },
    );
    const table = new FeatureTable();
    fc.assert(
      fc.property(keys, (sequence) => {
        table.clear();
        const expected = new Map<number, number>();
        for (const key of sequence) {
          table.add(key, 0.5);
          expected.set(key, (expected.get(key) ?? 0) + 1);
        }
        const seen: [number, number][] = [];
        table.forEach((key, _weight, count) => seen.push([key, count]));
        expect(seen).toEqual([...expected]);
      }),
      { numRuns: 30 },
    );
  });
});

describe("builtin reranking", () => {
  const documents = [
    "def send_mail(to): smtp.send(to)",
    "function parseHttpHeaders(raw) { return raw.split(':') }",
    "def read_headers(http): parse later",
    "",
    "The HTTP parser reads headers",
  ];

  it("scores every document from 0 to 1, in the order of the documents", async () => {
    const { results, tokens } = await reranker.rerank("parse http headers", documents);
    expect(results.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4]);
    const scores = results.map(({ relevanceScore }) => relevanceScore);
    expect(Math.max(...scores)).toBe(scores[1]);
    expect(Math.max(...scores)).toBeLessThanOrEqual(1);
    expect([scores[0], scores[3]]).toEqual([0, 0]);
    expect(tokens).toBe(Math.ceil(("parse http headers" + documents.join("")).length / 4));
  });

  it("prefers the phrase to the same words apart", async () => {
    const { results } = await reranker.rerank("open file", ["file that is open", "now open file here"]);
    expect(results[1]?.relevanceScore).toBeGreaterThan(results[0]?.relevanceScore as number);
  });

  it("gives finite scores within bounds for any input", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.array(fc.string(), { minLength: 1, maxLength: 8 }), async (query, texts) => {
        const { results } = await reranker.rerank(query, [...texts, query]);
        expect(results).toHaveLength(texts.length + 1);
        for (const { relevanceScore } of results) {
          expect(relevanceScore).toBeGreaterThanOrEqual(0);
          expect(relevanceScore).toBeLessThanOrEqual(1);
        }
      }),
    );
  });

  it("stays small when the query is a whole file and the documents are many", async () => {
    const query = Array.from({ length: 20_000 }, (_, i) => `term${i.toString(36)}q`).join(" ");
    const { results } = await reranker.rerank(
      query,
      Array.from({ length: 1_000 }, (_, i) => `term${i.toString(36)}q`),
    );
    expect(results).toHaveLength(1_000);
  });
});
