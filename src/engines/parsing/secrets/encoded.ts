/** Files and documents in base64 that hold secrets: env files, JSON, YAML, connection strings, tokens. */
import type { SecretRange } from "./types.ts";

export const MIN_ENCODED_CHARACTERS = 32;
/** Base64 or base64url in a run of characters. */
const ENCODED = /[A-Za-z0-9+/_-]{32,}/g;
/** Where the encoded text is wrapped at a width, its further lines. */
const WRAPPED =
  /(?:\r?\n[ \t]{0,20}[A-Za-z0-9+/_-]{40,100}(?=={0,2}\r?\n)){0,400}(?:\r?\n[ \t]{0,20}[A-Za-z0-9+/_-]{2,100}(?=={1,2}(?:\s|$)|\r?\n|$))?/y;
const PROBE_CHARACTERS = 24;
/** Longer texts are judged by their beginning. */
const MAX_CHARACTERS = 65_536;
const PRINTABLE = /^[\t\n\r\x20-\x7e]+$/;

/**
 * Adds what encodes a text in which `find` finds secrets, of the runs of characters that are given by their positions. Each is decoded once,
 * so the time is that of `find` on three quarters of the text.
 */
export function findEncoded(
  text: string,
  runs: readonly (readonly [start: number, end: number])[],
  find: (text: string) => SecretRange[],
  found: SecretRange[],
): void {
  let done = 0;
  for (const [from, to] of runs) {
    if (from < done) continue;
    for (const { 0: run, index } of text.slice(from, to).matchAll(ENCODED)) {
      if (!PRINTABLE.test(decode(run.slice(0, PROBE_CHARACTERS)))) continue;
      const start = from + index;
      WRAPPED.lastIndex = start + run.length;
      const end = WRAPPED.test(text) ? WRAPPED.lastIndex : start + run.length;
      done = end;
      const plain = decode(text.slice(start, Math.min(end, start + MAX_CHARACTERS)).replaceAll(/\s/g, ""));
      // The last bytes may belong to a character that was cut off.
      if (PRINTABLE.test(plain.slice(0, -3)) && find(plain).length > 0)
        found.push({ start, end, rule: "encoded-secret" });
    }
  }
}

const decode = (run: string): string => Buffer.from(run, "base64").toString("latin1");
