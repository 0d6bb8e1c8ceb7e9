/**
 * Characters that a repository's names and texts must not send to a terminal: controls but the tab, line and paragraph
 * separators, and the marks that change the direction of text, with which a name could pose as another.
 */
// oxlint-disable-next-line no-control-regex -- these are the ones to find
const UNSAFE = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;
// oxlint-disable-next-line no-control-regex -- JSON.stringify escapes the controls below U+0020 itself
const UNSAFE_IN_JSON = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** A line of text with unsafe characters shown as escapes (`\x1b`, `\u202e`). */
export function printable(line: string): string {
  return line.replace(UNSAFE, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
  });
}

/** JSON on one line; the value is the same for a reader, and the text is safe to show. */
export function printableJson(value: unknown): string {
  return JSON.stringify(value).replace(
    UNSAFE_IN_JSON,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
