import { describe, expect, it } from "vitest";
import { filesAlike } from "../../../src/engines/impact/alike.ts";
import type { LineLike } from "../../../src/engines/impact/lines.ts";
import { WordCounts } from "../../../src/engines/impact/words.ts";
import { analyzeContent } from "../../../src/engines/search/analyze.ts";
import { buildSegment } from "../../../src/engines/search/segment-writer.ts";
import { contentOf, openFiles, segmentOf, type TestFile } from "../retrieval/support.ts";

/** Files with the words of a line, as a change of these lines has them. */
async function withLines(texts: Readonly<Record<string, string>>, lines: string[]): Promise<Map<string, LineLike>> {
  const files = Object.entries(texts).map(([path, text]): TestFile => ({ path, text, language: "typescript" }));
  const segment = await segmentOf(buildSegment(files.map((file) => analyzeContent(contentOf(file)))));
  const words = new WordCounts();
  for (const line of lines) words.add(line, 2);
  const { withLines: found } = await filesAlike(await openFiles(files, [segment]), words.terms(), 10, lines);
  return found;
}

const best = (found: ReadonlyMap<string, LineLike>): string | undefined =>
  [...found].sort((a, b) => b[1].score - a[1].score)[0]?.[0];

/** Files with some of the words, and others with none. */
const OTHERS = Object.fromEntries(
  Array.from({ length: 20 }, (_, n) => [`other${n}.ts`, `legacy${n} socket${n};\n${"filler\n".repeat(n)}`]),
);

describe("files with the words of a changed line", () => {
  it("come first where one place has them all, not where a file has them in several", async () => {
    const spread = ["legacyTimeout;", "socket;", "retries;"].map((line) => line + "\n".repeat(25)).join("");
    const files = { ...OTHERS, "spread.ts": spread, "same.ts": "\n\nopen(socket, legacyTimeout, retries);\n" };
    const found = await withLines(files, ["  connect(socket, legacyTimeout, retries);", "unrelated();"]);
    expect(best(found)).toBe("same.ts");
    expect(found.get("same.ts")?.line).toBe("connect(socket, legacyTimeout, retries);");
    expect(found.get("spread.ts")?.share).toBeLessThan(found.get("same.ts")?.share ?? 0);
    expect(found.has("other1.ts")).toBe(false);
  });

  it("are not those that share a word which most places have, or one word alone", async () => {
    const rare = "alpha bravo charlie delta echo foxtrot golf hotel india juliett".split(" ");
    const files = Object.fromEntries(rare.map((word) => [`${word}.ts`, `common frequent ${word};`]));
    expect([...(await withLines(files, ["common frequent"]))]).toEqual([]);
    expect([...(await withLines(files, ["delta"]))]).toEqual([]);
    expect([...(await withLines(files, ["delta common frequent"])).keys()]).toEqual(["delta.ts"]);
  });

  it("have less of a line with words that no file has", async () => {
    const files = { ...OTHERS, "same.ts": "open(socket, timeout);" };
    const whole = (await withLines(files, ["socket timeout"])).get("same.ts");
    const part = (await withLines(files, ["socket timeout novel words here"])).get("same.ts");
    expect(whole?.share).toBeGreaterThan(0.9);
    expect(part?.share).toBeLessThan(0.5);
  });

  it("are found in bounded time in a change of many long lines", async () => {
    const names = Array.from({ length: 60 }, (_, n) => `name${n}`);
    const texts = Object.fromEntries(
      Array.from({ length: 300 }, (_, n) => [`f${n}.ts`, names.filter((_name, i) => (i + n) % 4 === 0).join(" ")]),
    );
    const lines = Array.from(
      { length: 5_000 },
      (_, n) => `${names[n % 60]} ${names[(n * 7) % 60]} ${"x ".repeat(n % 300)}`,
    );
    const found = await withLines(texts, [...lines, "y".repeat(1_000_000), "name1 ".repeat(100_000)]);
    expect(found.size).toBe(300);
  });
});
