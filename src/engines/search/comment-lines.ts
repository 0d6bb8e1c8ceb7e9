/** Which lines of a file are code: neither blank nor wholly a comment. By line, without parsing, so that a part of a file will do. */

const HASH_LANGUAGES: ReadonlySet<string> = new Set(
  "python ruby bash elixir yaml toml dockerfile makefile r perl powershell ini properties cmake nix julia graphql gherkin cython".split(
    " ",
  ),
);
const DASH_LANGUAGES: ReadonlySet<string> = new Set(["lua", "sql", "haskell", "ada", "vhdl", "elm"]);
/** Text without comments: every line tells something. */
const PROSE_LANGUAGES: ReadonlySet<string> = new Set([
  "markdown",
  "rst",
  "rdoc",
  "asciidoc",
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
  const beginnings = HASH_LANGUAGES.has(language) ? ["#"] : DASH_LANGUAGES.has(language) ? ["--"] : ["//", "*"];
  const hasBlocks = beginnings[0] === "//" || language === "sql";
  if (language === "php") beginnings.push("#");
  let end: string | undefined;
  return lines.map((line) => {
    let text = line.trim();
    if (end !== undefined) {
      if (!text.includes(end)) return false;
      text = text.slice(text.lastIndexOf(end) + end.length).trim();
      end = undefined;
      return isCode(text);
    }
    if (text === "") return false;
    if (hasBlocks && text.startsWith("/*")) {
      const close = text.indexOf("*/", 2);
      if (close >= 0) return isCode(text.slice(close + 2).trim());
      end = "*/";
      return false;
    }
    const quoted = text.replace(BEFORE_DOC_QUOTE, "");
    const quote = quotes.find((one) => quoted.startsWith(one));
    if (quote !== undefined) {
      if (!quoted.includes(quote, quote.length)) end = quote;
      return false;
    }
    // `*` begins lines of a block comment, and expressions only where no space follows.
    return (
      isCode(text) && !beginnings.some((one) => text.startsWith(one) && (one !== "*" || /^\*(?:\s|\/|$)/.test(text)))
    );
  });
}

/** Something besides brackets and punctuation. */
function isCode(text: string): boolean {
  return /[\p{L}\p{N}_]/u.test(text);
}
