/** Finds pairs of a text in words and the code that it is about, in sources and in commits. */
import { codeLines } from "../../src/engines/search/comment-lines.ts";
import type { SourceSymbol } from "../../src/engines/search/types.ts";

export const PAIR_KINDS = ["doc", "name", "comment", "commit"] as const;

export interface Pair {
  kind: (typeof PAIR_KINDS)[number];
  words: string;
  code: string;
}

const MAX_CODE_LINES = 60;
/** Lines below a comment inside of a function that it is taken to be about. */
const MAX_LINES_BELOW = 12;
const MAX_WORDS = 45;
const MIN_WORDS = 3;
const MIN_CHARACTERS = 12;
/** Of its characters; texts with less are code, tables or numbers. */
const MIN_LETTERS = 0.75;

/** Where the summary of a documentation comment ends. */
const END_OF_SUMMARY =
  /\n\s*\n|(?:^|\s)(?:@\w|:param|:return|:type|:raises|Args?:|Arguments:|Parameters\b|Returns?:|Raises:|Examples?\b:?|>>>|```)/;
const BOILERPLATE =
  /copyright|licen[sc]e|SPDX|eslint|prettier|@ts-|noqa|pylint|rubocop|NOLINT|TODO|FIXME|generated|clang-format|pragma|istanbul/i;
const COMMENT_MARK = /^\s*(?:\/\/[/!]?|\/\*+!?|\*+\/?|#+|--+|"""|''')\s?|\s*(?:\*\/|"""|''')\s*$/g;
const FUNCTION_KINDS: ReadonlySet<string> = new Set(["function", "method", "constructor"]);

/** The pairs of one source. `lines` are those of the whole file. */
export function* pairsOfSource(
  lines: readonly string[],
  language: string,
  symbols: readonly Pick<SourceSymbol, "kind" | "name" | "startLine" | "endLine" | "doc">[],
): Generator<Pair> {
  const isCode = codeLines(lines, language);
  const codeOf = (from: number, to: number): string[] =>
    lines.slice(from - 1, Math.min(to, from - 1 + MAX_CODE_LINES)).filter((_, i) => isCode[from - 1 + i] === true);
  for (const { kind, name, startLine, endLine, doc } of symbols) {
    const code = codeOf(startLine, endLine);
    if (code.length < 2) continue;
    const words = doc === null ? undefined : summaryOf(doc);
    if (words !== undefined) yield { kind: "doc", words, code: code.join("\n") };
    // Otherwise nothing but the name would have to be guessed from itself.
    if (FUNCTION_KINDS.has(kind) && /[a-z][A-Z]|\w_\w/.test(name))
      yield { kind: "name", words: name, code: code.join("\n").replaceAll(name, " ") };
  }
  yield* commentPairs(lines, isCode);
}

/** Comments between the lines of code, each with what follows it. */
function* commentPairs(lines: readonly string[], isCode: readonly boolean[]): Generator<Pair> {
  for (let i = 0; i < lines.length; i++) {
    if (isCode[i] === true || (lines[i] as string).trim() === "") continue;
    const from = i;
    while (i < lines.length && isCode[i] !== true && (lines[i] as string).trim() !== "") i++;
    // A comment without indentation is the documentation of what follows, which the symbols tell.
    if (!/^\s/.test(lines[from] as string)) continue;
    let end = i;
    while (end < lines.length && isCode[end] === true && end - i < MAX_LINES_BELOW) end++;
    const text = lines.slice(from, i).map((line) => line.replaceAll(COMMENT_MARK, ""));
    const words = summaryOf(text.join("\n"));
    if (words !== undefined && end - i >= 2) yield { kind: "comment", words, code: lines.slice(i, end).join("\n") };
  }
}

/** The pair of a commit: its subject, without the prefixes and numbers of conventions, and the lines around its changes. */
export function pairOfCommit(subject: string, hunks: string): Pair | undefined {
  if (/^(?:bump|release|merge|revert|prepare|version|update (?:dep|changelog|version))/i.test(subject))
    return undefined;
  const text = subject
    .replace(/^\w+(?:\([^)]*\))?!?:\s*/, "")
    .replaceAll(/\(?#\d+\)?/g, "")
    .replace(/^\[[^\]]*\]\s*/, "");
  const words = summaryOf(text);
  return words === undefined ? undefined : { kind: "commit", words, code: hunks };
}

/** The first sentences of a comment, undefined if it is none in words. */
function summaryOf(comment: string): string | undefined {
  const text = (comment.trim().split(END_OF_SUMMARY)[0] ?? "")
    .replaceAll(/<\/?[a-z]{1,10}\b[^>]{0,80}>/gi, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
  if (text.length < MIN_CHARACTERS || BOILERPLATE.test(text)) return undefined;
  const words = text.split(" ");
  const letters = text.replaceAll(/[^A-Za-z ]/g, "").length;
  return words.length < MIN_WORDS || letters < MIN_LETTERS * text.length
    ? undefined
    : words.slice(0, MAX_WORDS).join(" ");
}
