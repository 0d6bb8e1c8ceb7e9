/**
 * Highlights search results: strings, comments, numbers and keywords of languages with C-like or script-like syntax. One pass over
 * the text, which reads each character a bounded number of times.
 */
import { keywordsOf } from "./keywords.ts";

type TokenKind = "key" | "str" | "num" | "com";

export interface Token {
  /** Undefined for plain text. */
  kind: TokenKind | undefined;
  text: string;
}

/** Longer strings are not highlighted as a whole. */
const MAX_STRING = 400;
/** Spaces before a regular expression. */
const MAX_SPACES = 100;
const QUOTES = new Set(['"', "'", "`"]);

const HASH_COMMENTS = new Set([
  "python",
  "starlark",
  "ruby",
  "bash",
  "yaml",
  "toml",
  "elixir",
  "dockerfile",
  "makefile",
  "perl",
  "r",
  "julia",
  "terraform",
  "graphql",
  "powershell",
  "nim",
  "crystal",
  "cmake",
  "tcl",
]);
const DASH_COMMENTS = new Set(["sql", "lua", "haskell"]);
/** Languages in which slashes begin no comment: they divide, and are in paths and patterns of names. */
const WITHOUT_SLASH_COMMENTS = new Set([...HASH_COMMENTS, "lua", "haskell"]);
/** Languages with regular expressions between slashes. */
const SCRIPTS = new Set(["javascript", "typescript", "tsx", "vue", "svelte", "astro"]);
/** What a regular expression may follow, where a division cannot. */
const BEFORE_REGEX = new Set("(,=:[!&|?{;+~>\n");

/** Splits code into tokens, whose concatenation is the code. */
export function tokenize(code: string, language: string): Token[] {
  const keywords = keywordsOf(language);
  const ignoresCase = language === "sql";
  const tokens: Token[] = [];
  let plainFrom = 0;
  let at = 0;
  const emit = (kind: TokenKind, end: number) => {
    if (at > plainFrom) tokens.push({ kind: undefined, text: code.slice(plainFrom, at) });
    tokens.push({ kind, text: code.slice(at, end) });
    at = end;
    plainFrom = end;
  };
  while (at < code.length) {
    const character = code.charAt(at);
    const comment = commentEnd(code, at, language);
    if (comment !== undefined) emit("com", comment);
    else if (QUOTES.has(character) || (character === "/" && SCRIPTS.has(language) && isRegexAt(code, at))) {
      const end = stringEnd(code, at, language);
      if (end > at + 1) emit("str", end);
      else at = end;
    } else if (isDigit(character)) emit("num", wordEnd(code, at));
    else if (isWord(character)) {
      const end = wordEnd(code, at);
      const word = code.slice(at, end);
      if (keywords.has(ignoresCase ? word.toLowerCase() : word) && !isMember(code, at)) emit("key", end);
      else at = end;
    } else at++;
  }
  if (code.length > plainFrom) tokens.push({ kind: undefined, text: code.slice(plainFrom) });
  return tokens;
}

function commentEnd(code: string, at: number, language: string): number | undefined {
  const hasSlashComments = !WITHOUT_SLASH_COMMENTS.has(language);
  if (hasSlashComments && code.startsWith("/*", at)) {
    const end = code.indexOf("*/", at + 2);
    return end < 0 ? code.length : end + 2;
  }
  const isLine =
    (hasSlashComments && code.startsWith("//", at) && code.charAt(at - 1) !== ":") ||
    (code.charAt(at) === "#" && HASH_COMMENTS.has(language)) ||
    (code.startsWith("--", at) && DASH_COMMENTS.has(language));
  return isLine ? lineEnd(code, at) : undefined;
}

/**
 * End of a string, or of the quote alone if the string is not closed on its line: an apostrophe in prose, or a lifetime in Rust.
 * Searches at most `MAX_STRING` characters where a string may not break, which bounds the work for a text full of quotes.
 */
function stringEnd(code: string, start: number, language: string): number {
  const quote = code.charAt(start);
  if ((language === "python" || language === "starlark") && code.startsWith(quote.repeat(3), start)) {
    const end = code.indexOf(quote.repeat(3), start + 3);
    return end < 0 ? code.length : end + 3;
  }
  if (language === "rust" && quote === "'" && code.charAt(start + 1) !== "\\" && code.charAt(start + 2) !== "'") {
    return start + 1;
  }
  const mayBreak = quote === "`";
  const limit = mayBreak ? code.length : Math.min(code.length, start + MAX_STRING);
  let isClass = false;
  for (let at = start + 1; at < limit; at++) {
    const character = code.charAt(at);
    if (character === "\\") at++;
    else if (quote === "/" && (character === "[" || character === "]")) isClass = character === "[";
    else if (character === quote && !isClass) return at + 1;
    else if (character === "\n" && !mayBreak) return start + 1;
  }
  return limit === code.length && !mayBreak ? start + 1 : limit;
}

/** Whether a slash begins a regular expression, by what stands before it on its line. */
function isRegexAt(code: string, slash: number): boolean {
  if (code.charAt(slash + 1) === "/") return false;
  let at = slash - 1;
  while (slash - at < MAX_SPACES && code.charAt(at) === " ") at--;
  return at < 0 || BEFORE_REGEX.has(code.charAt(at)) || code.slice(Math.max(0, at - 5), at + 1) === "return";
}

/** Whether a word is the name of a member: behind a single dot, which no spread or range is. */
function isMember(code: string, at: number): boolean {
  return code.charAt(at - 1) === "." && code.charAt(at - 2) !== ".";
}

function lineEnd(code: string, at: number): number {
  const end = code.indexOf("\n", at);
  return end < 0 ? code.length : end;
}

function wordEnd(code: string, start: number): number {
  let at = start + 1;
  while (at < code.length && isWord(code.charAt(at))) at++;
  return at;
}

const isDigit = (character: string) => character >= "0" && character <= "9";
/** Letters, digits, `_` and `$`. */
const isWord = (character: string) =>
  (character >= "a" && character <= "z") ||
  (character >= "A" && character <= "Z") ||
  isDigit(character) ||
  character === "_" ||
  character === "$";
