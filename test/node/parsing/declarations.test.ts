import { describe, expect, it } from "vitest";
import { LANGUAGES } from "../../../src/engines/parsing/languages.ts";
import { parseText } from "./support.ts";

describe("declarations found by lines", () => {
  it("have the comments above as documentation", async () => {
    const { symbols } = await parseText("perl", "# Adds one.\n# Twice.\nsub add {\n}\n");
    expect(symbols).toMatchObject([{ name: "add", doc: "Adds one.\nTwice.", signature: "sub add" }]);
  });

  it("are read below a comment whose only line is longer than what is matched", async () => {
    const { symbols } = await parseText("haskell", `{-# COMPLETE ${"A, ".repeat(2_000)}B #-}\nf x = x\n`);
    expect(symbols.map(({ name }) => name)).toEqual(["f"]);
  });

  it("are found in bounded time where texts do not end", async () => {
    const lines = Array.from({ length: 100_000 }, (_, i) => `<<A${i}`).join("\n");
    expect((await parseText("perl", `${lines}\nsub add {\n}\n`)).symbols.map(({ name }) => name)).toEqual(["add"]);
  });

  it("take time in proportion to the text", async () => {
    const units = ["(", " ", "a ", "/* ", "a::", "<", "=>", "type ", "sub a { ", "@a ", "a(b", "a[b", "``a", "a + "];
    const begun = ["typedef ", "@property ", "- (", "instance "].map((begin) => begin + "A_A ".repeat(500));
    begun.push(`A${" ".repeat(490)}`);
    const hostile = [...units.map((part) => part.repeat(500)), ...begun];
    for (const { id, mode } of LANGUAGES.filter((each) => each.mode === "declarations"))
      for (const part of hostile) {
        const { outcome } = await parseText(id, `${part}\n`.repeat(20));
        expect(outcome, mode).toBe("structure");
      }
  });
});
