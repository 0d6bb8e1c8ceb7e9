import { Buffer } from "node:buffer";

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

const ESCAPES: Readonly<Record<number, string>> = {
  7: "\\a",
  8: "\\b",
  9: "\\t",
  10: "\\n",
  11: "\\v",
  12: "\\f",
  13: "\\r",
  34: '\\"',
  92: "\\\\",
};

/**
 * A path's bytes as text: plain UTF-8 where that is unambiguous; otherwise (invalid UTF-8, a control character, a
 * leading double quote) in git's C-quoted form, `"dir/\377name"`. Different bytes never give the same text.
 */
export function pathFromBytes(bytes: Uint8Array): string {
  let needsQuotes = bytes[0] === 34;
  for (let i = 0; i < bytes.length && !needsQuotes; i++) needsQuotes = bytes[i]! < 32 || bytes[i] === 127;
  if (!needsQuotes) {
    try {
      return strict.decode(bytes);
    } catch {
      // Not UTF-8: quoted below.
    }
  }
  let out = '"';
  for (const byte of bytes) {
    const escape = ESCAPES[byte];
    if (escape !== undefined) out += escape;
    else if (byte < 32 || byte > 126) out += `\\${byte.toString(8).padStart(3, "0")}`;
    else out += String.fromCharCode(byte);
  }
  return `${out}"`;
}

const UNESCAPES: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  t: 9,
  n: 10,
  v: 11,
  f: 12,
  r: 13,
  '"': 34,
  "\\": 92,
};

/** Reverses {@link pathFromBytes}. @throws RangeError for text that it does not produce */
export function pathToBytes(path: string): Uint8Array {
  if (!path.startsWith('"')) return Buffer.from(path);
  if (path.length < 2 || !path.endsWith('"')) throw new RangeError("unterminated quoted path");
  const out: number[] = [];
  const end = path.length - 1;
  for (let i = 1; i < end; i++) {
    const char = path[i]!;
    if (char !== "\\") {
      // Git leaves letters beyond ASCII as they are if it is told so (`core.quotePath`).
      const letter = String.fromCodePoint(path.codePointAt(i)!);
      out.push(...Buffer.from(letter));
      i += letter.length - 1;
      continue;
    }
    const octal = /^[0-3][0-7]{2}/.exec(path.slice(i + 1, Math.min(end, i + 4)));
    const simple = i + 1 < end ? UNESCAPES[path[i + 1]!] : undefined;
    if (octal !== null) {
      out.push(Number.parseInt(octal[0], 8));
      i += 3;
    } else if (simple !== undefined) {
      out.push(simple);
      i++;
    } else throw new RangeError("bad escape in a quoted path");
  }
  return Uint8Array.from(out);
}

/** The bytes of a path that someone may have typed: as {@link pathToBytes}, but text that is not well quoted stands for itself. */
export function bytesOfPath(path: string): Uint8Array {
  try {
    return pathToBytes(path);
  } catch {
    return Buffer.from(path);
  }
}

/** A path as display text, for matching names and extensions. Invalid UTF-8 is replaced, so different paths may give the same text. */
export function readablePath(path: string): string {
  return path.startsWith('"') ? new TextDecoder().decode(bytesOfPath(path)) : path;
}
