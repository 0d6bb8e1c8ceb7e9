import { describe, expect, it } from "vitest";
import { itemMacros } from "../../../src/engines/parsing/item-macros.ts";
import { SourceText } from "../../../src/engines/parsing/source-text.ts";
import { encode, parseText } from "./support.ts";

const macrosOf = (text: string) => itemMacros(new SourceText(encode(text)));

describe("macros of Rust around items", () => {
  it("are found by their lines, also within each other", () => {
    expect(macrosOf("cfg_rt! {\n    // a\n    #[b]\n    pub(crate) async fn c() {\n    }\n}\n")).toEqual([
      { from: 0, to: 5 },
    ]);
    expect(macrosOf("a! {\n  b::c! {\n    mod d;\n  }\n}\n")).toEqual([
      { from: 1, to: 3 },
      { from: 0, to: 4 },
    ]);
  });

  it("are not those around anything else", () => {
    expect(macrosOf("fn a() {\n    vec! {\n        1\n    };\n    select! {\n        b = c => {}\n    }\n}\n")).toEqual(
      [],
    );
    expect(macrosOf("macro_rules! a {\n    () => {}\n}\n")).toEqual([]);
    expect(macrosOf("a! {\n}\n")).toEqual([]);
    expect(macrosOf("a! {\n    fn b() {}\n")).toEqual([]);
  });

  it("stay together with their items in chunks", async () => {
    const body = Array.from({ length: 40 }, (_, i) => `        let value_${i} = compute_something(${i});`).join("\n");
    const items = Array.from({ length: 6 }, (_, i) => `    pub fn item_${i}() {\n${body}\n    }`).join("\n\n");
    const { chunks } = await parseText("rust", `use a::b;\n\ncfg_rt! {\n${items}\n}\n\nfn last() {}\n`);
    expect(chunks.length).toBeGreaterThan(2);
    const opening = chunks.find(({ text }) => text.includes("cfg_rt! {"));
    expect(opening?.text).toContain("pub fn item_0()");
    for (const { text } of chunks) expect(text.startsWith("}")).toBe(false);
  });

  it("are found in linear time", () => {
    const lines = 200_000;
    expect(macrosOf("a! {\n".repeat(lines))).toEqual([]);
    expect(macrosOf(`a! {\n${" b! {\n".repeat(lines)}}\n`)).toEqual([]);
    expect(macrosOf("a! {\nfn\n}\n".repeat(lines))).toHaveLength(lines);
    expect(macrosOf(`a! {\n${"pub pub fn ".repeat(25)}\n}\n`.repeat(lines / 10))).toEqual([]);
  });
});
