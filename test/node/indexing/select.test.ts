import { describe, expect, it } from "vitest";
import { IgnoreRules } from "../../../src/cli/indexing/ignore-rules.ts";
import { selectPath } from "../../../src/cli/indexing/scan.ts";
import { createSelector } from "../../../src/service/indexing/select.ts";

const taken = (options: { include?: string[]; exclude?: string[] }, paths: string[]) => {
  const select = createSelector(options);
  return paths.filter((path) => select(path).take);
};

describe("the selector", () => {
  it("takes every known language by default, and neither vendored nor lock files", () => {
    const paths = [
      "src/a.ts",
      "a.unknown",
      "node_modules/x/a.js",
      "package-lock.json",
      "Makefile",
      "docs/x.md",
      "app.min.js",
    ];
    expect(taken({}, paths)).toEqual(["src/a.ts", "Makefile", "docs/x.md"]);
    expect(createSelector({})("package-lock.json")).toEqual({ take: false, reason: "lockfile" });
    expect(createSelector({})("a.unknown")).toEqual({ take: false, reason: "unknown_type" });
    expect(createSelector({ include: ["*.ts"] })("a.js")).toEqual({ take: false, reason: "not_included" });
    expect(createSelector({ exclude: ["gen"] })("gen/a.js")).toEqual({ take: false, reason: "excluded" });
    expect(createSelector({ include: ["!docs"] })("docs/a.md")).toEqual({ take: false, reason: "not_included" });
    expect(createSelector({ include: ["!docs"] })("a.md")).toEqual({ take: true, language: "markdown" });
  });

  it("leaves the language to the first line where the name says nothing", () => {
    const select = createSelector({});
    for (const path of ["bin/install", "test/nvm use v0.1. works", "x.v-2"]) {
      expect(select(path), path).toEqual({ take: true, language: null });
    }
    expect(select("logo.png")).toEqual({ take: false, reason: "unknown_type" });
  });

  it.each([
    "src/a.ts",
    "data/rows.csv",
    "fix.patch",
    "logo.png",
    "a.unknown",
    "bin/install",
    "vendor/lib.go",
    "vendor/rows.csv",
    "vendor/tool",
    "yarn.lock",
    "dist/app.js",
    "app.min.css",
    "api.pb.go",
    "node_modules/x/logo.png",
  ])("decides about %s as the CLI does", (path) => {
    const verdict = createSelector({})(path);
    const skipped: Record<string, number> = {};
    const language = selectPath(path, new IgnoreRules(), skipped, () => undefined);
    // Neither a name nor a first line tells the type.
    const byFirstLine = verdict.take && verdict.language === null;
    expect(language ?? Object.keys(skipped)[0]).toBe(
      byFirstLine ? "unknown_type" : verdict.take ? verdict.language : verdict.reason,
    );
  });

  it.each([
    ["*.ts", ["a.ts", "b/c.ts"], ["a.js"]],
    ["src", ["src/a.ts", "lib/src/b.ts"], ["srcs/a.ts"]],
    ["src/", ["src/a.ts"], ["a/srcx.ts"]],
    ["/src", ["src/a.ts"], ["lib/src/b.ts"]],
    ["./src/**/*.ts", ["src/a.ts", "src/x/y/a.ts"], ["a.ts"]],
    ["src/*.{ts,js}", ["src/a.ts", "src/b.js"], ["src/x/a.ts", "src/a.py"]],
    ["**/test_*.py", ["test_a.py", "x/test_b.py"], ["x/a_test.py"]],
    [".github/**", [".github/workflows/ci.yml"], ["github/ci.yml"]],
  ])("include %s", (glob, yes, no) => {
    expect(taken({ include: [glob] }, [...yes, ...no])).toEqual(yes);
  });

  it("applies exclude after include", () => {
    expect(
      taken({ include: ["**/*.ts"], exclude: ["**/*.test.ts", "gen"] }, ["a.ts", "a.test.ts", "gen/b.ts"]),
    ).toEqual(["a.ts"]);
  });

  it("takes a skipped file or folder when include names it", () => {
    expect(taken({ include: ["**/*.js"] }, ["vendor/a.js", "b.js"])).toEqual(["b.js"]);
    expect(taken({ include: ["vendor/**"] }, ["vendor/a.js", "b.js"])).toEqual(["vendor/a.js"]);
    expect(taken({ include: ["package-lock.json"] }, ["package-lock.json"])).toEqual(["package-lock.json"]);
  });

  it("indexes an unknown extension as text when asked to", () => {
    expect(createSelector({ include: ["*.foo"] })("a.foo")).toEqual({ take: true, language: "text" });
  });
});
