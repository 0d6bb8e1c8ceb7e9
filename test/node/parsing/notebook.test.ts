import { describe, expect, it } from "vitest";
import { contentSkipReason } from "../../../src/engines/parsing/skip.ts";
import { callsIn } from "../relations/support.ts";
import { encode, parseText, summarize } from "./support.ts";

interface Cell {
  cell_type: "code" | "markdown";
  source: string[] | string;
  outputs?: unknown[];
}

const lines = (text: string): string[] => text.split(/(?<=\n)/);
const code = (text: string, ...outputs: unknown[]): Cell => ({ cell_type: "code", source: lines(text), outputs });
const image = { output_type: "display_data", data: { "image/png": "iVBORw0KGgo".repeat(3000) } };

const notebook = (cells: Cell[], language = "python"): string =>
  JSON.stringify({ cells, metadata: { kernelspec: { language } }, nbformat: 4 }, null, 1);

describe("a notebook", () => {
  it("has no large outputs in its chunks, and small ones", async () => {
    const text = notebook([
      code("def first():\n    pass\n", image),
      code("def second():\n    pass\n", { text: ["done\n"] }),
    ]);
    const { chunks, outcome } = await parseText("notebook", text);
    expect(outcome).toBe("syntax");
    const kept = chunks.map((chunk) => chunk.text).join("\n");
    expect(kept).not.toContain("iVBORw0KGgo");
    expect(kept).toContain('"done\\n"');
    expect(chunks.map(({ symbol }) => symbol)).toEqual([0, 1]);
  });

  it("is cut between cells, then between statements", async () => {
    const cell = (name: string) => code(`def ${name}():\n${`    call("${"x".repeat(30)}")\n`.repeat(20)}`);
    const { chunks, symbols } = await parseText("notebook", notebook([cell("a"), cell("b"), cell("c")]));
    expect(chunks.map(({ symbol }) => symbol && symbols[symbol]?.name).filter(Boolean)).toEqual(["b", "c"]);
    for (const { text } of chunks.slice(1)) expect(text).toMatch(/^\s*(?:\{\s*"cell_type"|\],)/);
  });

  it("is minified by no outputs", () => {
    const table = { data: { "text/html": "<td>{(1)};[2];</td>".repeat(2000) } };
    expect(contentSkipReason(encode(notebook([code("x = 1\n", table)])))).toBeUndefined();
  });

  it("keeps its symbols where a line of output is as long as a file", async () => {
    const long = { data: { "image/png": "A".repeat(400_000) } };
    const { symbols } = await parseText("notebook", notebook([code("def f(): pass\n", long)]));
    expect(symbols.map(({ name }) => name)).toEqual(["f"]);
  });

  it("in another language has its headings only", async () => {
    const text = notebook([{ cell_type: "markdown", source: ["## Data\n"] }, code("def f(): pass\n")], "R");
    const parsed = await parseText("notebook", text);
    expect(summarize(parsed)).toEqual(["6 heading Data :: ## Data"]);
    expect(parsed.uses).toBeUndefined();
  });

  it.each([
    ["on one line", JSON.stringify({ cells: [code("def f(): pass\n")] })],
    ["with cells that are one string", notebook([{ cell_type: "code", source: "def f(): pass\n" }])],
    ["broken off", notebook([code("def f(): pass\n")]).slice(0, 60)],
    ["nested without end", "[".repeat(100_000)],
    ["of quotes", '"'.repeat(100_001)],
  ])("that cannot be read by lines, %s, is plain text", async (_, text) => {
    const { outcome, symbols, chunks } = await parseText("notebook", text);
    expect({ outcome, symbols }).toEqual({ outcome: "plain", symbols: [] });
    expect(chunks[0]?.text.slice(0, 10)).toBe(text.slice(0, 10));
  });

  it("calls what it imports and what its cells define", async () => {
    const source = 'from features import build\nbuild("\\"x\\"")\n%time local()\ndef local(): pass\n';
    const files = { "features.py": "def build(name): pass\n", "a.ipynb": notebook([code(source), code("local()\n")]) };
    expect(await callsIn(files, "a.ipynb")).toEqual([
      "build@7 → features.py:1",
      "local@8 → a.ipynb:9",
      "local@16 → a.ipynb:9",
    ]);
  });

  it("withholds the lines of secrets", async () => {
    const text = notebook([code('api_key = "8f3a9c1e7b2d4f60a1c3e5b7d9f02468"\n')]);
    expect((await parseText("notebook", text)).withheldLines).toEqual([[6, 6]]);
  });
});
