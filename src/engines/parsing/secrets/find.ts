/**
 * Finds likely secrets in a text, in time proportional to its length: every pattern is bounded. Most rules only look
 * at the few runs of characters that are long enough for a token.
 */
import { findAssigned } from "./assignments.ts";
import { findDrawn } from "./drawn.ts";
import { isPlaceholder, randomnessBits } from "./randomness.ts";
import { SHAPE_RULES } from "./shape-rules.ts";
import { Hints } from "./hints.ts";
import { findEncoded, MIN_ENCODED_CHARACTERS } from "./encoded.ts";
import { findJoined } from "./joined.ts";
import { findStructured } from "./structures.ts";
import { findInTables } from "./tables.ts";
import { TOKEN_RULES } from "./token-rules.ts";
import type { SecretRange } from "./types.ts";

/** Minimum randomness of the text after a token's prefix; `npm_config_registry` falls below it. */
const MIN_TOKEN_BITS = 8;
const MAX_JUDGED_CHARACTERS = 100;
/** Limit of attempts in a run of token characters: a minimum, plus one per `CHARACTERS_PER_TRY`. */
const MIN_TRIES = 16;
const CHARACTERS_PER_TRY = 32;
/** A part of a token that is long enough to be judged alone. */
const MIN_PART_CHARACTERS = 16;

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
const anyOf = (texts: readonly string[]): string => texts.map(escaped).join("|");

const TOKEN_PATTERNS = TOKEN_RULES.map(({ rule, prefixes, body }) => ({
  rule,
  prefixes: new Set(prefixes),
  // A body of fixed length must end there; one of any length ends by itself.
  pattern: new RegExp(`(?:${anyOf(prefixes)})(${body})${/,\d+\}$/.test(body) ? "" : "(?![A-Za-z0-9])"}`, "y"),
}));
/** Longest first, so that the most specific of several matching prefixes is found. */
const PREFIXES = [...new Set(TOKEN_RULES.flatMap(({ prefixes }) => prefixes))].sort((a, b) => b.length - a.length);
const ANY_PREFIX = new RegExp(`(?<![A-Za-z0-9])(?:${anyOf(PREFIXES)})`, "g");
const rulesOfPrefix = new Map<string, typeof TOKEN_PATTERNS>();

/**
 * The rules that a prefix may begin: its own, and those of the prefixes that it begins with. Found when a text has the prefix: all of them
 * together are half of what loading this module takes.
 */
function rulesOf(prefix: string): typeof TOKEN_PATTERNS {
  let rules = rulesOfPrefix.get(prefix);
  if (rules === undefined) {
    rules = TOKEN_PATTERNS.filter(({ prefixes }) => [...prefixes].some((other) => prefix.startsWith(other)));
    rulesOfPrefix.set(prefix, rules);
  }
  return rules;
}

/** No token is shorter. */
const MIN_RUN_CHARACTERS = 16;
/** Whether a character may be part of a token, by its code: every character of every token rule. */
const IS_IN_RUN = Uint8Array.from({ length: 128 }, (_, code) =>
  /[\w+/=.~:$%!-]/.test(String.fromCharCode(code)) ? 1 : 0,
);

/** The runs of token characters that are long enough for a token. A loop, which is several times as fast as an expression. */
function forEachRun(text: string, visit: (start: number, end: number) => void): void {
  const isIn = (at: number): boolean => {
    const code = text.charCodeAt(at);
    return code < 128 && IS_IN_RUN[code] === 1;
  };
  let start = 0;
  while (start + MIN_RUN_CHARACTERS <= text.length) {
    // From behind, so that most words are skipped at a glance.
    let at = start + MIN_RUN_CHARACTERS - 1;
    while (at >= start && isIn(at)) at--;
    if (at >= start) {
      start = at + 1;
      continue;
    }
    let end = start + MIN_RUN_CHARACTERS;
    while (end < text.length && isIn(end)) end++;
    visit(start, end);
    start = end + 1;
  }
}

/** Likely secrets of a text, by position. Overlapping matches of several rules are all returned. */
export function findSecrets(text: string): SecretRange[] {
  const encoded: [number, number][] = [];
  const hints = new Hints(text);
  const found = findPlain(text, encoded, hints);
  // The texts that the last two find have hints of their own, so that those of this text end here.
  findJoined(text, hints, findPlain, found);
  findEncoded(text, encoded, findPlain, found);
  return found.sort((a, b) => a.start - b.start || a.end - b.end);
}

/** Secrets that are not encoded, in no order. Adds the runs that are long enough to be a text in base64 to `long`. */
function findPlain(text: string, long: [number, number][] = [], known = new Hints(text)): SecretRange[] {
  const found: SecretRange[] = [];
  let longest = 0;
  forEachRun(text, (start, end) => {
    longest = Math.max(longest, end - start);
    const run = text.slice(start, end);
    findTokens(run, start, found);
    findDrawn(text, start, end, found);
    if (run.length < MIN_ENCODED_CHARACTERS) return;
    long.push([start, end]);
    if (run.length >= MIN_ABLY_CHARACTERS && run.includes(":")) findAblyKeys(run, start, found);
  });
  for (const { rule, hints, run = 0, pattern } of SHAPE_RULES) {
    if (run > longest || !known.hasOne(hints)) continue;
    for (const match of text.matchAll(pattern)) {
      const [start, end] = match.indices![1]!;
      if (looksDrawn(rule, match[1]!)) found.push({ start, end, rule });
    }
  }
  findStructured(text, known, found);
  findInTables(text, known, findAssigned(text, known, found), found);
  return found;
}

const MIN_ABLY_CHARACTERS = 57;
const ABLY_KEY = /(?<![\w.-])[\w-]{6}\.[\w-]{6}:([\w-]{43})(?![\w-])/g;

/** A shape that is looked for in runs only, because nothing in it is rare. */
function findAblyKeys(run: string, offset: number, found: SecretRange[]): void {
  for (const { 0: whole, 1: key = "", index } of run.matchAll(ABLY_KEY)) {
    const end = offset + index + whole.length;
    if (looksDrawn("ably-key", key)) found.push({ start: end - key.length, end, rule: "ably-key" });
  }
}

/** Adds the tokens with a known prefix in a run of token characters that begins at `offset` of the text. */
function findTokens(run: string, offset: number, found: SecretRange[]): void {
  // Without matchAll, which copies the expression: a file has thousands of runs.
  ANY_PREFIX.lastIndex = 0;
  let tries = MIN_TRIES + run.length / CHARACTERS_PER_TRY;
  for (let begin = ANY_PREFIX.exec(run); begin !== null && tries > 0; begin = ANY_PREFIX.exec(run)) {
    const { 0: prefix, index } = begin;
    tries--;
    for (const { rule, pattern } of rulesOf(prefix)) {
      pattern.lastIndex = index;
      const match = pattern.exec(run);
      if (match === null || !looksDrawn(rule, match[1]!)) continue;
      found.push({ start: offset + index, end: offset + pattern.lastIndex, rule });
      break;
    }
  }
}

/** Whether a token's longest part is random. A JWT's payload is text, and a webhook's URL proves itself. */
function looksDrawn(rule: string, body: string): boolean {
  if (rule === "jwt" || rule === "jwe") return !isPlaceholder(body) && !isExampleToken(body);
  if (rule.endsWith("-webhook")) return !isPlaceholder(body);
  const parts = body.slice(0, MAX_JUDGED_CHARACTERS).split(/[^A-Za-z\d]/);
  const longest = parts.reduce((long, part) => (part.length > long.length ? part : long), "");
  const judged = longest.length >= MIN_PART_CHARACTERS ? longest : parts.join("");
  return randomnessBits(judged) >= MIN_TOKEN_BITS && !isPlaceholder(body);
}

/** The example token in manuals, whose payload has no user. */
function isExampleToken(token: string): boolean {
  const [, payload = ""] = token.split(".");
  return /John Doe|"sub": ?"1234567890"|example/i.test(Buffer.from(payload, "base64url").toString("latin1"));
}
