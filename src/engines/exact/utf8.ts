/** Bytes that may not be UTF-8. */
import { isUtf8 as isUtf8Buffer } from "node:buffer";

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const latin1 = new TextDecoder("latin1");

export function isUtf8(bytes: Uint8Array): boolean {
  return isUtf8Buffer(bytes);
}

/** Byte order mark of UTF-8. */
const MARK = [0xef, 0xbb, 0xbf];

/** A text without its byte order mark, which is no part of the first line. */
export function withoutMark(text: Uint8Array): Uint8Array {
  return MARK.every((byte, i) => text[i] === byte) ? text.subarray(MARK.length) : text;
}

/** Length of the character that begins at an offset; 0 if there is none in UTF-8. */
function lengthAt(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] as number;
  if (lead < 0x80) return 1;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
  return length > 0 && at + length <= bytes.length && isUtf8(bytes.subarray(at, at + length)) ? length : 0;
}

/** Offsets of the bytes that belong to no character. */
export function findInvalidUtf8(bytes: Uint8Array): number[] {
  const found: number[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = lengthAt(bytes, at);
    if (length === 0) found.push(at);
    at += Math.max(1, length);
  }
  return found;
}

/** Text of a line: UTF-8, or else Latin-1. */
export function decodeLine(bytes: Uint8Array): string {
  return isUtf8(bytes) ? utf8.decode(bytes) : latin1.decode(bytes);
}

/** Whether a word ends, or does not begin, before an offset, as `\b{start-half}` has it: no word character is there. */
export function isWordBefore(bytes: Uint8Array, at: number): boolean {
  if (at === 0) return false;
  const last = bytes[at - 1] as number;
  if (last < 0x80) return isAsciiWord(last);
  let start = at - 1;
  while (start > 0 && start > at - 4 && ((bytes[start] as number) & 0xc0) === 0x80) start--;
  return isWordCharacter(bytes.subarray(start, at));
}

/** Whether a word character is at an offset. */
export function isWordAt(bytes: Uint8Array, at: number): boolean {
  const first = bytes[at];
  if (first === undefined) return false;
  if (first < 0x80) return isAsciiWord(first);
  return isWordCharacter(bytes.subarray(at, at + lengthAt(bytes, at)));
}

function isAsciiWord(byte: number): boolean {
  return (byte >= 97 && byte <= 122) || (byte >= 65 && byte <= 90) || (byte >= 48 && byte <= 57) || byte === 95;
}

/** Rust's `\w`. */
const WORD = /^[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]$/u;

function isWordCharacter(bytes: Uint8Array): boolean {
  return bytes.length > 0 && isUtf8(bytes) && WORD.test(utf8.decode(bytes));
}
