import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  CompatRerankRequest,
  EmbeddingsRequest,
  EmbedRequest,
  IndexRequest,
  PublishRequest,
  RerankRequest,
  SearchRequest,
  SnapshotJobRequest,
  SnapshotManifest,
} from "../../src/contract/index.ts";

const SCHEMAS = {
  CompatRerankRequest,
  EmbeddingsRequest,
  EmbedRequest,
  IndexRequest,
  PublishRequest,
  RerankRequest,
  SearchRequest,
};

const UUID = "7d9f2c1e-3b4a-4c5d-8e6f-0a1b2c3d4e5f";
const MANIFEST = {
  formatVersion: 2,
  gitSha: "a".repeat(40),
  checksum: `sha256:${"0".repeat(64)}`,
  compression: "none",
  fileCount: 1,
  symbolCount: 2,
  embedding: { fingerprint: "emb_0", dimension: 256 },
};
const SOURCE = { type: "git", url: "https://github.com/owner/name.git" };
const index = (change: object) => IndexRequest.safeParse({ workspaceId: UUID, source: SOURCE, ...change });

/** Paths of the rejected fields. */
const rejected = (result: { success: boolean; error?: { issues: { path: PropertyKey[] }[] } }) =>
  result.error?.issues.map(({ path }) => path.map(String).join(".")) ?? [];

describe("strings that cannot be stored", () => {
  it.each([
    ["EmbedRequest", { input: ["a", "BAD"] }, "input.1"],
    ["RerankRequest", { query: "BAD", documents: ["a"] }, "query"],
    ["RerankRequest", { query: "q", documents: ["BAD"] }, "documents.0"],
    ["EmbeddingsRequest", { model: "m", input: "BAD" }, "input"],
    ["CompatRerankRequest", { query: "BAD", documents: ["a"] }, "query"],
    ["IndexRequest", { workspaceId: UUID, source: { ...SOURCE, url: "BAD" } }, "source.url"],
    ["IndexRequest", { workspaceId: UUID, source: { ...SOURCE, ref: "BAD" } }, "source.ref"],
    ["IndexRequest", { workspaceId: UUID, source: { ...SOURCE, auth: { token: "BAD" } } }, "source.auth.token"],
    ["IndexRequest", { workspaceId: UUID, source: SOURCE, options: { include: ["BAD"] } }, "options.include.0"],
    ["PublishRequest", { op: "sign", repo: "BAD", manifest: MANIFEST }, "repo"],
    ["PublishRequest", { op: "sign", manifest: { ...MANIFEST, compression: "BAD" } }, "manifest.compression"],
    ["PublishRequest", { op: "sign", manifest: { ...MANIFEST, own: { deep: ["BAD"] } } }, "manifest.own.deep.0"],
    ["PublishRequest", { op: "sign", manifest: { ...MANIFEST, own: { BAD: 1 } } }, "manifest.own"],
    ["SearchRequest", { query: "BAD" }, "query"],
  ] as const)("are rejected by %s at their field: %j", (name, body, field) => {
    for (const bad of ["a\u0000b", "a\ud800b", "\udc00"]) {
      const json = JSON.stringify(body).replace("BAD", JSON.stringify(bad).slice(1, -1));
      expect(rejected(SCHEMAS[name].safeParse(JSON.parse(json)))).toContain(field);
    }
    const fine = JSON.parse(JSON.stringify(body).replace("BAD", "a \\u00e9 \\ud83d\\ude00")) as unknown;
    expect(rejected(SCHEMAS[name].safeParse(fine))).not.toContain(field);
  });

  it("are told from all others", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 40 }), (value) => {
        const isClean = value.isWellFormed() && !value.includes("\0");
        expect(EmbedRequest.safeParse({ input: [`x${value}`] }).success).toBe(isClean);
      }),
    );
  });
});

describe("a manifest", () => {
  it("nested deeper than anyone means is rejected, however deep", () => {
    for (const depth of [100, 500_000]) {
      const json = JSON.stringify({ ...MANIFEST, own: 0 }).replace(
        '"own":0',
        `"own":${"[".repeat(depth)}${"]".repeat(depth)}`,
      );
      const body = { op: "sign", manifest: JSON.parse(json) as unknown };
      expect(rejected(PublishRequest.safeParse(body))).toEqual(["manifest.own"]);
    }
  });
});

describe("an index request", () => {
  it("takes auth without a type, and without a token", () => {
    for (const auth of [{ token: "t" }, { type: "token", token: "t" }, {}, { type: "token" }]) {
      expect(index({ source: { ...SOURCE, auth } }).success).toBe(true);
    }
    expect(rejected(index({ source: { ...SOURCE, auth: { type: "basic", token: "t" } } }))).toEqual([
      "source.auth.type",
    ]);
  });

  it("takes any positive maxFileSizeBytes; the service's cap holds", () => {
    const sizeOf = (maxFileSizeBytes: number) =>
      index({ options: { maxFileSizeBytes } }).data?.options.maxFileSizeBytes;
    expect([sizeOf(1), sizeOf(2 ** 40), index({}).data?.options.maxFileSizeBytes]).toEqual([1, 4 * 2 ** 20, 524_288]);
    expect([sizeOf(0), sizeOf(-1), sizeOf(1.5)]).toEqual([undefined, undefined, undefined]);
  });

  it("takes thousands of globs", () => {
    const include = Array.from({ length: 5_000 }, (_, i) => `src/${i}/**/*.ts`);
    expect(index({ options: { include } }).success).toBe(true);
    const endless = Array.from({ length: 2_000 }, () => "a".repeat(400));
    expect(rejected(index({ options: { exclude: endless } }))).toEqual(["options.exclude"]);
  });
});

it("takes a commit SHA in either case, and makes it lower case", () => {
  const source = SOURCE;
  const job = SnapshotJobRequest.parse({ tenantId: UUID, workspaceId: UUID, gitSha: "AB".repeat(20), source });
  expect(job.gitSha).toBe("ab".repeat(20));
  expect(SnapshotManifest.parse({ ...MANIFEST, gitSha: "ABCDEF1" }).gitSha).toBe("abcdef1");
});
