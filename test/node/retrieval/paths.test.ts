import { describe, expect, it } from "vitest";
import { PathReader } from "../../../src/engines/search/paths.ts";
import { splitPath, TRAIT } from "../../../src/engines/search/traits.ts";

function traitsOf(path: string, language = "typescript"): string[] {
  const traits = new PathReader().traits(path, splitPath(path), language, () => false);
  return Object.entries(TRAIT).flatMap(([name, bit]) => ((traits & bit) === 0 ? [] : [name]));
}

describe("traits of paths", () => {
  it.each([
    "t/unit/app/test_beat.py",
    "t/lib/Helper.pm",
    "integration_test/cases/repo.ex",
    "packages/test-utils/src/render.ts",
    "okhttp-testing-support/src/Rule.kt",
    "Src/Serializer.Tests/Issue.cs",
    "Tests/ChannelTests/Loop.swift",
    "src/__fixtures__/tree.ts",
    "src/router.test.ts",
    "regress/conf.sh",
  ])("%s is a test", (path) => {
    expect(traitsOf(path)).toContain("test");
  });

  it.each([
    "src/t/translate.ts",
    "src/contest/vote.ts",
    "src/latest/index.ts",
    "celery/contrib/testing/worker.py",
    "src/inspector/open.ts",
    "src/attestation.ts",
  ])("%s has no traits", (path) => {
    expect(traitsOf(path)).toEqual([]);
  });

  it.each(["index.d.ts", "index.d.cts", "types/index.d.mts"])("%s declares what is elsewhere", (path) => {
    expect(traitsOf(path)).toEqual(["header"]);
  });

  it("vendored code counts as generated, not as internal", () => {
    expect(traitsOf("third_party/zlib/inflate.c", "c")).toEqual(["generated"]);
    expect(traitsOf("src/internal/pool.ts")).toEqual(["internal"]);
  });
});
