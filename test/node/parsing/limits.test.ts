import { describe, expect, it } from "vitest";
import type { LanguageId } from "../../../src/engines/parsing/languages.ts";
import { encode, parseText, violations } from "./support.ts";

async function parseWhole(language: LanguageId, text: string) {
  const parsed = await parseText(language, text);
  expect(violations(parsed, encode(text))).toEqual([]);
  return parsed;
}

describe("input that grammars choke on", () => {
  it("deep nesting ends with plain chunks or a tree, and the parser goes on", async () => {
    for (const language of ["scala", "javascript", "python", "json", "c"] as const) {
      await parseWhole(language, "[\n".repeat(20_000));
      await parseWhole(language, "(".repeat(15_000));
    }
    const after = await parseWhole("scala", "object A { def f = 1 }\n");
    expect(after.symbols.map((symbol) => symbol.qualifiedName)).toEqual(["A", "A.f"]);
  });

  it("ambiguous input that grows without end is stopped, and the parser goes on", async () => {
    const parsed = await parseWhole("cpp", "a<b,\n".repeat(20_000));
    expect([parsed.outcome, parsed.fallbackReason]).toEqual(["fallback", "budget"]);
    expect((await parseWhole("cpp", "struct A { void f() {} };\n")).symbols).toHaveLength(2);
  });

  it("a deep recursion of the core neither throws nor breaks what is parsed after it", async () => {
    const parsed = await parseWhole("cpp", "(a<b>\n".repeat(8000));
    expect(["syntax", "partial", "fallback"]).toContain(parsed.outcome);
    expect((await parseWhole("python", "def f(): pass\n")).symbols).toHaveLength(1);
  });

  it("minified code is not parsed", async () => {
    const parsed = await parseWhole("javascript", "function a(){return 1};".repeat(3000));
    expect([parsed.outcome, parsed.fallbackReason, parsed.symbols.length]).toEqual(["fallback", "long-lines", 0]);
    expect(parsed.chunks).toHaveLength(1);
  });

  it("one long literal among normal lines does not cost a file its symbols", async () => {
    const parsed = await parseWhole("python", `DATA = "${"a".repeat(8000)}"\n\ndef f():\n    pass\n`);
    expect(parsed.symbols.map((symbol) => symbol.name)).toEqual(["DATA", "f"]);
  });

  it("the other language's file is parsed in bounded work", async () => {
    const json = `{\n${Array.from({ length: 2000 }, (_, index) => `  "key${index}": [1, 2, {"a": "b"}]`).join(",\n")}\n}\n`;
    await parseWhole("csharp", json);
    await parseWhole("swift", json);
    await parseWhole("bash", json);
  });

  it("a swift scanner that asks for no memory gets some", async () => {
    const parsed = await parseWhole("swift", "struct A {\n  func f() -> Int { return 1 }\n}\n".repeat(300));
    expect(parsed.hasErrors).toBe(false);
    expect(parsed.symbols).toHaveLength(600);
  });
});
