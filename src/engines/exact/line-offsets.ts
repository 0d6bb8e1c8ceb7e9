/** Where the lines of a text begin and end. */

const LINE_BREAK = 10;
/** Bytes compared one by one before `indexOf` is called, which costs more than they do: most lines are short. */
const NEAR_BYTES = 64;

/** Start of the line that has an offset. */
export function lineStartAt(text: Uint8Array, at: number): number {
  const near = Math.max(0, at - NEAR_BYTES);
  for (let i = at - 1; i >= near; i--) if (text[i] === LINE_BREAK) return i + 1;
  return near === 0 ? 0 : text.lastIndexOf(LINE_BREAK, near - 1) + 1;
}

/** End of the line that has an offset, before its line break. */
export function lineEndAt(text: Uint8Array, at: number): number {
  const near = Math.min(text.length, at + NEAR_BYTES);
  for (let i = at; i < near; i++) if (text[i] === LINE_BREAK) return i;
  const end = text.indexOf(LINE_BREAK, near);
  return end < 0 ? text.length : end;
}

/** Offset behind the line break of the line that has an offset. */
export function lineEndAfter(text: Uint8Array, at: number): number {
  return Math.min(text.length, lineEndAt(text, at) + 1);
}
