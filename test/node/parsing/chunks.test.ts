import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { embeddingText, MAX_WEIGHT, TARGET_WEIGHT } from "../../../src/engines/parsing/chunks.ts";
import { encode, parseText, sharedParser, violations } from "./support.ts";

const solid = (text: string): number => text.replace(/\s/g, "").length;

function functionSource(name: string, statements: number): string {
  const body = Array.from(
    { length: statements },
    (_, index) => `  const value${index} = compute("${name}", ${index});`,
  );
  return `function ${name}() {\n${body.join("\n")}\n}\n`;
}

describe("chunks", () => {
  it("of a small file are one, of an empty or blank one none", async () => {
    expect((await parseText("typescript", "const a = 1;\n")).chunks).toHaveLength(1);
    expect((await parseText("typescript", "")).chunks).toEqual([]);
    expect((await parseText("typescript", "\n \n\t\n")).chunks).toEqual([]);
    expect((await parseText("text", "\n\r\n")).chunks).toEqual([]);
  });

  it("merge small siblings up to the target and keep a function whole up to the maximum", async () => {
    const small = Array.from({ length: 40 }, (_, index) => functionSource(`small${index}`, 3)).join("\n");
    const big = functionSource("big", 60);
    expect(solid(big)).toBeGreaterThan(TARGET_WEIGHT);
    expect(solid(big)).toBeLessThan(MAX_WEIGHT);
    const parsed = await parseText("javascript", `${small}\n${big}`);
    for (const chunk of parsed.chunks) {
      expect(solid(chunk.text)).toBeLessThanOrEqual(MAX_WEIGHT);
      expect(chunk.text.startsWith("function ")).toBe(true);
    }
    const last = parsed.chunks.at(-1)!;
    expect(last.text).toBe(big.trimEnd());
    expect(parsed.symbols[last.symbol!]?.name).toBe("big");
  });

  it("of a large class carry its scope as context, and no path", async () => {
    const methods = Array.from({ length: 12 }, (_, index) =>
      functionSource(`method${index}`, 12).replace("function ", ""),
    );
    const parsed = await parseText(
      "typescript",
      `namespace Space {\n/** Doc. */\nexport class Big {\n${methods.join("\n")}}\n}\n`,
    );
    expect(parsed.chunks.length).toBeGreaterThan(2);
    expect(parsed.chunks[0]).toMatchObject({ context: "", startLine: 1 });
    for (const chunk of parsed.chunks.slice(1)) {
      expect(chunk.context).toBe("namespace Space > class Big\nnamespace Space\nexport class Big");
      expect(chunk.text).toMatch(/^method\d+\(\)/);
    }
  });

  it("know nothing of members that are there for the outline", async () => {
    const members = Array.from({ length: 200 }, (_, index) => `  /** About ${index}. */\n  property${index}: string;`);
    const parsed = await parseText("typescript", `export interface Wide {\n${members.join("\n")}\n}\n`);
    expect(parsed.symbols).toHaveLength(201);
    expect(parsed.chunks.length).toBeGreaterThan(2);
    expect(parsed.chunks.map(({ symbol }) => symbol)).toEqual(parsed.chunks.map(() => 0));
    for (const chunk of parsed.chunks.slice(1)) {
      expect(chunk.context).toBe("interface Wide\nexport interface Wide");
    }
  });

  it("keep doc comments and decorators with what they belong to", async () => {
    const units = Array.from({ length: 60 }, (_, index) => {
      const body = Array.from({ length: 8 }, (_, line) => `    value_${line} = compute(${index}, ${line})`).join("\n");
      return `# about ${index}\n@decorated\ndef f${index}():\n${body}\n`;
    });
    const parsed = await parseText("python", units.join("\n"));
    expect(parsed.chunks.length).toBeGreaterThan(3);
    for (const chunk of parsed.chunks) expect(chunk.text).toMatch(/^# about \d+\n@decorated\ndef f/);
  });

  it("split what no syntax parts at blank lines, indentation, then anywhere between lines", async () => {
    const literal = Array.from({ length: 400 }, (_, index) => `line ${index} of a long template`).join("\n");
    const parsed = await parseText("javascript", `const text = \`\n${literal}\n\`;\n`);
    expect(parsed.chunks.length).toBeGreaterThan(2);
    for (const chunk of parsed.chunks) expect(solid(chunk.text)).toBeLessThanOrEqual(MAX_WEIGHT);
  });

  it("never cut a line, however long; only what is embedded of it is cut", async () => {
    const line = "x".repeat(50_000);
    const parsed = await parseText("text", `before\n${line}\nafter\n`);
    const long = parsed.chunks.find((chunk) => chunk.text.includes(line))!;
    expect(long.text).toBe(line);
    expect(embeddingText(long)).toBe(line.slice(0, 12_000));
  });

  it("have a hash of exactly what is embedded, the same for the same text", async () => {
    const source = functionSource("f", 3);
    const [first] = (await parseText("javascript", source)).chunks;
    const [second] = (await parseText("javascript", `\n\n${source}`)).chunks;
    expect(first?.hash).toBe(createHash("sha256").update(embeddingText(first!)).digest("hex"));
    expect(second?.hash).toBe(first?.hash);
    expect(second?.startLine).toBe(3);
  });

  it.each([
    ["CRLF", "a = 1\r\n\r\nb = 2\r\n"],
    ["a byte order mark", "\uFEFFdef f():\n    return 1\n"],
    ["no final line break", "a = 1\nb = 2"],
    ["lone carriage returns", "a = 1\rb = 2\r\nc = 3"],
    ["form feeds and U+2028", "a = 1\f\n\u2028b = '\u2029'\n\f\n"],
    ["astral characters", "s = '😀𝒳'\ndef f𝒳():\n    pass\n"],
  ])("slice the bytes exactly: %s", async (_name, text) => {
    for (const language of ["python", "typescript", "text", "yaml"] as const) {
      expect(violations(await parseText(language, text), encode(text))).toEqual([]);
    }
  });

  it("read bytes that are no UTF-8 as Latin-1, one byte a character", async () => {
    const bytes = Uint8Array.from(Buffer.from("// caf\u00e9\nint f(void) { return 1; }\n", "latin1"));
    const parsed = await (await sharedParser()).parse({ bytes, language: "c" });
    expect(parsed.encoding).toBe("latin-1");
    expect(parsed.text).toContain("caf\u00e9");
    expect(parsed.symbols[0]).toMatchObject({ name: "f", doc: "caf\u00e9", startByte: 8 });
    expect(violations(parsed, bytes)).toEqual([]);
  });
});
