/** Where the lines of a text begin and end. */

const LINE_BREAK = 10;

/** Start of the line that has an offset. */
export function lineStartAt(text: Uint8Array, at: number): number {
  return at === 0 ? 0 : text.lastIndexOf(LINE_BREAK, at - 1) + 1;
}

/** End of the line that has an offset, before its line break. */
export function lineEndAt(text: Uint8Array, at: number): number {
  const end = text.indexOf(LINE_BREAK, at);
  return end < 0 ? text.length : end;
}

/** Offset behind the line break of the line that has an offset. */
export function lineEndAfter(text: Uint8Array, at: number): number {
  return Math.min(text.length, lineEndAt(text, at) + 1);
}
