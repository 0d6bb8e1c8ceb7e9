import type { Matcher } from "./matcher.ts";
import { type NgramQuery, queryOf } from "./ngrams.ts";
import {
  checkedSource,
  INVALID_BYTE,
  linePattern,
  type LinePattern,
  type PatternFlags,
  requiredText,
} from "./line-pattern.ts";
import { lineEndAfter, lineEndAt, lineStartAt } from "./line-offsets.ts";
import { LiteralMatcher } from "./literal.ts";
import { checkCost } from "./pattern-cost.ts";
import type { RegexEngine, RustRegex } from "./rust-regex.ts";
import { findInvalidUtf8, isUtf8 } from "./utf8.ts";

const encoder = new TextEncoder();
const LINE_BREAK = 10;

/**
 * A matcher for a pattern. A literal needs no regular expression, so `loadEngine` is not called for it. Throws `PatternError` for a
 * pattern that does not compile.
 */
export async function createMatcher(flags: PatternFlags, loadEngine: () => Promise<RegexEngine>): Promise<Matcher> {
  const literal = literalOf(flags);
  if (literal !== undefined) return new LiteralMatcher(encoder.encode(literal), flags.wordRegexp === true);
  const engine = await loadEngine();
  return new RegexMatcher(engine, flags);
}

/** The text that the pattern stands for, if it is nothing but a text on one line. */
function literalOf({ pattern, fixedStrings, ignoreCase, multiline }: PatternFlags): string | undefined {
  if (ignoreCase === true || multiline === true || pattern === "" || pattern.includes("\n")) return undefined;
  return fixedStrings === true || !/[\\.+*?()|[\]{}^$]/.test(pattern) ? pattern : undefined;
}

class RegexMatcher implements Matcher {
  readonly query: NgramQuery;
  readonly required: Uint8Array | undefined;
  readonly hasLineEnd: boolean;
  readonly #engine: RegexEngine;
  readonly #pattern: LinePattern;
  readonly #regex: RustRegex;
  /** For texts that are no UTF-8. */
  #invalid: RustRegex | undefined;

  constructor(engine: RegexEngine, flags: PatternFlags) {
    const checked = checkedSource(flags);
    checkCost(checked);
    // The pattern alone first, so that errors name places in it.
    engine.compile(checked).free();
    const pattern = linePattern(flags);
    this.#engine = engine;
    this.#pattern = pattern;
    this.#regex = engine.compile(pattern.source);
    this.hasLineEnd = pattern.hasLineEnd;
    this.query = queryOf(pattern.tree);
    const required = flags.multiline === true ? "" : requiredText(pattern.tree);
    this.required = required === "" ? undefined : encoder.encode(required);
  }

  matches(text: Uint8Array): number[] {
    const { regex, bytes, inText } = this.#forText(text);
    const found = regex.hasMatch(bytes) ? withinText(regex.matches(bytes), bytes) : [];
    return inText ? found.map(inText) : found;
  }

  lines(text: Uint8Array): number[] {
    const { regex, bytes, inText } = this.#forText(text);
    const found = linesWithMatch(regex, bytes);
    return inText ? found.map(inText) : found;
  }

  /** The expression for a text, the bytes that it matches, and the offset in the text of one in them, asked in ascending order. */
  #forText(text: Uint8Array): { regex: RustRegex; bytes: Uint8Array; inText?: (offset: number) => number } {
    if (isUtf8(text)) return { regex: this.#regex, bytes: text };
    this.#invalid ??= this.#engine.compile(this.#pattern.invalidSource);
    const invalid = findInvalidUtf8(text);
    let before = 0;
    const inText = (offset: number): number => {
      // Each replaced byte has become longer.
      while (before < invalid.length && (invalid[before] as number) + before * GROWTH < offset) before++;
      return offset - before * GROWTH;
    };
    return { regex: this.#invalid, bytes: withInvalidBytes(text, invalid), inText };
  }

  free(): void {
    this.#regex.free();
    this.#invalid?.free();
  }
}

/** Bytes that are searched at once, at least. */
const MIN_WINDOW_BYTES = 1024;
/** How much further than the line of the last match is searched at once. Each search copies what it searches. */
const WINDOW_GROWTH = 4;

/** The lines that match. Each search finds one, so that those behind it are found without looking for more matches in it. */
function linesWithMatch(regex: RustRegex, text: Uint8Array): number[] {
  const found: number[] = [];
  let window = text.length;
  for (let at = 0; at < text.length;) {
    const windowEnd = at + window >= text.length ? text.length : lineEndAfter(text, at + window - 1);
    const end = regex.firstMatchEnd(text.subarray(at, windowEnd));
    // Behind the last line break is no line.
    if (end < 0 || (at + end === windowEnd && text[windowEnd - 1] === LINE_BREAK)) {
      at = windowEnd;
      window *= WINDOW_GROWTH;
      continue;
    }
    const lineEnd = lineEndAt(text, at + end);
    found.push(lineStartAt(text, at + end), lineEnd);
    window = Math.max(MIN_WINDOW_BYTES, WINDOW_GROWTH * (lineEnd - at));
    at = lineEnd + 1;
  }
  return found;
}

const GROWTH = INVALID_BYTE.length - 1;

/** Without the empty match behind the last line break, where no line is. */
function withinText(offsets: number[], text: Uint8Array): number[] {
  const isBehind = offsets.at(-2) === text.length && text.at(-1) === LINE_BREAK;
  if (isBehind || text.length === 0) offsets.length = Math.max(0, offsets.length - 2);
  return offsets;
}

function withInvalidBytes(text: Uint8Array, invalid: readonly number[]): Uint8Array {
  const replaced = new Uint8Array(text.length + invalid.length * GROWTH);
  let from = 0;
  let to = 0;
  for (const at of invalid) {
    replaced.set(text.subarray(from, at), to);
    to += at - from;
    replaced.set(INVALID_BYTE, to);
    to += INVALID_BYTE.length;
    from = at + 1;
  }
  replaced.set(text.subarray(from), to);
  return replaced;
}
