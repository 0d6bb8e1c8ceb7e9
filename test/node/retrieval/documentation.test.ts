import { describe, expect, it } from "vitest";
import { search } from "../../../src/engines/search/search.ts";
import { coldIndex, type TestFile, textsOf } from "./support.ts";

/** 45 lines of documentation above a function; chunks have 20 lines. */
function documented(bodyLines: number): TestFile {
  const doc = Array.from({ length: 45 }, (_, i) => `/// The upper limit of blocking threads, part ${i}.`);
  const other = ["fn other() {", ...Array.from({ length: 18 }, () => "    wait();"), "}"];
  const body = Array.from({ length: bodyLines }, (_, i) => `    run(${i});`);
  return {
    path: "src/blocking.rs",
    language: "rust",
    text: [...other, ...doc, "pub fn spawn_blocking() {", ...body, "}", ""].join("\n"),
    symbols: [
      { name: "other", startLine: 1, endLine: 20 },
      { name: "spawn_blocking", startLine: 66, endLine: 67 + bodyLines },
    ],
  };
}

describe("documentation that is longer than a chunk", () => {
  it.each([
    [3, 61, 70],
    [400, 61, 80],
  ])("leads to what it documents, which has %i lines", async (bodyLines, startLine, endLine) => {
    const file = documented(bodyLines);
    const { results } = await search(await coldIndex([file]), { query: "limit of blocking threads" }, textsOf([file]));
    expect(results[0]?.symbol?.name).toBe("spawn_blocking");
    expect(results[0]?.excerpts.map((own) => [own.startLine, own.endLine])).toEqual([[startLine, endLine]]);
  });
});

describe("a class within a module, below a comment", () => {
  const head = (commentLines: number): string[] => [
    "module Records",
    ...Array.from({ length: commentLines }, (_, i) => `  # Keeps the association of a record, part ${i}.`),
    "  class Owner",
  ];
  const body = Array.from({ length: 30 }, (_, i) => `    option :of_${i}`);

  it.each([8, 18, 30])("is what %i lines of comment are about, not the module", async (commentLines) => {
    const lines = [...head(commentLines), ...body, "  end", "end", ""];
    const start = commentLines + 2;
    const file: TestFile = {
      path: "lib/records.rb",
      language: "ruby",
      text: lines.join("\n"),
      symbols: [
        { name: "Records", kind: "module", startLine: 1, endLine: start + 32 },
        { name: "Owner", kind: "class", startLine: start, endLine: start + 31 },
      ],
    };
    const { results } = await search(
      await coldIndex([file]),
      { query: "where is the association kept" },
      textsOf([file]),
    );
    expect(results[0]?.symbol?.name).toBe("Owner");
  });
});
