import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readAnswer } from "../../../src/client/answers.ts";
import * as contract from "../../../src/contract/index.ts";

const hex = (length: number) => fc.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`));
const count = fc.nat();
const positive = fc.integer({ min: 1 });
const time = fc.date({ noInvalidDate: true }).map((date) => date.toISOString());

const check = { ok: fc.constant(true), fingerprint: fc.string(), dimension: positive };
const manifest = fc.record(
  {
    formatVersion: positive,
    gitSha: hex(40),
    checksum: hex(64).map((digits) => `sha256:${digits}`),
    compression: fc.string({ minLength: 1, maxLength: 41 }),
    fileCount: count,
    symbolCount: count,
    embedding: fc.record({ fingerprint: fc.string({ minLength: 1 }), dimension: positive, model: fc.string() }),
    sizeBytes: positive,
    note: fc.jsonValue(),
  },
  { requiredKeys: ["formatVersion", "gitSha", "checksum", "compression", "fileCount", "symbolCount", "embedding"] },
);

const ANSWERS = {
  EmbedCheckResponse: [
    contract.EmbedCheckResponse,
    contract.plainEmbedCheckResponse,
    fc.record({ ...check, more: fc.jsonValue() }),
  ],
  EmbedResponse: [
    contract.EmbedResponse,
    contract.plainEmbedResponse,
    fc.record({
      ...check,
      embeddings: fc.array(fc.record({ index: count, vector: fc.array(fc.double({ noNaN: true })), more: count })),
      usage: fc.record({ credits: count, more: count }),
    }),
  ],
  ProbeResponse: [
    contract.ProbeResponse,
    contract.plainProbeResponse,
    fc.oneof(
      fc.record({ ok: fc.constant(true), exists: fc.constant(false), more: count }),
      fc.record({
        ok: fc.constant(true),
        exists: fc.constant(true),
        gitSha: fc.string(),
        builtAt: fc.oneof(time, fc.constantFrom("2026-02-30T00:00:00.000Z", "2026-02-03T04:05:06Z")),
        sizeBytes: count,
        fileCount: count,
        symbolCount: count,
        embeddingModel: fc.string(),
        isCurrent: fc.boolean(),
        more: fc.jsonValue(),
      }),
    ),
  ],
  PullResponse: [
    contract.PullResponse,
    contract.plainPullResponse,
    fc.record({ ok: fc.constant(true), manifest, signedUrl: fc.webUrl(), expiresIn: count, more: count }),
  ],
} as const satisfies Partial<Record<keyof typeof contract, unknown>>;

/** The value, sometimes with one thing in it exchanged or taken away. */
const spoiled = (value: unknown, odds: number, replacement: unknown): unknown => {
  if (typeof value !== "object" || value === null) return odds % 3 === 0 ? replacement : value;
  const entries = Object.entries(value);
  const [key, inner] = entries[odds % Math.max(entries.length, 1)] ?? [];
  if (key === undefined) return replacement;
  const copy = structuredClone(value);
  if (odds % 7 === 0) Reflect.deleteProperty(copy, key);
  else Reflect.set(copy, key, spoiled(inner, Math.floor(odds / entries.length), replacement));
  return copy;
};

describe.each(Object.entries(ANSWERS))("%s", (name, [schema, plainOf, arbitrary]) => {
  it("is read alike with and without its schema, and what is not plain is left to it", () => {
    const seen = { plain: 0, left: 0 };
    const odds = fc.option(fc.nat(10_000), { freq: 2 });
    fc.assert(
      fc.property(arbitrary as fc.Arbitrary<unknown>, odds, fc.jsonValue(), (value, at, replacement) => {
        const data: unknown = JSON.parse(JSON.stringify(at === null ? value : spoiled(value, at, replacement)));
        const plain = plainOf(data);
        seen[plain === undefined ? "left" : "plain"]++;
        if (plain !== undefined) expect(plain).toEqual(schema.parse(data));
      }),
      { numRuns: 500 },
    );
    expect(seen.plain).toBeGreaterThan(0);
    expect(seen.left).toBeGreaterThan(0);
  });

  it("is told where it is wrong", async () => {
    expect(await readAnswer(name as keyof typeof ANSWERS, { ok: false })).toHaveProperty("issue");
  });
});

it("leaves what only the schema knows to it", async () => {
  const probe = { ok: true, exists: true, gitSha: "a", sizeBytes: 1, fileCount: 1, symbolCount: 1 };
  const answer = { ...probe, builtAt: "2026-02-03T04:05:06Z", embeddingModel: "m", isCurrent: true };
  expect(contract.plainProbeResponse(answer)).toBeUndefined();
  expect(await readAnswer("ProbeResponse", answer)).toEqual({ answer });
});
