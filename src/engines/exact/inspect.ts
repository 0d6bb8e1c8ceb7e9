/** What exact search must know of a file's bytes before any pattern is asked for. It depends on the bytes alone. */
import { detectLanguage } from "../parsing/detect.ts";
import { findSecrets } from "../parsing/secrets/find.ts";
import { contentSkipReason } from "../parsing/skip.ts";
import { ngramFilter } from "./ngram-filter.ts";
import { decodeLine } from "./utf8.ts";

/** Lines, 1-based and inclusive. */
export type LineRange = readonly [from: number, to: number];

export interface InspectedText {
  /** Why the bytes are not ranked (`generated`, `minified`), or not searched (`binary`, `lfs`); undefined if they are both. */
  reason: "binary" | "lfs" | "generated" | "minified" | undefined;
  /** Language that the `#!` line names; null if none does. */
  script: string | null;
  /** Lines that may hold a secret. */
  withheld: LineRange[];
  /** Of the text without these lines. Empty where nothing is searched. */
  filter: Uint8Array;
}

const LINE_BREAK = 10;

/** Inspects the bytes of a file. */
export function inspectText(bytes: Uint8Array): InspectedText {
  const reason = contentSkipReason(bytes);
  if (reason === "binary" || reason === "lfs") return { reason, script: null, withheld: [], filter: new Uint8Array() };
  const withheld = secretLines(bytes);
  const script = detectLanguage("", bytes) ?? null;
  return { reason, script, withheld, filter: ngramFilter(withoutLines(bytes, withheld)) };
}

/** Lines that may hold a secret, by the rules of the index. */
export function secretLines(bytes: Uint8Array): LineRange[] {
  const text = decodeLine(bytes);
  const ranges: [number, number][] = [];
  let line = 1;
  let at = 0;
  const lineOf = (offset: number): number => {
    for (let next = text.indexOf("\n", at); next >= 0 && next < offset; next = text.indexOf("\n", at)) {
      at = next + 1;
      line++;
    }
    return line;
  };
  for (const { start, end } of findSecrets(text)) {
    // They are in order of their beginnings, and may overlap.
    const last = ranges.at(-1);
    const from = lineOf(start);
    const [keptLine, keptAt] = [line, at];
    const to = lineOf(Math.max(start, end - 1));
    [line, at] = [keptLine, keptAt];
    if (last && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else ranges.push([from, to]);
  }
  return ranges;
}

/** The bytes with these lines empty: all others keep their numbers. */
export function withoutLines(bytes: Uint8Array, ranges: readonly LineRange[]): Uint8Array {
  if (ranges.length === 0) return bytes;
  const parts: Uint8Array[] = [];
  let range = 0;
  let kept = 0;
  for (let line = 1, at = 0; at < bytes.length; line++) {
    const end = bytes.indexOf(LINE_BREAK, at);
    const stop = end < 0 ? bytes.length : end;
    while ((ranges[range]?.[1] ?? Infinity) < line) range++;
    if (line >= (ranges[range]?.[0] ?? Infinity)) {
      parts.push(bytes.subarray(kept, at));
      kept = stop;
    }
    at = stop + 1;
  }
  return Buffer.concat([...parts, bytes.subarray(kept)]);
}
