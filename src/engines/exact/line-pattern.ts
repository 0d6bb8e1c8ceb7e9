/** Changes a pattern so that it matches line by line, as ripgrep does, and finds its required parts. */
import type { GrepRequest } from "./types.ts";
import { PatternError } from "./rust-regex.ts";
import { type PatternNode, type PatternToken, readPattern } from "./pattern-syntax.ts";

/** Stands for a byte that is no UTF-8. No class matches it, so patterns do not match such bytes, as in ripgrep. */
export const INVALID_BYTE = [0xf4, 0x8f, 0xbf, 0xbf] as const;
const INVALID_CHARACTER = String.raw`\x{10FFFF}`;

export type PatternFlags = Pick<GrepRequest, "pattern" | "fixedStrings" | "ignoreCase" | "wordRegexp" | "multiline">;

export interface LinePattern {
  /** For the compiler. */
  source: string;
  /** For texts with `INVALID_BYTE`s. */
  invalidSource: string;
  /** There is a `$`: it matches before a CR at the end of a line too. */
  hasLineEnd: boolean;
  tree: PatternNode;
}

/** The pattern as the user gave it, for the compiler to check: its errors name places in it. */
export function checkedSource({ pattern, fixedStrings }: PatternFlags): string {
  return fixedStrings === true ? escaped(pattern) : pattern;
}

/** Needs a pattern that the compiler has accepted. Throws `PatternError` for a line break without `multiline`. */
export function linePattern(flags: PatternFlags): LinePattern {
  const { pattern, fixedStrings = false, ignoreCase = false, wordRegexp = false, multiline = false } = flags;
  const { tree, tokens, isVerbose } = readPattern(pattern, { isLiteral: fixedStrings, ignoreCase });
  const hasLineBreak = fixedStrings ? pattern.includes("\n") : tokens.some(({ kind }) => kind === "line_break");
  if (hasLineBreak && !multiline)
    throw new PatternError("holds a line break, which no line does; set multiline to match over several lines");
  const sourceOf = (isInvalid: boolean): string => {
    const own = fixedStrings ? escaped(pattern) : rewritten(pattern, tokens, { multiline, isInvalid });
    // A comment may be open at the end.
    const closed = isVerbose ? `${own}\n` : own;
    const prefix = `(?m${ignoreCase ? "i" : ""})`;
    return wordRegexp ? String.raw`${prefix}\b{start-half}(?:${closed})\b{end-half}` : prefix + closed;
  };
  return {
    source: sourceOf(false),
    invalidSource: sourceOf(true),
    hasLineEnd: tokens.some(({ kind }) => kind === "line_end" || kind === "text_end"),
    tree,
  };
}

function rewritten(
  pattern: string,
  tokens: readonly PatternToken[],
  options: { multiline: boolean; isInvalid: boolean },
): string {
  let source = "";
  let at = 0;
  for (const token of tokens) {
    const text = pattern.slice(token.start, token.end);
    source += pattern.slice(at, token.start) + tokenSource(token, text, options);
    at = token.end;
  }
  return source + pattern.slice(at);
}

function tokenSource(
  { kind, isDotAll, isUnicode }: PatternToken,
  text: string,
  { multiline, isInvalid }: { multiline: boolean; isInvalid: boolean },
): string {
  const invalid = isInvalid && isUnicode ? INVALID_CHARACTER : "";
  const lineBreak = multiline ? "" : String.raw`\n`;
  if (kind === "class" && lineBreak + invalid !== "") return `[${text}--[${lineBreak}${invalid}]]`;
  if (kind === "dot" && invalid !== "") return multiline && isDotAll ? `[^${invalid}]` : String.raw`[^\n${invalid}]`;
  if (multiline) return text;
  switch (kind) {
    case "dot":
      return isDotAll ? String.raw`[^\n]` : text;
    case "line_start":
    case "text_start":
      return "(?m-R:^)";
    case "line_end":
    case "text_end":
      return "(?m-R:$)";
    case "class":
    case "line_break":
      return text;
  }
}

/** The text as a pattern that matches it. */
function escaped(text: string): string {
  return text.replace(/[\\.+*?()|[\]{}^$#&\-~]/g, String.raw`\$&`);
}

/** The longest run of characters that every match holds as they are; empty if there is none. */
export function requiredText(tree: PatternNode): string {
  const parts = tree.kind === "concatenation" ? tree.parts : [tree];
  let longest = "";
  let run = "";
  for (const part of parts) {
    const isPlain = part.kind === "character" && !part.isFolded;
    run = isPlain ? run + part.character : "";
    if (run.length > longest.length) longest = run;
    const inner = part.kind === "repetition" && part.min > 0 ? requiredText(part.part) : "";
    if (inner.length > longest.length) longest = inner;
    if (part.kind === "concatenation") {
      const nested = requiredText(part);
      if (nested.length > longest.length) longest = nested;
    }
  }
  return longest;
}
