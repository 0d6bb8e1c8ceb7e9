import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { describeIndex, fit, type Forms, numberedLines, shownOf, tokensOf } from "../../../src/interface/mcp/text.ts";

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;

describe("describeIndex", () => {
  const index = { name: "github.com/acme/shop", gitSha: "0123456789abcdef", indexedAtMs: 0, isWorkTree: false };

  it.each([
    [30 * SECOND_MS, "just now"],
    [60 * SECOND_MS, "1 minute ago"],
    [3 * HOUR_MS, "3 hours ago"],
    [47 * HOUR_MS, "1 day ago"],
    [-5 * SECOND_MS, "just now"],
  ])("names repository, commit and age: %i ms", (ms, age) => {
    expect(describeIndex(index, ms)).toBe(`github.com/acme/shop@0123456789, indexed ${age}`);
  });

  it("marks work trees, and folders without a commit", () => {
    expect(describeIndex({ ...index, gitSha: null, isWorkTree: true }, 0)).toBe(
      "github.com/acme/shop (work tree, edits included), indexed just now",
    );
  });

  it("names submodules", () => {
    expect(describeIndex({ ...index, submodules: [] }, 0)).not.toContain("submodule");
    expect(describeIndex({ ...index, submodules: ["sub"] }, 0)).toMatch(/, not searched: sub, a submodule$/);
    const submodules = ["a", "b", "c", "d"];
    expect(describeIndex({ ...index, submodules }, 0)).toMatch(/, not searched: 4 submodules \(a, b, c, …\)$/);
  });

  it("names what git cannot read of a commit", () => {
    const unread = ["a.ts", "lib/", "b.ts", "c.ts"];
    expect(describeIndex({ ...index, unread: [] }, 0)).not.toContain("complete");
    expect(describeIndex({ ...index, unread }, 0)).toMatch(/, not complete: 4 paths .*: a\.ts, lib\/, b\.ts, …$/);
  });
});

describe("numberedLines", () => {
  it("numbers from the first line and keeps numbers aligned", () => {
    expect(numberedLines("a\n\n  b\r", 99)).toBe(" 99  a\n100\n101    b");
  });

  it("pads to a given width", () => {
    expect(numberedLines("a\nb", 1, 3)).toBe("  1  a\n  2  b");
  });

  it("cuts very long lines without breaking a character", () => {
    const [line = ""] = numberedLines(`${"x".repeat(399)}😀`, 1).split("\n");
    expect(line.isWellFormed()).toBe(true);
    expect(line.endsWith("…")).toBe(true);
  });
});

describe("fit", () => {
  const forms = fc
    .array(fc.string({ maxLength: 200 }), { minLength: 1, maxLength: 4 })
    .map((texts): Forms => texts.toSorted((a, b) => b.length - a.length) as unknown as Forms);

  it("keeps everything whole where there is room", () => {
    expect(
      fit(
        [
          ["long a", "a"],
          ["long b", "b"],
        ],
        100,
      ),
    ).toEqual(["long a", "long b"]);
  });

  it("shortens the last parts first, and leaves them out last", () => {
    const parts: Forms[] = ["a", "b", "c"].map((letter): Forms => [letter.repeat(400), letter.repeat(40)]);
    const sizes = (budget: number) => fit(parts, budget).map((part) => part.length);
    expect(sizes(303)).toEqual([400, 400, 400]);
    expect(sizes(213)).toEqual([400, 400, 40]);
    expect(sizes(40)).toEqual([40, 40, 40]);
    expect(sizes(22)).toEqual([40, 40, 0]);
    expect(sizes(130)).toEqual([400, 40, 40]);
  });

  it("never exceeds the budget, and chooses one of the forms", () => {
    fc.assert(
      fc.property(fc.array(forms, { maxLength: 20 }), fc.integer({ min: 20, max: 2_000 }), (parts, budget) => {
        const chosen = fit(parts, budget);
        expect(chosen).toHaveLength(parts.length);
        for (const [i, text] of chosen.entries()) expect([...(parts[i] ?? []), ""]).toContain(text);
        expect(chosen.reduce((sum, text) => sum + tokensOf(text), 0)).toBeLessThanOrEqual(budget);
      }),
    );
  });
});

describe("shownOf", () => {
  it("says what is not shown", () => {
    expect(shownOf(8, 41, "result")).toBe("8 of 41 results shown");
    expect(shownOf(1, 1, "result")).toBe("1 result");
    expect(shownOf(50, 50, "use", false)).toBe("50 of at least 50 uses shown");
  });
});
