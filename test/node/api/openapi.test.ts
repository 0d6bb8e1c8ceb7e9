import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { ERROR_STATUS, type ErrorCode } from "../../../src/contract/index.ts";
import { buildDocument, errorCodesOf } from "../../../src/workers/api/openapi/document.ts";
import { generatedFiles } from "../../../src/workers/api/openapi/files.ts";
import { ROUTES } from "../../../src/workers/api/routes.ts";

const read = (file: string) => readFileSync(path.join(import.meta.dirname, "../../..", file), "utf8");
const document = buildDocument(ROUTES, "1.2.3");
const operation = (id: string) => {
  const found = ROUTES.find((candidate) => candidate.id === id);
  if (!found) throw new Error(`no operation ${id}`);
  return found;
};

describe("the generated documents", () => {
  const { version } = JSON.parse(read("package.json")) as { version: string };
  it.each(Object.entries(generatedFiles(version)))("%s is up to date: if not, run npm run docs", (file, text) => {
    expect(read(file) === text).toBe(true);
  });

  it("would not be, with a route that they lack", () => {
    const planted = { ...operation("symbols"), id: "planted", path: "/planted" };
    const files = generatedFiles(version, [...ROUTES, planted]);
    for (const file of ["docs/http.md", "docs/openapi.json"]) expect(files[file]).not.toBe(read(file));
  });
});

describe("the OpenAPI document", () => {
  it("has no reference into nothing", () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = ""]) => path);
    expect(references.length).toBeGreaterThan(50);
    for (const reference of references) {
      const target = reference
        .split("/")
        .reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], document);
      expect(target, reference).toBeDefined();
    }
  });

  it("names every operation once", () => {
    const ids = Object.values(document.paths).flatMap((path) =>
      Object.values(path).map(({ operationId }) => operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.toSorted()).toEqual(ROUTES.map(({ id }) => id).toSorted());
  });

  it("knows every error code, those apart that belong to no route", () => {
    const used = new Set<ErrorCode>(ROUTES.flatMap(errorCodesOf));
    const unused = (Object.keys(ERROR_STATUS) as ErrorCode[]).filter((code) => !used.has(code));
    expect(unused).toEqual(["METHOD_NOT_ALLOWED"]);
  });

  it("shows the statuses, codes and headers of POST /embed", () => {
    const embed = document.paths["/embed"]?.["post"];
    expect(Object.keys(embed?.responses ?? {})).toEqual([
      "200",
      "400",
      "401",
      "403",
      "413",
      "429",
      "500",
      "502",
      "503",
      "504",
    ]);
    expect(JSON.stringify(embed?.responses["200"])).toMatch(/X-RateLimit-Remaining.*EmbedResponse/);
    expect(JSON.stringify(embed?.responses["429"])).toMatch(/Retry-After.*RateLimitedBody.*QUOTA_EXCEEDED/);
    expect(JSON.stringify(embed?.responses["401"])).not.toMatch(/X-RateLimit/);
    expect(document.components.schemas["EmbedRequest"]).toMatchObject({
      properties: {
        input: { minItems: 1, maxItems: 128, items: { minLength: 1 } },
        inputType: { default: "document" },
      },
      required: ["input"],
    });
  });
});

it("derives errors from credential, surface and body", () => {
  expect(errorCodesOf(operation("health"))).toEqual(["RATE_LIMITED", "INTERNAL"]);
  expect(errorCodesOf(operation("startSnapshotJob"))).not.toContain("INVALID_BODY");
  expect(errorCodesOf(operation("index"))).toEqual(
    expect.arrayContaining(["INVALID_BODY", "INPUT_TOO_LARGE", "UNAUTHORIZED", "RATE_LIMITED"]),
  );
});

it("has examples that are valid", () => {
  for (const { id, body } of ROUTES) {
    if (body) expect(body.schema.safeParse(body.example).success, id).toBe(true);
  }
});
