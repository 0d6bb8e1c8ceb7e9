import { describe, expect, it } from "vitest";
import { inlineTests, linesWithin } from "../../../src/engines/search/inline-tests.ts";
import { search } from "../../../src/engines/search/search.ts";
import { coldIndex, type TestFile, textsOf } from "./support.ts";

const CODE = [
  "/// Splits a query into its parts.",
  "pub fn split(query: &str) -> Parts {",
  ...Array.from({ length: 16 }, (_, i) => `    parts.push(query.get(${i}));`),
  "}",
  "",
];
const UNIT_TESTS = [
  "#[cfg(test)]",
  "mod tests {",
  "    #[test]",
  "    fn query_is_split() {",
  ...Array.from({ length: 13 }, (_, i) => `        assert_eq!(split("query parts ${i}"), query_parts_split(${i}));`),
  "    }",
  "}",
];
const parser: TestFile = {
  path: "src/parser.rs",
  language: "rust",
  text: [...CODE, ...UNIT_TESTS].join("\n"),
  symbols: [
    { name: "split", startLine: 2, endLine: 19 },
    { name: "tests", kind: "module", startLine: 22, endLine: 39 },
    { name: "query_is_split", qualifiedName: "tests::query_is_split", parent: 1, startLine: 24, endLine: 38 },
  ],
};

describe("tests in the file of what they test", () => {
  const placesFor = async (query: string, file: TestFile = parser) => {
    const { results } = await search(await coldIndex([file]), { query, maxTokens: 4_000 }, textsOf([file]));
    const [best] = results;
    return { best: best?.symbol?.qualifiedName, shown: best?.excerpts.map((own) => [own.startLine, own.endLine]) };
  };

  it("count less than the code, and are shown where a query asks for tests", async () => {
    expect((await placesFor("where is the query split into parts")).best).toBe("split");
    expect((await placesFor("tests of how a query is split into parts")).best).toBe("tests");
  });

  it("are not shown behind the code of their chunk, nor are their attributes", async () => {
    const short: TestFile = {
      path: "src/flags.rs",
      language: "rust",
      text: [
        "pub fn max_depth() -> usize {",
        "    200",
        "}",
        "",
        "#[cfg(test)]",
        "#[test]",
        "fn test_depth() {",
        "    assert_eq!(200, max_depth());",
        "}",
      ].join("\n"),
      symbols: [
        { name: "max_depth", startLine: 1, endLine: 3 },
        { name: "test_depth", startLine: 7, endLine: 9 },
      ],
    };
    expect((await placesFor("where is the depth", short)).shown).toEqual([[1, 3]]);
    const alone = { ...short, symbols: [{ name: "test_depth", startLine: 1, endLine: 9 }] };
    expect((await placesFor("where is the depth", alone)).shown).toEqual([[1, 9]]);
  });
});

describe("lines of tests", () => {
  it("are those of modules, functions of Rust and test blocks", () => {
    const symbol = (name: string, kind: string, startLine: number, endLine: number) => ({
      name,
      kind,
      startLine,
      endLine,
      qualifiedName: name,
      parent: null,
    });
    const symbols = [
      symbol("test_client", "method", 1, 3),
      symbol("tests", "module", 5, 9),
      symbol("inner", "function", 6, 8),
      symbol("adds", "test", 10, 12),
    ];
    expect(inlineTests({ symbols }, "python")).toEqual([
      { startLine: 5, endLine: 9 },
      { startLine: 10, endLine: 12 },
    ]);
    const ranges = inlineTests({ symbols }, "rust");
    expect(ranges[0]).toEqual({ startLine: 1, endLine: 3 });
    expect(linesWithin(ranges, { startLine: 3, endLine: 6 })).toBe(3);
  });
});
