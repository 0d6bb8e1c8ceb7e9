import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FeatureTable } from "../../../src/engines/embedding/builtin/features.ts";
import { Scanner } from "../../../src/engines/embedding/builtin/scanner.ts";
import {
  loadTable,
  TERM_TABLE_DIMENSION,
  TERM_TABLE_ID,
  TermTable,
} from "../../../src/engines/embedding/builtin/term-table.ts";
import {
  createEmbedder,
  createReranker,
  type Embedder,
  type ProviderDeps,
} from "../../../src/engines/embedding/index.ts";
import { GOLDEN_TERMS_SHA256, hashOfTermVectors } from "../../support/builtin-golden.ts";
import { shippedTerms } from "../../support/terms.ts";

const MAX_TABLE_BYTES = 3_500_000;

function wordsOf(text: string): FeatureTable {
  const [scanner, words] = [new Scanner(), new FeatureTable()];
  scanner.scan(text, false);
  for (let i = 0; i < scanner.words.length; i++) words.add(scanner.words.values[i] as number, 1);
  return words;
}

function hashOf(word: string): number {
  const scanner = new Scanner();
  scanner.scan(word, false);
  return scanner.words.values[0] as number;
}

/** A table of two dimensions. Unknown words weigh 3 in questions and nothing in code. */
function tableOf(terms: Record<string, { query: number; document: number; vector: [number, number] }>): ArrayBuffer {
  const sorted = Object.keys(terms).sort((a, b) => hashOf(a) - hashOf(b));
  const bytes = new ArrayBuffer(24 + sorted.length * 14);
  const view = new DataView(bytes);
  [0x54544343, 1, sorted.length, 2].forEach((value, i) => view.setUint32(4 * i, value, true));
  view.setFloat32(16, 3, true);
  for (const [i, word] of sorted.entries()) {
    const { query, document, vector } = terms[word] as (typeof terms)[string];
    view.setInt32(24 + 4 * i, hashOf(word), true);
    view.setFloat32(24 + 4 * (sorted.length + i), query, true);
    view.setFloat32(24 + 4 * (2 * sorted.length + i), document, true);
    vector.forEach((value, k) => view.setInt8(24 + 12 * sorted.length + 2 * i + k, value));
  }
  return bytes;
}

const SMALL = tableOf({
  remove: { query: 1, document: 2, vector: [3, 4] },
  cache: { query: 0.5, document: 1, vector: [0, -8] },
});

describe("a term table", () => {
  it("sums the vectors of a text's words by weight and the root of their count", () => {
    const table = new TermTable(SMALL);
    const [a, b] = table.embed(wordsOf("remove"), "query");
    expect([a, b]).toEqual([expect.closeTo(0.6, 12), expect.closeTo(0.8, 12)]);
    // remove 4 times: 2 · 2 · [3, 4]; cache: 1 · 1 · [0, -8].
    const [x, y] = table.embed(wordsOf("remove(removes, removed) removing the cache"), "document");
    expect([x, y]).toEqual([expect.closeTo(12 / Math.hypot(12, 8), 12), expect.closeTo(8 / Math.hypot(12, 8), 12)]);
  });

  it("gives a word that is not in it a direction of its own, by the weight of its side", () => {
    const table = new TermTable(SMALL);
    const unknown = table.embed(wordsOf("frobnicate"), "query");
    expect(Math.hypot(...unknown)).toBeCloseTo(1, 10);
    expect(Math.abs(unknown[0] as number)).toBeCloseTo(Math.SQRT1_2, 10);
    expect([...table.embed(wordsOf("frobnicate"), "document")]).toEqual([0, 0]);
    expect([...table.embed(wordsOf("the of a x 1"), "query")]).toEqual([0, 0]);
  });

  it("is refused if it is damaged, cut off or of another version", () => {
    for (const length of [0, 3, 23, 24, SMALL.byteLength - 1])
      expect(() => new TermTable(SMALL.slice(0, length))).toThrow(/term table/);
    const [other, foreign, empty] = [SMALL.slice(0), SMALL.slice(0), SMALL.slice(0)];
    new DataView(other).setUint32(4, 2, true);
    new DataView(foreign).setUint32(0, 7, true);
    new DataView(empty).setUint32(12, 0, true);
    for (const bytes of [other, foreign, empty]) expect(() => new TermTable(bytes)).toThrow(/not of version 1/);
  });

  it("is read once, and again after a failure", async () => {
    let reads = 0;
    const source = async (): Promise<ArrayBuffer> => {
      if (++reads === 1) throw new Error("not there");
      return SMALL;
    };
    await expect(loadTable(source)).rejects.toThrow("not there");
    const [first, second] = await Promise.all([loadTable(source), loadTable(source)]);
    expect(first).toBe(second);
    expect(reads).toBe(2);
  });
});

describe("the table that is shipped", () => {
  it("is the one that fingerprints name, and small", async () => {
    const bytes = await shippedTerms();
    expect(bytes.byteLength).toBeLessThanOrEqual(MAX_TABLE_BYTES);
    expect(new TermTable(bytes).dimension).toBe(TERM_TABLE_DIMENSION);
    const digest = createHash("sha256").update(new Uint8Array(bytes)).digest("hex");
    expect(digest.slice(0, TERM_TABLE_ID.length)).toBe(TERM_TABLE_ID);
  });
});

const deps: ProviderDeps = { fetch: () => Promise.reject(new Error("nobody is asked")), terms: shippedTerms };
const config = { provider: "builtin", dimension: 256, timeoutMs: 60_000 } as const;
const embedder = createEmbedder(config, deps) as Embedder;
const lexical = createEmbedder({ ...config, model: "lexical" }, deps) as Embedder;

async function cosine(by: Embedder, question: string, code: string): Promise<number> {
  const [a] = (await by.embed([question], { inputType: "query" })).vectors;
  const [b] = (await by.embed([code], { inputType: "document" })).vectors;
  return (a as Float32Array).reduce((sum, value, i) => sum + value * (b?.[i] as number), 0);
}

describe("the builtin models with the table", () => {
  const CODE =
    "def evict(self):\n    while len(self.entries) > self.capacity:\n        del self.entries[self.oldest()]";
  const OTHER = "def draw(self):\n    canvas.line(self.start, self.end, color=self.color)";

  it("find code that shares no word with the question", async () => {
    const question = "remove items from the cache when it is full";
    const [near, far] = [await cosine(embedder, question, CODE), await cosine(embedder, question, OTHER)];
    expect(near).toBeGreaterThan(far + 0.1);
    expect(Math.abs((await cosine(lexical, question, CODE)) - (await cosine(lexical, question, OTHER)))).toBeLessThan(
      0.1,
    );
    const { results } = await createReranker(config, deps)!.rerank(question, [OTHER, CODE]);
    expect(results[1]?.relevanceScore).toBeGreaterThan(results[0]?.relevanceScore as number);
  });

  it("give any text a vector of norm 1, the same every time", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary" }), async (text) => {
        for (const inputType of ["query", "document"] as const) {
          const { vectors } = await embedder.embed([text, "between", text], { inputType });
          expect(vectors[0]).toEqual(vectors[2]);
          expect(Math.hypot(...(vectors[0] as Float32Array))).toBeCloseTo(1, 5);
        }
      }),
      { numRuns: 15 },
    );
  });

  it("are fixed to the bit", async () => {
    expect(await hashOfTermVectors(shippedTerms)).toBe(GOLDEN_TERMS_SHA256);
  });

  it("have other fingerprints than the lexical ones, and say what they lack", () => {
    expect(embedder.fingerprint).not.toBe(lexical.fingerprint);
    expect(createReranker(config, deps)?.fingerprint).not.toBe(
      createReranker({ ...config, model: "lexical" }, deps)?.fingerprint,
    );
    expect(() => createEmbedder(config, { fetch: deps.fetch })).toThrow(/table.*lexical/);
  });
});
