/**
 * Characters of repository texts that are unsafe on a terminal: controls except tab, line and paragraph separators, and marks that
 * change the direction of text, which could disguise a name.
 */
// oxlint-disable-next-line no-control-regex -- matches control characters on purpose
const UNSAFE = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;
// oxlint-disable-next-line no-control-regex -- JSON.stringify escapes the controls below U+0020 itself
const UNSAFE_IN_JSON = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** Escapes the unsafe characters of a line (`\x1b`, `\u202e`). */
export function printable(line: string): string {
  return line.replace(UNSAFE, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
  });
}

/** One-line JSON with unsafe characters escaped. */
export function printableJson(value: unknown): string {
  return JSON.stringify(value).replace(
    UNSAFE_IN_JSON,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
