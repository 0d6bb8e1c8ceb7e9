import { commentsOf, openedAt } from "../parsing/comments.ts";

/** Which lines of a file are code: neither blank nor wholly a comment. By line, without parsing, so that a part of a file will do. */

/** Text without comments: every line tells something. */
const PROSE_LANGUAGES: ReadonlySet<string> = new Set([
  "markdown",
  "rst",
  "rdoc",
  "asciidoc",
  "org",
  "latex",
  "typst",
  "text",
  "json",
  "csv",
  "html",
  "xml",
]);

/** A quote that opens a documentation string where a line begins with it. */
const DOC_QUOTES: Readonly<Record<string, readonly string[]>> = { python: ['"""', "'''"], elixir: ['"""'] };
const BEFORE_DOC_QUOTE = /^(?:[rRbBuUfF]{1,2}|@\w{1,20} (?:~[sS])?)(?="""|''')/;

/** Whether each line is code. `lines` are successive lines of a file in the language. */
export function codeLines(lines: readonly string[], language: string): boolean[] {
  if (PROSE_LANGUAGES.has(language)) return lines.map((line) => line.trim() !== "");
  const quotes = DOC_QUOTES[language] ?? [];
  const { blocks, line: comment } = commentsOf(language);
  let end: string | undefined;
  return lines.map((line) => {
    const text = line.trim();
    if (end !== undefined) {
      if (!text.includes(end)) return false;
      const rest = text.slice(text.lastIndexOf(end) + end.length);
      end = undefined;
      return isCode(rest);
    }
    if (text === "") return false;
    const opened = openedAt(blocks, text, 0);
    if (opened) {
      const close = text.indexOf(opened.closing, opened.end);
      if (close >= 0) return isCode(text.slice(close + opened.closing.length));
      end = opened.closing;
      return false;
    }
    const quoted = text.replace(BEFORE_DOC_QUOTE, "");
    const quote = quotes.find((one) => quoted.startsWith(one));
    if (quote !== undefined) {
      if (!quoted.includes(quote, quote.length)) end = quote;
      return false;
    }
    return isCode(text) && !comment.test(line);
  });
}

/** Something besides brackets and punctuation. */
function isCode(text: string): boolean {
  return /[\p{L}\p{N}_]/u.test(text);
}
