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
import { LiteralMatcher } from "./literal.ts";
import { checkCost } from "./pattern-cost.ts";
import type { RegexEngine, RustRegex } from "./rust-regex.ts";
import { findInvalidUtf8, isUtf8 } from "./utf8.ts";

const encoder = new TextEncoder();
const LINE_BREAK = 10;
const CARRIAGE_RETURN = 13;

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
  /** Matches from a match to the end of its line. */
  #toLineEnd: RustRegex | undefined;
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
    if (isUtf8(text)) return this.#regex.hasMatch(text) ? withinText(this.#regex.matches(text), text) : [];
    this.#invalid ??= this.#engine.compile(this.#pattern.invalidSource);
    const invalid = findInvalidUtf8(text);
    const replaced = withInvalidBytes(text, invalid);
    const found = withinText(this.#invalid.matches(replaced), replaced);
    let before = 0;
    // Each replaced byte has become longer; offsets ascend.
    return found.map((offset) => {
      while (before < invalid.length && (invalid[before] as number) + before * GROWTH < offset) before++;
      return offset - before * GROWTH;
    });
  }

  lineMatches(text: Uint8Array): number[] {
    // `$` is also tried without the CR before a line's end, and is compared by match.
    if ((this.hasLineEnd && text.includes(CARRIAGE_RETURN)) || !isUtf8(text)) return this.matches(text);
    if (!this.#regex.hasMatch(text)) return [];
    this.#toLineEnd ??= this.#engine.compile(String.raw`(?:${this.#pattern.source})[^\n]*`);
    return withinText(this.#toLineEnd.matchesToLineEnd(text), text);
  }

  free(): void {
    this.#regex.free();
    this.#toLineEnd?.free();
    this.#invalid?.free();
  }
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
