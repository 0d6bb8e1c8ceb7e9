import { describe, expect, it } from "vitest";
import { callsIn } from "./support.ts";

describe("what is read of Ruby", () => {
  it.each([
    ["classes that inherit from each other", "class A < B; end\nclass B < A; def m; none; super; end; end"],
    ["modules that include themselves", "module A; include A; extend self; def m; none; end; end\nA.none"],
    ["constants that lead to each other", "A = B\nB = A\nA.m\nA::C.new"],
    ["deep nesting", `${"module A\n".repeat(1_500)}x.m\nA.m\n${"end\n".repeat(1_500)}`],
    ["deep blocks", `${"f {\n".repeat(2_000)}x\n${"}\n".repeat(2_000)}`],
    ["10,000 reopenings", `${"class A\ndef m; m; end\nend\n".repeat(10_000)}A.new.m`],
    ["many modules", `class A\n${Array.from({ length: 3_000 }, (_, i) => `include M${i}`).join("\n")}\nend\nA.new.m`],
    ["long chains", `class A; def f = self; def g = f${".f".repeat(2_000)}; end`],
    ["variables that lead to each other", "def f; a = b; b = a; a.run; c = c.m; c.run; end"],
    ["a million calls in a line", `def f; ${"f;".repeat(1_000_000)} end`],
    ["patterns in patterns", `${"(a, ".repeat(1_500)}b${")".repeat(1_500)} = 1`],
  ])("bounds what it reads: %s", async (_, text) => {
    await expect(callsIn({ "a.rb": `${text}\n` }, "a.rb")).resolves.toBeInstanceOf(Array);
  });

  it("bounds what it looks through where thousands of files open a class", async () => {
    const many = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, i) => [`lib/${i}.rb`, `class A\n  def m${i}; end\nend\n`]),
    );
    const own = { ...many, "a.rb": "class A\n  def f; m7; f; end\nend\nA.m\n" };
    expect(await callsIn(own, "a.rb")).toEqual(["m7@2 → lib/7.rb:2", "f@2 → a.rb:2", "m@4 → unknown"]);
  });
});
