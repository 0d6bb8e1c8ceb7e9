/** Which lines of a file are code: neither blank nor wholly a comment. By line, without parsing, so that a part of a file will do. */

/** What begins a line of comment, and the marks of comments of several lines. */
interface Marks {
  lines: readonly string[];
  block?: readonly [opening: string, closing: string];
}

/** `*` begins lines of a block comment, and expressions only where no space follows. */
const OF_C: Marks = { lines: ["//", "*"], block: ["/*", "*/"] };
const MARKS: readonly (readonly [languages: string, Marks])[] = [
  [
    "python starlark ruby bash elixir yaml toml dockerfile makefile r perl powershell ini properties cmake graphql gherkin cython nim crystal coffeescript gdscript nushell snakemake fish awk tcl rego just meson puppet mojo vyper autoconf",
    { lines: ["#"] },
  ],
  ["php jsonnet terraform nix", { ...OF_C, lines: [...OF_C.lines, "#"] }],
  ["julia", { lines: ["#"], block: ["#=", "=#"] }],
  ["lua ada vhdl", { lines: ["--"] }],
  ["haskell purescript elm", { lines: ["--"], block: ["{-", "-}"] }],
  ["lean", { lines: ["--"], block: ["/-", "-/"] }],
  ["sql", { lines: ["--"], block: ["/*", "*/"] }],
  ["ocaml sml", { lines: [], block: ["(*", "*)"] }],
  ["fsharp pascal", { lines: ["//"], block: ["(*", "*)"] }],
  ["lisp clojure", { lines: [";"] }],
  ["assembly", { lines: [";", "#", "//", "@"], block: ["/*", "*/"] }],
  ["erlang", { lines: ["%"] }],
  ["fortran", { lines: ["!"] }],
  ["vim", { lines: ['"'] }],
  ["vb", { lines: ["'"] }],
];
const MARKS_OF: ReadonlyMap<string, Marks> = new Map(
  MARKS.flatMap(([languages, marks]) => languages.split(" ").map((language) => [language, marks] as const)),
);
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
  const { lines: beginnings, block: [opening, closing] = [] } = MARKS_OF.get(language) ?? OF_C;
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
    if (opening !== undefined && closing !== undefined && text.startsWith(opening)) {
      const close = text.indexOf(closing, opening.length);
      if (close >= 0) return isCode(text.slice(close + closing.length).trim());
      end = closing;
      return false;
    }
    const quoted = text.replace(BEFORE_DOC_QUOTE, "");
    const quote = quotes.find((one) => quoted.startsWith(one));
    if (quote !== undefined) {
      if (!quoted.includes(quote, quote.length)) end = quote;
      return false;
    }
    return (
      isCode(text) && !beginnings.some((one) => text.startsWith(one) && (one !== "*" || /^\*(?:\s|\/|$)/.test(text)))
    );
  });
}

/** Something besides brackets and punctuation. */
function isCode(text: string): boolean {
  return /[\p{L}\p{N}_]/u.test(text);
}
