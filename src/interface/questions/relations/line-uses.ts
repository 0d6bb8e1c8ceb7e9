/** Lines of languages whose uses are not read that call a function of the same language, by its name. */

import { isFunction } from "./found.ts";
import { isPartOfName } from "./occurrences.ts";

const MAX_LINE = 1_000;

type Test = (before: string, after: string) => boolean;

/** How the code of a language is told apart within a line, and where a name in it names a function. */
interface LineSyntax {
  /** What begins a comment that ends with the line. */
  comments: readonly string[];
  /** Marks of comments that may end within a line. */
  block?: readonly [opening: string, closing: string];
  /** Quotes of texts. */
  quotes: string;
  /** Characters of names besides letters, digits, `_` and `$`. */
  characters?: string;
  /** Those within a name and at its end only: `add!` in Julia, where `!add` negates. */
  endings?: string;
  /** Kinds of definitions besides functions that are used in the same way. */
  kinds?: readonly string[];
  /** Whether all uses stand in definitions other than modules: what else names a function exports, imports or declares it. */
  isWithin?: boolean;
  /**
   * Whether a name that only one definition has means that one, by what is before and behind it. Never unless given: of members, where values
   * may have the name, and where comments and texts of several lines have examples.
   */
  isSole?: Test;
  /**
   * Whether a name in code names the function, by what is before and behind it in its line. `owners` are the names before the last one of the
   * definitions' qualified names.
   */
  isUse: (before: string, after: string, owners: ReadonlySet<string>, name: string) => boolean;
}

/** `let f`, `let inline f`, `procedure f`, `set -l f`: binds the name. */
const BINDS =
  /\b(?:let|val|var|def|fun|fn|func|function|sub|proc|procedure|subroutine|method|member|macro|template|signal|abstract|import|open|export|use|using|set|variable|dim|global)\s+(?:(?:rec|inline|private|internal|mutable|public|static|-\w{1,20})\s+){0,4}$/i;
/** Lines of names that are imported or exported. */
const IMPORTS = /^(?:import|export|using|from)\s/i;
/** `name = 1`, `name := 1`, `name <- 1`, `name: 1`, `name => 1`. */
const IS_KEY = /^\s*(?:=(?![=~])|:=|<-|<<-|:(?![:=]|\s*$)|=>)/;
/** `end name`. */
const ENDS = /\bend(?:\s+\w+)?\s+$/i;
/** `{ a, name } = b`: binds the name. */
const IS_PATTERN = /^[^{}]*\}\s*=(?!=)/;

const isPlainUse: Test = (before, after) =>
  !IMPORTS.test(before) && !BINDS.test(before) && !IS_KEY.test(after) && !ENDS.test(before) && !before.endsWith("$");

/** Where the syntax of its uses leaves nothing else. */
const always: Test = () => true;
const isCallOf: Test = (_before, after) => after.startsWith("(");

const HASH: LineSyntax = { comments: ["#"], quotes: `"'`, isUse: isPlainUse };
const DASHES: LineSyntax = { comments: ["--"], quotes: '"', isUse: isPlainUse };
const SLASHES: LineSyntax = { comments: ["//"], block: ["/*", "*/"], quotes: `"'`, isUse: isPlainUse };
const HASKELL: LineSyntax = {
  comments: ["--"],
  block: ["{-", "-}"],
  quotes: '"',
  endings: "'",
  isWithin: true,
  isSole: always,
  isUse: (before, after) =>
    !/^\s*=(?!=)/.test(after) && !(/^\s*::\s/.test(after) && /^(?:where\s|let\s)?$/.test(before)),
};
const ML: LineSyntax = {
  comments: [],
  block: ["(*", "*)"],
  quotes: '"',
  endings: "'",
  isUse: (before, after) => isPlainUse(before, after) && !/[~?]$|\band\s+$/.test(before),
};
const LISP: LineSyntax = {
  comments: [";"],
  quotes: '"',
  characters: "-+*!?<>=.%&:",
  endings: "'",
  // Texts of documentation name most functions without a parenthesis, and `((name 1))` binds the name.
  isSole: (before) => /(?:^|[^(])(?:\(\s*(?:[\w.-]+\/)?|#')$/.test(before),
  isUse: (before) => !/\(\s*(?:[\w.]+\/)?(?:def|declare)[\w-]*\s+$/.test(before),
};
/** Languages in which values often have the names of functions: they are called, or handed over as an argument or value of their own. */
const HANDED: LineSyntax = {
  ...SLASHES,
  isUse: (before, after) =>
    after.trimStart().startsWith("(") ||
    (/(?:[(,={[&:]|=>)\s*(?:this\.|self\.)?$/.test(before) && /^\s*(?:[,;)\]}]|$)/.test(after)),
};
const MESSAGE_RECEIVER = /[\w\])}"']\s+$/;
const VISIBILITY = /\b(?:public|external|internal|private|payable|view|virtual|override)\b/;

/** By the id of the language. Of others a name before a parenthesis is a call. */
const SYNTAXES: Readonly<Record<string, LineSyntax>> = {
  haskell: HASKELL,
  purescript: HASKELL,
  // `a :: rest` is a list there.
  elm: { ...HASKELL, isUse: (_before, after) => !/^\s*(?:=(?!=)|:\s)/.test(after) && !IS_PATTERN.test(after) },
  ocaml: ML,
  sml: ML,
  fsharp: {
    ...ML,
    comments: ["//"],
    isSole: (_before, after) => !after.startsWith("."),
    // ``a name of several words``, and members, are none.
    isUse: (before, ...rest) =>
      before.split("``").length % 2 === 1 && !/\bmember\b/.test(before) && ML.isUse(before, ...rest),
  },
  rescript: { ...ML, comments: ["//"], block: ["/*", "*/"] },
  gleam: {
    ...SLASHES,
    quotes: '"',
    isWithin: true,
    isSole: (before, after) => after.startsWith("(") || /\|>\s*(?:\w+\.)?$/.test(before),
    isUse: (before, after) => isPlainUse(before, after) && !/^\s*->/.test(after) && !/\bfn\([^)]*$/.test(before),
  },
  lean: { ...DASHES, block: ["/-", "-/"], endings: "'!?" },
  erlang: {
    comments: ["%"],
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
    ...HASH,
    isUse: (before, after) =>
      isPlainUse(before, after) && !/^=\w|[$@%]\{?$|\bqw\b/.test(before) && !isBraced(before, after),
  },
  r: {
    ...HASH,
    characters: ".",
    isSole: isCallOf,
    isUse: (before, after) =>
      isPlainUse(before, after.replace("`", "")) && !/[$@]$|\bfunction\([^)]*$|^(?:export|S3method)\(/.test(before),
  },
  julia: {
    comments: ["#"],
    quotes: '"',
    endings: "!",
    isUse: (before, after) => isPlainUse(before, after) && !/(?:^|[^:]):$/.test(before),
  },
  crystal: { ...HASH, endings: "?!", isUse: (before, after) => isPlainUse(before, after) && !/[@:]$/.test(before) },
  nim: { comments: ["#"], quotes: '"', isUse: isPlainUse },
  coffeescript: HASH,
  gdscript: HASH,
  snakemake: HASH,
  powershell: {
    ...HASH,
    block: ["<#", "#>"],
    characters: "-",
    // Not in the examples and addresses of documentation, which is a comment of several lines.
    isUse: (before, after) => isPlainUse(before, after) && !/^(?:PS|PS [A-Z]:\\.{0,99})>|\/$/.test(before),
  },
  nushell: { ...HASH, characters: "-" },
  // Elsewhere than at the start of a command the name may be that of a variable.
  fish: {
    ...HASH,
    characters: "-",
    isSole: (before) => /(?:^|[;|(]\s*|\b(?:and|or|not|if|while|begin|else)\s+)$/.test(before),
  },
  // `"` begins comments as well, and functions are handed over by texts.
  vim: { comments: [], quotes: "", isUse: (before, after) => !before.startsWith('"') && isPlainUse(before, after) },
  tcl: { comments: ["#"], quotes: "", isUse: isPlainUse },
  nextflow: { ...SLASHES, isUse: (before, after) => isPlainUse(before, after) && !isBraced(before, after) },
  groovy: SLASHES,
  pascal: { comments: ["//"], block: ["{", "}"], quotes: "'", isUse: isPlainUse },
  fortran: {
    comments: ["!"],
    quotes: `"'`,
    isSole: (before) => /\bcall\s+$/i.test(before),
    // `procedure :: load => name` and `module procedure name` bind it to another one.
    isUse: (before, after) =>
      /(?:=>|^final\s*::)\s*(?:\w+\()?$|^module\s+procedure\s+(?:[\w\s,]+,\s*)?$/i.test(before) ||
      (isPlainUse(before, after) && !/::|^use\b/i.test(before)),
  },
  ada: DASHES,
  // `entity work.name port map (…)`
  vhdl: {
    ...DASHES,
    kinds: ["class", "interface"],
    isUse: (before, after) => isPlainUse(before, after) && !/\b(?:of|entity|component|architecture)\s+$/i.test(before),
  },
  vb: { comments: ["'"], quotes: '"', isUse: isPlainUse },
  cobol: {
    comments: ["*>"],
    quotes: `"'`,
    characters: "-",
    isSole: always,
    isUse: (before) => /\b(?:perform|thru|through|go\s+to|call)\s+$/i.test(before) && !/^\d{6}[*/]/.test(before),
  },
  verilog: {
    ...SLASHES,
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
    ...SLASHES,
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
  cython: { ...HANDED, comments: ["#"] },
  terraform: {
    comments: ["#", "//"],
    block: ["/*", "*/"],
    quotes: "",
    characters: "-",
    kinds: ["object", "variable"],
    isSole: always,
    // `aws_vpc.name.id`, `module.name.id`; `var.name`, and outputs as `module.a.name`.
    isUse: (before, _after, owners) =>
      owners.size === 0
        ? /\bvar\.$|\bmodule\.[\w-]{1,100}(?:\[[^\]]{0,100}\])?\.$/.test(before)
        : [...owners].some((owner) => before.endsWith(`${owner}.`)),
  },
  graphql: {
    comments: ["#"],
    quotes: '"',
    kinds: ["struct", "interface", "enum", "union", "type"],
    isSole: always,
    // `...name`, `on Name`, `: [Name!]`, `implements A & Name`, `union A = B | Name`
    isUse: (before) =>
      before.endsWith("...") ||
      (/\bon\s+$/.test(before) && !before.startsWith("directive")) ||
      /(?::\s{0,9}\[{0,9}|^(?:type|interface)\s[^{]*\simplements\s[^{]*|^union\s[^=]*=[\w\s|]*|^\|\s*)$/.test(before),
  },
  protobuf: {
    ...SLASHES,
    kinds: ["struct", "enum"],
    isSole: always,
    // `repeated a.Name field = 1`, `map<string, Name>`, `rpc Get(Name) returns (stream Name)`
    isUse: (before, after) =>
      (/^(?:(?:repeated|optional|required)\s+)?[\w.]*$/.test(before) && /^\s+\w+\s*=/.test(after)) ||
      /\bmap\s*<\s*\w+\s*,\s*[\w.]*$/.test(before) ||
      (/\(\s*(?:stream\s+)?[\w.]*$/.test(before) && /^\s*\)/.test(after)),
  },
  makefile: {
    comments: ["#"],
    quotes: "",
    characters: "-./",
    kinds: ["target"],
    isSole: always,
    // `all: name`, `$(MAKE) name`
    isUse: (before) =>
      /^(?!\.PHONY\b|export\b)[^\s=#;"'@][^=#;"']*:(?!=)[^;]*$/.test(before) ||
      (/\bmake\s|\$[({]MAKE[)}]/.test(before) && /\s$/.test(before) && !/\b(?:echo|printf)\b/.test(before)),
  },
  solidity: {
    ...SLASHES,
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

/** Whether a name is the key of an element: `$a{name}`. */
const isBraced = (before: string, after: string): boolean => before.endsWith("{") && after.startsWith("}");

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
  if (!syntax || syntax.comments.some((comment) => text.startsWith(comment)) || /^(?:\/\*|\*\s|\(\*|\{-)/.test(text))
    return undefined;
  const uses = occurrencesInCode(text, name, syntax).filter(({ before, after }) =>
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
  { comments, block, quotes, characters = "", endings = "" }: LineSyntax,
): { before: string; after: string }[] {
  const begins = (at: number): boolean => !isPartOfName(text[at - 1]) && !includes(characters, text[at - 1]);
  const isPart = (character?: string): boolean =>
    isPartOfName(character) || includes(characters, character) || includes(endings, character);
  const found: { before: string; after: string }[] = [];
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? "";
    const end = at + name.length;
    if (text.startsWith(name, at) && begins(at) && !isPart(text[end])) {
      found.push({ before: text.slice(0, at), after: text.slice(end) });
      at = end - 1;
    } else if (block && text.startsWith(block[0], at)) {
      const closed = text.indexOf(block[1], at + block[0].length);
      if (closed < 0) break;
      at = closed + block[1].length - 1;
    } else if (character === "\\") at++;
    else if (quotes.includes(character)) {
      // One that is not closed is an apostrophe, or opens a text of several lines.
      const closed = closingQuote(text, at);
      if (closed > at) at = closed;
    } else if (/^'\\?.'/.test(text.slice(at, at + 4))) at = text.indexOf("'", at + 2);
    else if (comments.some((comment) => text.startsWith(comment, at)) && /^$|[\s;,(){}[\]]/.test(text[at - 1] ?? ""))
      break;
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
