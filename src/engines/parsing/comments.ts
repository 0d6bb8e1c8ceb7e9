/** What a comment is in each language. For languages with a grammar, this is for lines that are looked at without parsing. */

/** What begins comments, as the table below has it. */
interface Marks {
  /** What begins a comment that ends with its line. */
  lines?: readonly string[];
  /** Comments that may span lines: a pattern of the opening mark, and the closing mark. */
  blocks?: readonly (readonly [opening: string, closing: string])[];
  /** A line that is a comment by its first characters, which elsewhere, or in other columns, mean something else. */
  starts?: RegExp;
  /** How lines within a comment begin. */
  inner?: RegExp;
}

/** A comment that may span lines. */
export interface BlockComment {
  /** The opening mark; it is sticky: it matches at its `lastIndex`. */
  at: RegExp;
  /** The opening mark where it is not part of a word, as in `src/*`. */
  found: RegExp;
  closing: string;
}

/** The comments of a language. */
export interface Comments {
  /** What begins a comment that ends with its line. */
  lines: readonly string[];
  blocks: readonly BlockComment[];
  /** A line that is a comment, begins with one, or begins as lines within one do. */
  line: RegExp;
  /** How lines within a comment begin. */
  inner: RegExp | undefined;
}

const BLOCK_OF_C = [String.raw`/\*`, "*/"] as const;
/** An expression that begins with `*` has no space behind it. */
const OF_C: Marks = { lines: ["//"], blocks: [BLOCK_OF_C], inner: /^\s*\*(?:[\s*/@-]|$)/ };
const PARENTHESES = [String.raw`\(\*`, "*)"] as const;

/** By the ids of languages. Others have the comments of C. */
const MARKS: readonly (readonly [languages: string, Marks])[] = [
  [
    "python starlark bash elixir yaml toml dockerfile makefile r properties cmake graphql gherkin cython gdscript nushell snakemake fish awk tcl rego just meson puppet mojo vyper capnproto crystal ignore",
    { lines: ["#"] },
  ],
  ["gleam cue zig go-mod", { lines: ["//"] }],
  ["php jsonnet terraform thrift", { ...OF_C, lines: ["//", "#"] }],
  ["d", { ...OF_C, blocks: [BLOCK_OF_C, [String.raw`/\+`, "+/"]] }],
  ["nix", { lines: ["#"], blocks: [BLOCK_OF_C] }],
  ["ruby", { lines: ["#"], blocks: [["^=begin\\b", "=end"]] }],
  // Documentation begins with any command: `=head1`, `=over`.
  ["perl", { lines: ["#"], blocks: [["^=(?!cut)[a-z]", "=cut"]] }],
  ["julia", { lines: ["#"], blocks: [["#=", "=#"]] }],
  ["nim", { lines: ["#"], blocks: [[String.raw`#\[`, "]#"]] }],
  ["powershell", { lines: ["#"], blocks: [["<#", "#>"]] }],
  ["coffeescript", { lines: ["#"], blocks: [["^###(?!#)", "###"]] }],
  ["ini", { lines: ["#", ";"] }],
  ["autoconf", { lines: ["dnl", "#"] }],
  ["ada vhdl", { lines: ["--"] }],
  ["lua", { lines: ["--"], blocks: [[String.raw`--\[\[`, "]]"]] }],
  ["haskell purescript elm", { lines: ["--"], blocks: [[String.raw`\{-`, "-}"]] }],
  ["lean", { lines: ["--"], blocks: [["/-", "-/"]] }],
  ["sql", { lines: ["--"], blocks: [BLOCK_OF_C] }],
  ["ocaml sml", { blocks: [PARENTHESES] }],
  ["fsharp", { lines: ["//"], blocks: [PARENTHESES] }],
  ["pascal", { lines: ["//"], blocks: [PARENTHESES, [String.raw`\{`, "}"]] }],
  ["grammar", { ...OF_C, lines: ["//", "#"], blocks: [BLOCK_OF_C, PARENTHESES] }],
  ["clojure", { lines: [";"] }],
  ["lisp", { lines: [";"], blocks: [[String.raw`#\|`, "|#"]] }],
  ["assembly", { lines: [";", "#", "//", "@"], blocks: [BLOCK_OF_C], starts: /^\s*\*/ }],
  ["erlang", { lines: ["%"] }],
  // In the fixed form a `c` in the first column begins a comment.
  [
    "fortran",
    {
      lines: ["!"],
      starts: /^(?:\*|c(?!(?:all|ase|haracter|lass|lose|ommon|omplex|ontains|ontiguous|ontinue|ritical|ycle)\b))/i,
    },
  ],
  ["cobol", { lines: ["*>"], starts: /^(?:\d{6})?[*/]/ }],
  ["stata", { ...OF_C, starts: /^\s*\*/ }],
  ["abap", { starts: /^\s*[*"]/ }],
  // Elsewhere a quote begins a text.
  ["vim", { starts: /^\s*"/ }],
  ["vb", { lines: ["'"] }],
  ["batch", { starts: /^\s*(?:rem\b|::)/i }],
];

const COMMENTS: ReadonlyMap<string, Comments> = new Map(
  MARKS.flatMap(([languages, marks]) => {
    const comments = commentsBy(marks);
    return languages.split(" ").map((language) => [language, comments] as const);
  }),
);
const COMMENTS_OF_C = commentsBy(OF_C);

/** The comments of a language, by its id. */
export function commentsOf(language: string): Comments {
  return COMMENTS.get(language) ?? COMMENTS_OF_C;
}

/** The comment of several lines that opens at a position of a text, with what follows its opening mark. */
export function openedAt(
  blocks: readonly BlockComment[],
  text: string,
  at: number,
): { end: number; closing: string } | undefined {
  for (const { at: opening, closing } of blocks) {
    opening.lastIndex = at;
    if (opening.test(text)) return { end: opening.lastIndex, closing };
  }
  return undefined;
}

function commentsBy({ lines = [], blocks = [], starts, inner }: Marks): Comments {
  const marks = [
    ...lines.map((mark) => mark.replace(/[*]/g, String.raw`\*`).replace(/\w$/, String.raw`$&\b`)),
    ...blocks.map(([opening]) => opening.replace("^", "")),
  ];
  const begins = marks.length === 0 ? [] : [String.raw`^\s*(?:${marks.join("|")})`];
  const others = [starts, inner].flatMap((pattern) => pattern?.source ?? []);
  return {
    lines,
    blocks: blocks.map(([opening, closing]) => ({
      at: new RegExp(opening, "y"),
      found: new RegExp(String.raw`(?:^|\s)(?:${opening})`),
      closing,
    })),
    line: new RegExp([...begins, ...others].join("|"), starts?.flags),
    inner,
  };
}
