/** Order of strings by their UTF-8 bytes: the same in JavaScript, SQLite (`BINARY`) and Postgres (`collate "C"`). */

/** Compares by UTF-8. Plain `<` compares UTF-16 units and puts astral characters before U+E000…U+FFFF. */
export function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return inCodePointOrder(x) - inCodePointOrder(y);
  }
  return a.length - b.length;
}

/** Moves surrogates above every other unit. */
function inCodePointOrder(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

const encoder = new TextEncoder();

/** The first four bytes of the text in UTF-8 as a number, the first byte highest; a short text is filled up with zeros. */
export function utf8Prefix(text: string): number {
  const bytes = encoder.encode(text.slice(0, 4));
  let prefix = 0;
  for (let i = 0; i < 4; i++) prefix = prefix * 256 + (bytes[i] ?? 0);
  return prefix;
}
