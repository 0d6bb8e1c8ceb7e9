import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkCost } from "../../../src/engines/exact/pattern-cost.ts";
import { PatternError } from "../../../src/engines/exact/rust-regex.ts";

describe("what a pattern costs", () => {
  it.each([
    ["a class of letters a hundred times", "\\w{100}"],
    ["a hash", "[0-9a-f]{64}"],
    ["thousands of digits", "[0-9]{5000}"],
    ["nested repetitions", "((a{1,20}){1,20}){1,20}"],
    ["a long range of any characters", ".{0,900}"],
    ["many alternatives", Array.from({ length: 580 }, (_, i) => `a${i}`).join("|")],
    ["brackets that are no groups", "[(\\pL]+[)]{900}\\(\\[{900}"],
    ["a bracket in a class", "[]\\pL]{90}[^]]{100}"],
  ])("is within the limit: %s", (_, pattern) => {
    expect(() => checkCost(pattern)).not.toThrow();
  });

  it.each([
    ["a repeated class", "\\w{200}"],
    ["a negated class", "[^\\pL\\pN]{300}"],
    ["a bracket as the first of a class", "[]\\pL]{300}"],
    ["an open upper bound", "\\pL{300,}"],
    ["many classes", "[^\\pL]".repeat(400)],
    ["nested repetitions of a dot", "(.{0,90}){0,90}"],
    ["a group", "(?:\\w{3}|\\pL{3}|\\d{3}){40}"],
    ["repetitions without end", `a${"{999}".repeat(800)}`],
  ])("is refused: %s", (_, pattern) => {
    expect(() => checkCost(pattern)).toThrow(PatternError);
  });

  it("is found in time linear in the pattern, whatever it is", () => {
    const check = (pattern: string) => {
      try {
        checkCost(pattern);
      } catch (error) {
        expect(error).toBeInstanceOf(PatternError);
      }
    };
    for (const part of ["(", ")", "[", "]", "[^]", "{9", "\\p{", "\\", "(((", "[["])
      check(part.repeat(4_096 / part.length));
    const units = "( ) [ ] { } ^ \\ p L w 9 , a | ? *".split(" ");
    fc.assert(fc.property(fc.string({ unit: fc.constantFrom(...units), maxLength: 60 }), check));
  });
});
