import { inMemory } from "../../../src/engines/search/bytes.ts";
import * as fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { search } from "../../../src/engines/search/search.ts";
import type { QueryVector } from "../../../src/engines/search/similarity.ts";
import { SearchFormatError } from "../../../src/engines/search/types.ts";
import { buildVectorSection, signBits, VectorSection } from "../../../src/engines/search/vector-section.ts";
import { seededFractions } from "../../support/numbers.ts";
import { openShop } from "./shop.ts";

const DIMENSION = 64;

/** Deterministic standard normal components (Box–Muller). */
function noise(seed: number, length = DIMENSION): Float32Array {
  const uniform = seededFractions(seed);
  return Float32Array.from(
    { length },
    () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform()),
  );
}

function mix(a: Float32Array, b: Float32Array, shareOfB: number): Float32Array {
  return a.map((value, i) => (1 - shareOfB) * value + shareOfB * (b[i] as number));
}

async function sectionOf(vectors: readonly (Float32Array | undefined)[]): Promise<VectorSection> {
  const bytes = buildVectorSection({
    segment: "s",
    chunkCount: vectors.length,
    dimension: vectors.find((vector) => vector !== undefined)?.length ?? 0,
    signsOf: (chunk) => vectors[chunk] && signBits(vectors[chunk]),
  });
  return VectorSection.open(inMemory(bytes));
}

describe("a vector section", () => {
  it("gives the number of differing signs, whatever the dimension and the number of chunks", async () => {
    const inputs = fc.record({
      count: fc.integer({ min: 0, max: 3_000 }),
      dimension: fc.integer({ min: 1, max: 700 }),
    });
    await fc.assert(
      fc.asyncProperty(inputs, async ({ count, dimension }) => {
        const vectors = Array.from({ length: count }, (_, i) => (i % 7 === 3 ? undefined : noise(i, dimension)));
        const query = noise(count + 1, dimension);
        const section = await sectionOf(vectors);
        const distances = await section.distances(signBits(query));
        expect(distances).toHaveLength(count);
        const held = vectors.map((_, chunk) => section.has(chunk));
        expect(held).toEqual(vectors.map((vector) => vector !== undefined));
        for (const [chunk, vector] of vectors.entries()) {
          if (!vector || chunk % 97 !== 0) continue;
          const signs = Array.from({ length: Math.min(dimension, 512) }, (_, i) => i);
          const differing = signs.filter((i) => (vector[i] as number) > 0 !== (query[i] as number) > 0).length;
          expect(distances[chunk]).toBe(differing);
        }
        expect(section.countVectors(0, count)).toBe(vectors.filter((vector) => vector !== undefined).length);
      }),
      { numRuns: 10 },
    );
  });

  it("notices damage and truncation", async () => {
    const vectors = Array.from({ length: 3_000 }, (_, i) => noise(i));
    const bytes = buildVectorSection({
      segment: "s",
      chunkCount: vectors.length,
      dimension: DIMENSION,
      signsOf: (chunk) => signBits(vectors[chunk] as Float32Array),
    });
    const read = async (own: Uint8Array) => (await VectorSection.open(inMemory(own))).distances(signBits(noise(1)));
    await expect(read(bytes.subarray(0, bytes.length - 4))).rejects.toThrow(SearchFormatError);
    for (const at of [0, 4, 20, 300, bytes.length - 1]) {
      const damaged = bytes.slice();
      damaged[at] = (damaged[at] as number) ^ 0x40;
      await expect(read(damaged), String(at)).rejects.toThrow(SearchFormatError);
    }
  });
});

/** Questions that share no telling word with the file that answers them, beside ones that the words answer. */
const LABELLED: [query: string, path: string][] = [
  ["stay logged in", "src/auth/session.py"],
  ["storing credentials so that a leak does no harm", "src/auth/password.py"],
  ["keep merchandise aside for a buyer", "lib/inventory.go"],
  ["notify the customer by e-mail", "lib/mailer.rb"],
  ["coupon", "src/cart/discount.ts"],
  ["lexer", "src/search/tokenizer.ts"],
  ["PaymentGateway", "src/checkout/payment_gateway.ts"],
  ["placeOrder", "src/checkout/index.ts"],
  ["add an item to the cart", "src/cart/cart.ts"],
  ["format a date as ISO 8601", "src/utils/date.ts"],
];

describe("similarity in the ranking", () => {
  let shop: Awaited<ReturnType<typeof openShop>>;
  beforeAll(async () => {
    shop = await openShop();
  });

  /** A vector of its own for each chunk: noise, and a share of the question that its file answers. */
  async function vectorFor(query: string, seed: number, shareOfLabel: number): Promise<QueryVector> {
    const { index } = shop;
    const question = noise(seed);
    const answers = LABELLED.find(([asked]) => asked === query)?.[1];
    const vectorOf = (document: number): Float32Array => {
      const isAnswer = index.path(index.fileOfDocument[document] as number) === answers;
      return mix(noise(seed * 1_000 + document + 1), question, isAnswer ? shareOfLabel : 0);
    };
    const sections = new Map<number, VectorSection[]>();
    for (const [segment, documents] of index.documentOfChunk.entries())
      sections.set(segment, [await sectionOf(Array.from(documents, (d) => (d < 0 ? undefined : vectorOf(d))))]);
    return {
      vector: question,
      sections,
      vectorsOf: async (chunks) =>
        chunks.map(({ revision, path, ordinal }) =>
          vectorOf((index.firstDocuments[index.fileAt(revision, path) ?? 0] as number) + ordinal),
        ),
    };
  }

  async function meanReciprocalRank(shareOfLabel: number | undefined, seeds = [1]): Promise<number> {
    let sum = 0;
    for (const seed of seeds) {
      for (const [query, path] of LABELLED) {
        const vector = shareOfLabel === undefined ? undefined : await vectorFor(query, seed, shareOfLabel);
        const { results } = await search(shop.index, { query }, shop.texts, vector);
        const rank = results.findIndex((result) => result.path === path);
        sum += rank < 0 ? 0 : 1 / (rank + 1);
      }
    }
    return sum / (seeds.length * LABELLED.length);
  }

  it("finds what the words do not, where the vectors know it", async () => {
    const words = await meanReciprocalRank(undefined);
    expect(words).toBeLessThan(0.75);
    expect(await meanReciprocalRank(0.6)).toBeGreaterThan(0.9);
  });

  it("changes next to nothing where the vectors are noise", async () => {
    const seeds = [1, 2, 3, 4, 5, 6, 7, 8];
    const words = await meanReciprocalRank(undefined);
    expect(Math.abs((await meanReciprocalRank(0, seeds)) - words)).toBeLessThan(0.02);
  });

  it("says so, and answers the same bytes again", async () => {
    const [query, path] = LABELLED[0] as [string, string];
    const ask = async () => search(shop.index, { query }, shop.texts, await vectorFor(query, 3, 0.6));
    const first = await ask();
    expect(first.results[0]).toMatchObject({
      path,
      matched: expect.arrayContaining([{ kind: "similarity", text: "embedding" }]),
    });
    expect(JSON.stringify(await ask())).toBe(JSON.stringify(first));
  });

  it("ignores vectors of another length", async () => {
    const query = "placeOrder";
    const vector = { ...(await vectorFor(query, 1, 0.6)), vector: noise(1, 32) };
    expect(await search(shop.index, { query }, shop.texts, vector)).toEqual(
      await search(shop.index, { query }, shop.texts),
    );
  });
});
