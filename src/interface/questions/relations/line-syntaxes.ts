/** How programming languages whose uses are not read name a function. */
import { always, DOUBLE_QUOTED, isBraced, isCallOf, isPlainUse, type LineSyntax, PLAIN } from "./line-syntax.ts";

/** `{ a, name } = b`: binds the name. */
const IS_PATTERN = /^[^{}]*\}\s*=(?!=)/;

const HASKELL: LineSyntax = {
  quotes: '"',
  endings: "'",
  isWithin: true,
  isSole: always,
  isUse: (before, after) =>
    !/^\s*=(?!=)/.test(after) && !(/^\s*::\s/.test(after) && /^(?:where\s|let\s)?$/.test(before)),
};
const ML: LineSyntax = {
  quotes: '"',
  endings: "'",
  isUse: (before, after) => isPlainUse(before, after) && !/[~?]$|\band\s+$/.test(before),
};
const LISP: LineSyntax = {
  quotes: '"',
  characters: "-+*!?<>=.%&:",
  endings: "'",
  // Texts of documentation name most functions without a parenthesis, and `((name 1))` binds the name.
  isSole: (before) => /(?:^|[^(])(?:\(\s*(?:[\w.-]+\/)?|#')$/.test(before),
  isUse: (before) => !/\(\s*(?:[\w.]+\/)?(?:def|declare)[\w-]*\s+$/.test(before),
};
/** Languages in which values often have the names of functions: they are called, or handed over as an argument or value of their own. */
const HANDED: LineSyntax = {
  ...PLAIN,
  isUse: (before, after) =>
    after.trimStart().startsWith("(") ||
    (/(?:[(,={[&:]|=>)\s*(?:this\.|self\.)?$/.test(before) && /^\s*(?:[,;)\]}]|$)/.test(after)),
};
const MESSAGE_RECEIVER = /[\w\])}"']\s+$/;
const VISIBILITY = /\b(?:public|external|internal|private|payable|view|virtual|override)\b/;
/** By the id of the language. Of others a name before a parenthesis is a call. */
export const PROGRAMS: Readonly<Record<string, LineSyntax>> = {
  haskell: HASKELL,
  purescript: HASKELL,
  // `a :: rest` is a list there.
  elm: { ...HASKELL, isUse: (_before, after) => !/^\s*(?:=(?!=)|:\s)/.test(after) && !IS_PATTERN.test(after) },
  ocaml: ML,
  sml: ML,
  fsharp: {
    ...ML,
    isSole: (_before, after) => !after.startsWith("."),
    // ``a name of several words``, and members, are none.
    isUse: (before, ...rest) =>
      before.split("``").length % 2 === 1 && !/\bmember\b/.test(before) && ML.isUse(before, ...rest),
  },
  rescript: ML,
  gleam: {
    quotes: '"',
    isWithin: true,
    isSole: (before, after) => after.startsWith("(") || /\|>\s*(?:\w+\.)?$/.test(before),
    isUse: (before, after) => isPlainUse(before, after) && !/^\s*->/.test(after) && !/\bfn\([^)]*$/.test(before),
  },
  lean: { ...DOUBLE_QUOTED, endings: "'!?" },
  erlang: {
    quotes: '"',
    isWithin: true,
    isSole: (before, after) => after.startsWith("(") || /\bfun\s+(?:\w+:)?$/.test(before),
    // `name(X)`, `fun name/1`, `{Module, name, []}`, `apply(Module, name, [])`
    isUse: (before, after) =>
      !/^-|\?$/.test(before) &&
      (after.startsWith("(") ||
        (/\bfun\s+(?:\w+:)?$/.test(before) && after.startsWith("/")) ||
        (/[\w)\]}>],\s*$/.test(before) && /^\s*[,}\]]/.test(after))),
  },
  clojure: LISP,
  lisp: LISP,
  perl: {
    ...PLAIN,
    isUse: (before, after) =>
      isPlainUse(before, after) && !/^=\w|[$@%]\{?$|\bqw\b/.test(before) && !isBraced(before, after),
  },
  r: {
    ...PLAIN,
    characters: ".",
    isSole: isCallOf,
    isUse: (before, after) =>
      isPlainUse(before, after.replace("`", "")) && !/[$@]$|\bfunction\([^)]*$|^(?:export|S3method)\(/.test(before),
  },
  julia: {
    quotes: '"',
    endings: "!",
    isUse: (before, after) => isPlainUse(before, after) && !/(?:^|[^:]):$/.test(before),
  },
  crystal: { ...PLAIN, endings: "?!", isUse: (before, after) => isPlainUse(before, after) && !/[@:]$/.test(before) },
  nim: DOUBLE_QUOTED,
  coffeescript: PLAIN,
  gdscript: PLAIN,
  snakemake: PLAIN,
  powershell: {
    ...PLAIN,
    characters: "-",
    // Not in the examples and addresses of documentation, which is a comment of several lines.
    isUse: (before, after) => isPlainUse(before, after) && !/^(?:PS|PS [A-Z]:\\.{0,99})>|\/$/.test(before),
  },
  nushell: { ...PLAIN, characters: "-" },
  // Elsewhere than at the start of a command the name may be that of a variable.
  fish: {
    ...PLAIN,
    characters: "-",
    isSole: (before) => /(?:^|[;|(]\s*|\b(?:and|or|not|if|while|begin|else)\s+)$/.test(before),
  },
  // `"` begins comments as well, and functions are handed over by texts.
  vim: { quotes: "", isUse: (before, after) => !before.startsWith('"') && isPlainUse(before, after) },
  tcl: { quotes: "", isUse: isPlainUse },
  nextflow: { ...PLAIN, isUse: (before, after) => isPlainUse(before, after) && !isBraced(before, after) },
  groovy: PLAIN,
  pascal: { quotes: "'", isUse: isPlainUse },
  fortran: {
    quotes: `"'`,
    isSole: (before) => /\bcall\s+$/i.test(before),
    // `procedure :: load => name` and `module procedure name` bind it to another one.
    isUse: (before, after) =>
      /(?:=>|^final\s*::)\s*(?:\w+\()?$|^module\s+procedure\s+(?:[\w\s,]+,\s*)?$/i.test(before) ||
      (isPlainUse(before, after) && !/::|^use\b/i.test(before)),
  },
  ada: DOUBLE_QUOTED,
  // `entity work.name port map (…)`
  vhdl: {
    ...DOUBLE_QUOTED,
    kinds: ["class", "interface"],
    isUse: (before, after) => isPlainUse(before, after) && !/\b(?:of|entity|component|architecture)\s+$/i.test(before),
  },
  vb: DOUBLE_QUOTED,
  cobol: {
    quotes: `"'`,
    characters: "-",
    isSole: always,
    isUse: (before) => /\b(?:perform|thru|through|go\s+to|call)\s+$/i.test(before) && !/^\d{6}[*/]/.test(before),
  },
  verilog: {
    quotes: '"',
    kinds: ["module"],
    isSole: always,
    // `name #(1) instance (…)`, `name(a)`, `` `name ``, and the task `name;`
    isUse: (before, after) =>
      before.endsWith("`") ||
      (/^\s*(?:#\s*\(|\w+\s*[[(]|\()/.test(after) &&
        !/\.$|\b(?:input|output|inout|wire|reg|logic|function|task|module)\b/.test(before)) ||
      (/^(?:begin\s+)?$/.test(before) && after.startsWith(";")),
  },
  "objective-c": {
    quotes: '"',
    kinds: ["class"],
    // `f(`, `[a name]`, `[a name:b]`, `a.name`, `@selector(name:)`, `[Name new]`
    isUse: (before, after, _owners, name) =>
      !/^[-+]\s*\(|\bcase\s+$|^@/.test(before) &&
      (after.startsWith("(") ||
        before.endsWith("@selector(") ||
        before.endsWith(".") ||
        (/^[A-Z]/.test(name) && before.endsWith("[") && /^\s+\w/.test(after)) ||
        (MESSAGE_RECEIVER.test(before) && /^(?::|\s*\])/.test(after))),
  },
  vala: HANDED,
  haxe: HANDED,
  qml: HANDED,
  // `name!int(a)`, `name!(int, 1)(a)`
  d: { ...HANDED, isUse: (before, after, ...rest) => /^!\s?[\w(]/.test(after) || HANDED.isUse(before, after, ...rest) },
  odin: HANDED,
  cython: HANDED,
  solidity: {
    ...PLAIN,
    // Modifiers stand in the head of a function.
    isUse: (before, after) =>
      after.startsWith("(") ||
      after.startsWith(".selector") ||
      (isInHead(before) && /\s$/.test(before) && !/\breturns\s*\([^)]*$/.test(before) && !/^\s*[;=]/.test(after)),
  },
};

/** Whether a text of Solidity ends among the words behind the parameters of a function, which may begin on a line of their own. */
function isInHead(before: string): boolean {
  const parameters = before.indexOf(")");
  return before.search(VISIBILITY) === 0 || (parameters >= 0 && VISIBILITY.test(before.slice(parameters)));
}
