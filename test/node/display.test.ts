import { describe, expect, it } from "vitest";
import { visible, visibleHtml, visibleJson, visibleLines } from "../../src/lib/display.ts";

/** One of every kind that must not reach a terminal, a model or a page as it is. */
const UNSEEN =
  "\0\u0007\n\u001b\u007f\u0085\u009b\u00ad\u034f\u061c\u115f\u180e\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202a\u202e\u2060\u2064\u2066\u2069\u206a\u3164\ufe00\ufe0f\ufeff\uffa0\ufff9\u{1d173}\u{e0001}\u{e0041}\u{e0100}\ud800";

describe("visible", () => {
  it("escapes every kind of unseen character, and nothing else", () => {
    for (const character of UNSEEN) {
      const code = character.codePointAt(0) ?? 0;
      const hex = code.toString(16);
      const shown =
        code < 256 ? `\\x${hex.padStart(2, "0")}` : code < 65_536 ? `\\u${hex.padStart(4, "0")}` : `\\u{${hex}}`;
      expect(visible(`a${character}b`)).toBe(`a${shown}b`);
    }
    const plain = "\ttab, naïve, 漢字, عربي, עברית, \u{1f600} \u2764\ufe0f, e\u0301";
    expect(visible(plain)).toBe(plain);
  });

  it("keeps the lines of a block", () => {
    expect(visibleLines("a\r\nb\u202e\rc\n")).toBe(
      String.raw`a
b\u202e\x0dc\n`.replaceAll(String.raw`\n`, "\n"),
    );
  });
});

describe("visibleJson", () => {
  it("is the same value, without an unseen character", () => {
    const value = { text: UNSEEN, [UNSEEN]: [UNSEEN] };
    const json = visibleJson(value);
    expect(JSON.parse(json)).toEqual(value);
    expect(visible(json)).toBe(json);
  });
});

describe("visibleHtml", () => {
  it("changes what is shown, not what is sent back", () => {
    const hidden = "a\u202e\u{e0041}";
    const shown = String.raw`a\u202e\u{e0041}`;
    const page = (text: string) =>
      `<!doctype html><p title="${text}" aria-label="${text}">${text}</p>\n<a href="${hidden}">${text}</a>` +
      `<input value="${hidden}"><textarea name="globs">${hidden}</textarea>`;
    expect(visibleHtml(page(hidden))).toBe(page(shown));
  });
});
