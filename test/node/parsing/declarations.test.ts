import { describe, expect, it } from "vitest";
import { LANGUAGES } from "../../../src/engines/parsing/languages.ts";
import { parseText } from "./support.ts";

describe("declarations found by lines", () => {
  it("have the comments above as documentation", async () => {
    const { symbols } = await parseText("perl", "# Adds one.\n# Twice.\nsub add {\n}\n");
    expect(symbols).toMatchObject([{ name: "add", doc: "Adds one.\nTwice.", signature: "sub add" }]);
  });

  it.each([
    ["pascal", "{ Adds.\n}\nprocedure Add;\nbegin\n{\nprocedure Hidden;\n}\n  x;\nend;\n", [["Add", 9, null]]],
    ["pascal", "{ Adds. }\nprocedure Add;\nbegin\nend;\n", [["Add", 4, "Adds."]]],
    ["pascal", "(* Adds. *)\nconst\n  A = '{';\nprocedure Add;\nbegin\nend;\n", [["Add", 6, null]]],
    ["d", "/+\nstruct Hidden {}\n+/\nstruct Cart {\n}\n", [["Cart", 5, null]]],
    ["lean", "/-- Adds. -/\ndef add := 1\n", [["add", 2, "Adds."]]],
    ["fsharp", "(* Adds. *)\nlet add = 1\n", [["add", 2, "Adds."]]],
    ["nix", "{\n  /* Adds. */\n  add = n: n;\n}\n", [["add", 3, "Adds."]]],
    ["perl", "=head1 add\n\n=cut\nsub add {\n}\n", [["add", 5, null]]],
    ["haskell", "{-# INLINE add #-}\nadd x = x\n", [["add", 2, null]]],
    ["haskell", "instance\n  {-# OVERLAPPING #-} Ord Int where\n", [["Ord Int", 1, null]]],
    ["fortran", "c subroutine hidden\n      subroutine add\n      end\n", [["add", 3, "c subroutine hidden"]]],
  ] as const)("tell comments of %s from code: %j", async (language, text, expected) => {
    const { symbols } = await parseText(language, text);
    expect(symbols.map(({ name, endLine, doc }) => [name, endLine, doc])).toEqual(expected);
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
        // What does not look like Tcl is read as text.
        const first = id === "tcl" ? "set a 1\n" : "";
        const { outcome } = await parseText(id, first + `${part}\n`.repeat(20));
        expect(outcome, mode).toBe("structure");
      }
  });
});
