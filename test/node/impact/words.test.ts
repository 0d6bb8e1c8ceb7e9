import { describe, expect, it } from "vitest";
import { WordCounts } from "../../../src/engines/impact/words.ts";

describe("the words of a change", () => {
  it("are not the letters of checksums", () => {
    const words = new WordCounts();
    words.add(
      [
        'name = "bstr"',
        'checksum = "63044e1ae8e69f3b5a92c6ea11a2e6e9"',
        `"integrity": "sha512-${"Ab3/dEf+gH9x".repeat(6)}=="`,
        "const decade = facade(faded);",
      ].join("\n"),
      1,
    );
    const shown = words.terms().map((term) => term.shown);
    expect(shown.toSorted()).toEqual(["bstr", "checksum", "decade", "facade", "faded", "integrity"].toSorted());
  });

  it("are found in linear time among long runs of digits", () => {
    const words = new WordCounts();
    words.add(`${"0123456789abcdef".repeat(20_000)}g ${"sha512-".repeat(50_000)}`, 1);
    expect(words.terms().length).toBeLessThan(1_000);
  });
});
