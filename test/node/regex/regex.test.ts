import { Hono } from "hono";
import { describe, expect, it, vi } from "vitest";
import { openShop } from "../retrieval/shop.ts";
import { findExpressions, recordBuilt, superlinearUnit } from "./probe.ts";

/** Expressions whose input is short whoever sends it, by file: what bounds it. */
const BOUNDED: Record<string, Record<string, string>> = {
  "src/cli/commands/doctor.ts": { "(\\d+)\\.(\\d+)": "the version that git prints" },
  "src/cli/terminal/ui.ts": { "\\B(?=(?:\\d{3})+$)": "the digits of one number" },
  "src/engines/relations/go-signature.ts": {
    "[\\p{L}\\p{N}_]+\\.": "a type in the head of a method, of less than 300 characters",
  },
  "src/cli/context.ts": { "\\/+$": "the URL that the user has configured" },
  "src/cli/exit-codes.ts": { "\\s*\\n\\s*": "the message of an error" },
  "src/cli/main.ts": { "\\s*\\n\\s*": "the message of an error" },
  "src/interface/client/transport.ts": { "\\/+$": "the URL that the caller has configured" },
  "src/tooling/conformance/conformance.ts": { "\\/+$": "the URL that the caller has given" },
  "src/engines/embedding/config.ts": { "\\/+$": "the URL that the operator has configured" },
  "src/service/gate/source.ts": { "%.*$": "an address in one line of a header" },
  "src/engines/git/wire/http.ts": { "\\/+$": "a source URL of at most 2,000 characters" },
  "src/engines/git/wire/url.ts": { "\\.+$": "the host of a source URL" },
  "src/engines/parsing/detect.ts": { "[\\d.]+$": "an interpreter's name in the first 256 bytes" },
  "src/engines/parsing/prose.ts": {
    "(?:\\s*(?:\\\\|\\{|=>|->|=|:|\\bdo|\\bbegin|\\bthen|;|,))+$": "the first 1,200 characters of a declaration",
  },
  "src/tooling/release/manifest.ts": { "\\[([^\\]\\n]*)\\]\\((?!https?:|#)([^)\\s]+)\\)": "this repository's README" },
  "src/workers/site/docs/search.ts": { " *\\| *": "this project's own documentation" },
  "src/service/snapshots/presign.ts": { "\\/+$": "the URL that the operator has configured" },
};

/** Odd words of a request, to be matched literally. */
const ODD_WORDS = ["a+", "(b*)+", "c|d", "[e", "\\w*"];

/** How every call of `RegExp` in a file is reached; the import alone builds the constants. */
const BUILDERS: Record<string, () => unknown> = {
  "src/workers/api/middleware/fallback.ts": async () => {
    // Not a plain import: the file's types are those of the Workers runtime, which this project does not know.
    const { fallback } = await vi.importActual<{ fallback: (app: unknown) => unknown }>(
      "../../../src/workers/api/middleware/fallback.ts",
    );
    fallback(new Hono().get("/v1/a/:name/b.json", (c) => c.text("")).get("/v1/:one/:two", (c) => c.text("")));
  },
  "src/engines/parsing/comments.ts": () => import("../../../src/engines/parsing/comments.ts"),
  "src/engines/search/keys.ts": async () => {
    const { declarationOf } = await import("../../../src/engines/search/keys.ts");
    declarationOf("a.b-c.d-e");
  },
  "src/engines/relations/php-types.ts": async () => {
    const { statedIn, statedNames } = await import("../../../src/engines/relations/php-types.ts");
    for (const tag of ["return", "var"]) statedIn(undefined, tag, {} as never);
    for (const tag of ["param", "var"] as const) statedNames(undefined, tag, {} as never);
  },
  "src/cli/commands/search.ts": async () => {
    const { highlighter } = await import("../../../src/cli/commands/search.ts");
    const matched = ODD_WORDS.map((text) => ({ kind: "word" as const, text }));
    highlighter({ ui: { style: (_style: string, text: string) => text } } as never, matched)("a+");
  },
  "src/engines/git/object.ts": async () => {
    const { headerField } = await import("../../../src/engines/git/object.ts");
    for (const name of ["tree", "parent", "object", "type"])
      headerField(new TextEncoder().encode(`${name} value\n`), name);
  },
  "src/tooling/local/admin/bucket.ts": async () => {
    const { openBucket } = await import("../../../src/tooling/local/admin/bucket.ts");
    vi.stubGlobal("fetch", async () => new Response("<Contents><Key>a</Key><Size>1</Size></Contents>"));
    try {
      const bucket = openBucket({ url: "http://localhost", accessKeyId: "id", secretAccessKey: "secret" });
      for await (const object of bucket.list()) expect(object).toEqual({ key: "a", size: 1 });
    } finally {
      vi.unstubAllGlobals();
    }
  },
  "src/engines/parsing/declarations/builds.ts": () => import("../../../src/engines/parsing/declarations/builds.ts"),
  "src/engines/parsing/declarations/functional.ts": () =>
    import("../../../src/engines/parsing/declarations/functional.ts"),
  "src/engines/parsing/declarations/scripts.ts": () => import("../../../src/engines/parsing/declarations/scripts.ts"),
  "src/engines/parsing/structure/sql.ts": () => import("../../../src/engines/parsing/structure/sql.ts"),
  "src/engines/parsing/secrets/assignments.ts": () => import("../../../src/engines/parsing/secrets/assignments.ts"),
  "src/engines/parsing/secrets/separators.ts": () => import("../../../src/engines/parsing/secrets/separators.ts"),
  "src/engines/parsing/secrets/places.ts": () => import("../../../src/engines/parsing/secrets/places.ts"),
  "src/engines/parsing/secrets/command-lines.ts": () => import("../../../src/engines/parsing/secrets/command-lines.ts"),
  "src/engines/parsing/secrets/find.ts": () => import("../../../src/engines/parsing/secrets/find.ts"),
  "src/engines/parsing/secrets/nearby.ts": () => import("../../../src/engines/parsing/secrets/nearby.ts"),
  "src/engines/search/word-evidence.ts": async () => {
    const shop = await openShop();
    const { search } = await import("../../../src/engines/search/search.ts");
    await search(shop.index, { query: `cart ${ODD_WORDS.join(" ")}` }, shop.texts);
  },
  "src/service/tenancy/credentials.ts": () => import("../../../src/service/tenancy/credentials.ts"),
};

describe("regular expressions of the sources", () => {
  const { literals: expressions, calls } = findExpressions();

  it("are found", () => {
    expect(expressions.length).toBeGreaterThan(400);
  });

  it("take linear time, or see short texts only", { timeout: 120_000 }, () => {
    const found = expressions
      .filter(({ file, source }) => BOUNDED[file]?.[source] === undefined)
      .flatMap((expression) => {
        // Twice, so that a busy machine is no finding.
        const unit = superlinearUnit(expression) && superlinearUnit(expression);
        return unit === undefined
          ? []
          : [`${expression.file}: /${expression.source}/ on ${JSON.stringify(unit)}, repeated`];
      });
    expect(found).toEqual([]);
  });

  it("take linear time where they are built from strings", async () => {
    // A file that is missing in BUILDERS, or a call that its builder does not reach, fails here.
    vi.resetModules();
    const built = await recordBuilt(async () => {
      for (const build of Object.values(BUILDERS)) await build();
    });
    const reached: Record<string, number> = {};
    for (const at of new Set(built.map(({ file, place }) => `${file} ${place}`))) {
      const file = at.split(" ")[0] ?? "";
      reached[file] = (reached[file] ?? 0) + 1;
    }
    expect(reached).toEqual(calls);
    expect(Object.keys(BUILDERS).toSorted()).toEqual(Object.keys(calls).toSorted());
    const distinct = new Map(built.map((expression) => [`${expression.file} ${expression.source}`, expression]));
    const found = [...distinct.values()].filter(
      (expression) => superlinearUnit(expression) !== undefined && superlinearUnit(expression) !== undefined,
    );
    expect(found).toEqual([]);
  });

  it("are tried in a way that notices quadratic and exponential ones", () => {
    // Five attempts each: a busy machine may hide one.
    const noticed = (source: string) =>
      Array.from({ length: 5 }).some(() => superlinearUnit({ file: "", source, flags: "" }) !== undefined);
    for (const source of ["\\/+$", "key\\w*=", "a.*b.*c"]) expect(noticed(source), source).toBe(true);
    for (const source of ["^\\/+", "[a-z]+", "x{1,20}$"])
      expect(superlinearUnit({ file: "", source, flags: "" }), source).toBeUndefined();
  });

  it("are listed as bounded only where they still are", () => {
    for (const [file, sources] of Object.entries(BOUNDED)) {
      for (const source of Object.keys(sources))
        expect(
          expressions.some((found) => found.file === file && found.source === source),
          `${file}: ${source}`,
        ).toBe(true);
    }
  });
});
