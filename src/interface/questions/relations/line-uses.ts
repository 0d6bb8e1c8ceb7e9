/** Lines of languages whose uses are not read that call a function of the same language, by its name. */

import { commentsOf, openedAt, type Comments } from "../../../engines/parsing/comments.ts";
import { BUILDS } from "./build-syntaxes.ts";
import { isFunction } from "./found.ts";
import type { LineSyntax } from "./line-syntax.ts";
import { PROGRAMS } from "./line-syntaxes.ts";
import { isPartOfName } from "./occurrences.ts";

const MAX_LINE = 1_000;

const SYNTAXES: Readonly<Record<string, LineSyntax>> = { ...PROGRAMS, ...BUILDS };

/** Whether uses of a definition of some kind are found by lines in its language. */
export const isUsedInLines = (language: string, kind: string): boolean =>
  Object.hasOwn(SYNTAXES, language) && (isFunction({ kind }) || SYNTAXES[language]?.kinds?.includes(kind) === true);

/** Whether the syntax of the language can tell, from one line, that a name means a definition and nothing else. */
export const tellsSole = (language: string): boolean => SYNTAXES[language]?.isSole !== undefined;

/** Whether all uses in the language stand in definitions other than modules. */
export const isWithinDefinitions = (language: string): boolean => SYNTAXES[language]?.isWithin === true;

/**
 * Whether code on a line calls a definition for which `isUsedInLines`, or hands it over. `sole` if it can only mean a definition of that name,
 * and so the only one where there is one. Comments and texts that begin on another line are taken for code. Beyond 1,000 characters the line
 * is not looked at.
 */
export function namedInLine(
  language: string,
  line: string,
  { name, owners }: { name: string; owners: ReadonlySet<string> },
): "sole" | "name" | undefined {
  const text = line.slice(0, MAX_LINE);
  const syntax = SYNTAXES[language];
  const comments = commentsOf(language);
  if (!syntax || !text.includes(name) || comments.inner?.test(text) === true) return undefined;
  const uses = occurrencesInCode(text, name, syntax, comments).filter(({ before, after }) =>
    syntax.isUse(before, after, owners, name),
  );
  if (uses.length === 0) return undefined;
  return uses.some(({ before, after }) => syntax.isSole?.(before, after) === true) ? "sole" : "name";
}

/** The words of a line that may be names in a language, comments and texts included. */
export function wordsInLine(language: string, line: string): string[] {
  const { characters = "", endings = "" } = SYNTAXES[language] ?? {};
  const words: string[] = [];
  let word = "";
  for (const character of `${line.slice(0, MAX_LINE)} `) {
    if (isPartOfName(character) || characters.includes(character) || (word !== "" && endings.includes(character)))
      word += character;
    else if (word !== "") {
      words.push(word);
      word = "";
    }
  }
  return words;
}

function occurrencesInCode(
  text: string,
  name: string,
  { quotes, characters = "", endings = "" }: LineSyntax,
  { lines, blocks }: Comments,
): { before: string; after: string }[] {
  const begins = (at: number): boolean => !isPartOfName(text[at - 1]) && !includes(characters, text[at - 1]);
  const isPart = (character?: string): boolean =>
    isPartOfName(character) || includes(characters, character) || includes(endings, character);
  const found: { before: string; after: string }[] = [];
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? "";
    const end = at + name.length;
    const opened = openedAt(blocks, text, at);
    if (text.startsWith(name, at) && begins(at) && !isPart(text[end])) {
      found.push({ before: text.slice(0, at), after: text.slice(end) });
      at = end - 1;
    } else if (opened) {
      const closed = text.indexOf(opened.closing, opened.end);
      if (closed < 0) break;
      at = closed + opened.closing.length - 1;
    } else if (character === "\\") at++;
    else if (quotes.includes(character)) {
      // One that is not closed is an apostrophe, or opens a text of several lines.
      const closed = closingQuote(text, at);
      if (closed > at) at = closed;
    } else if (/^'\\?.'/.test(text.slice(at, at + 4))) at = text.indexOf("'", at + 2);
    else if (lines.some((mark) => text.startsWith(mark, at)) && /^$|[\s;,(){}[\]]/.test(text[at - 1] ?? "")) break;
  }
  return found;
}

const includes = (characters: string, character = ""): boolean => character !== "" && characters.includes(character);

/** Where the quote at `at` is closed; -1 if it is not. */
function closingQuote(text: string, at: number): number {
  for (let i = at + 1; i < text.length; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === text[at]) return i;
  }
  return -1;
}
