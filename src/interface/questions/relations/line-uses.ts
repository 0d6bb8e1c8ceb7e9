/** Lines of languages whose uses are not read that call a function of the same language, by its name. */

import { isFunction } from "./found.ts";
import { isPartOfName } from "./occurrences.ts";

const MAX_LINE = 1_000;

/** How the code of a language is told apart within a line, and where a name in it names a function. */
interface LineSyntax {
  /** What begins a comment that ends with the line. */
  comments: readonly string[];
  /** Quotes of texts. */
  quotes: string;
  /** Characters of names besides letters, digits, `_` and `$`; `'` is one within a name and at its end only. */
  characters?: string;
  /** Kinds of definitions besides functions that are used in the same way. */
  kinds?: readonly string[];
  /** Whether all uses stand in definitions other than modules: what else names a function exports, imports or declares it. */
  isWithin?: boolean;
  /**
   * Whether a name that only one definition has means that one, by what is before it. Never unless given: of members, and where comments and
   * texts of several lines have examples.
   */
  isSole?: (before: string) => boolean;
  /**
   * Whether a name in code names the function, by what is before and behind it in its line. `owners` are the names before the last one of the
   * definitions' qualified names.
   */
  isUse: (before: string, after: string, owners: ReadonlySet<string>) => boolean;
}

/** `let f`, `val f`: binds the name. */
const BINDS = /\b(?:let|let\s+rec|val|var|def|fun|function|sub|proc|import|open|export|use|using)\s+$/;
/** `name = 1`, `name := 1`, `name <- 1`, `name: 1`, `name => 1`. */
const IS_KEY = /^\s*(?:=(?![=~])|:=|<-|<<-|:(?![:=]|\s*$)|=>)/;
/** `end name`. */
const ENDS = /\bend(?:\s+\w+)?\s+$/i;

/** `{ a, name } = b`: binds the name. */
const IS_PATTERN = /^[^{}]*\}\s*=(?!=)/;

const isPlainUse = (before: string, after: string): boolean =>
  !BINDS.test(before) && !IS_KEY.test(after) && !ENDS.test(before) && !before.endsWith("$");

const always = (): boolean => true;

const HASH: LineSyntax = { comments: ["#"], quotes: `"'`, isUse: isPlainUse };
const DASHES: LineSyntax = { comments: ["--"], quotes: '"', isUse: isPlainUse };
const HASKELL: LineSyntax = {
  comments: ["--"],
  quotes: '"',
  characters: "'",
  isWithin: true,
  isSole: always,
  isUse: (before, after) =>
    !/^\s*=(?!=)/.test(after) && !(/^\s*::\s/.test(after) && /^(?:where\s|let\s)?$/.test(before)),
};
const ML: LineSyntax = {
  comments: [],
  quotes: '"',
  characters: "'",
  isUse: (before, after) => isPlainUse(before, after.replace(/^\s*(?::|=>)/, "")) && !/[~?]$|\band\s+$/.test(before),
};
const LISP: LineSyntax = {
  // Texts of documentation name functions without a parenthesis.
  isSole: (before) => /(?:\(\s*(?:[\w.-]+\/)?|#')$/.test(before),
  comments: [";"],
  quotes: '"',
  characters: "-+*!?<>=.%&:'",
  isUse: (before) => !/\(\s*(?:[\w.]+\/)?def[\w-]*\s+$/.test(before),
};
/** Languages in which values often have the names of functions: they are called, or handed over as an argument or value of their own. */
const HANDED: LineSyntax = {
  comments: ["//"],
  quotes: `"'`,
  isUse: (before, after) =>
    after.trimStart().startsWith("(") ||
    (/(?:[(,={[&:]|=>)\s*(?:this\.|self\.)?$/.test(before) && /^\s*(?:[,;)\]}]|$)/.test(after)),
};
const MESSAGE_RECEIVER = /[\w\])}"']\s+$/;

/** By the id of the language. Of others a name before a parenthesis is a call. */
const SYNTAXES: Readonly<Record<string, LineSyntax>> = {
  haskell: HASKELL,
  purescript: HASKELL,
  // `a :: rest` is a list there.
  elm: { ...HASKELL, isUse: (_before, after) => !/^\s*(?:=(?!=)|:\s)/.test(after) && !IS_PATTERN.test(after) },
  ocaml: ML,
  sml: ML,
  // ``a name of several words``
  fsharp: {
    ...ML,
    comments: ["//"],
    isSole: always,
    isUse: (before, after, owners) => before.split("``").length % 2 === 1 && ML.isUse(before, after, owners),
  },
  rescript: { ...ML, comments: ["//"] },
  gleam: { comments: ["//"], quotes: '"', isWithin: true, isSole: always, isUse: isPlainUse },
  lean: { ...DASHES, characters: "'!?" },
  erlang: {
    comments: ["%"],
    quotes: '"',
    isWithin: true,
    isSole: always,
    // `name(X)`, `fun name/1`, `{Module, name, []}`, `apply(Module, name, [])`
    isUse: (before, after) =>
      after.startsWith("(") ||
      (/\bfun\s+(?:\w+:)?$/.test(before) && after.startsWith("/")) ||
      (/[\w)\]}>],\s*$/.test(before) && /^\s*[,}\]]/.test(after)),
  },
  clojure: LISP,
  lisp: LISP,
  perl: {
    ...HASH,
    isUse: (before, after) => isPlainUse(before, after) && !/[$@%]\{?$|\bqw\b/.test(before) && !isBraced(before, after),
  },
  r: {
    ...HASH,
    characters: ".",
    isSole: always,
    isUse: (before, after) => isPlainUse(before, after) && !/[$@]$/.test(before),
  },
  julia: { comments: ["#"], quotes: '"', characters: "!", isUse: isPlainUse },
  crystal: { ...HASH, characters: "?!", isUse: (before, after) => isPlainUse(before, after) && !/[@:]$/.test(before) },
  nim: { comments: ["#"], quotes: '"', isUse: isPlainUse },
  coffeescript: HASH,
  gdscript: HASH,
  snakemake: HASH,
  powershell: { ...HASH, characters: "-" },
  nushell: { ...HASH, characters: "-" },
  fish: { ...HASH, characters: "-", isSole: always },
  // `"` begins comments as well, and functions are handed over by texts.
  vim: { comments: [], quotes: "", isUse: (before, after) => !before.startsWith('"') && isPlainUse(before, after) },
  tcl: { comments: [], quotes: "", isUse: isPlainUse },
  nextflow: {
    comments: ["//"],
    quotes: `"'`,
    isUse: (before, after) => isPlainUse(before, after) && !isBraced(before, after),
  },
  groovy: { comments: ["//"], quotes: `"'`, isUse: isPlainUse },
  pascal: { comments: ["//"], quotes: "'", isUse: isPlainUse },
  fortran: { isSole: always, comments: ["!"], quotes: `"'`, isUse: isPlainUse },
  ada: { ...DASHES, isSole: always },
  // `entity work.name port map (…)`
  vhdl: {
    ...DASHES,
    kinds: ["class", "interface"],
    isUse: (before, after) => isPlainUse(before, after) && !/\b(?:of|entity|component|architecture)\s+$/.test(before),
  },
  vb: { comments: ["'"], quotes: '"', isUse: isPlainUse },
  cobol: { isSole: always, comments: ["*>"], quotes: `"'`, characters: "-", isUse: (before) => before !== "" },
  // `name #(1) instance (…)`
  verilog: { isSole: always, comments: ["//"], quotes: '"', kinds: ["module"], isUse: isPlainUse },
  "objective-c": {
    comments: ["//"],
    quotes: '"',
    // `f(`, `[a name]`, `[a name:b]`, `a.name`, `@selector(name:)`
    isUse: (before, after) =>
      !/^[-+]\s*\(|\bcase\s+$|^@/.test(before) &&
      (after.startsWith("(") ||
        before.endsWith("@selector(") ||
        before.endsWith(".") ||
        (MESSAGE_RECEIVER.test(before) && /^(?::|\s*\])/.test(after))),
  },
  vala: HANDED,
  haxe: HANDED,
  qml: HANDED,
  d: HANDED,
  odin: HANDED,
  cython: { ...HANDED, comments: ["#"] },
  terraform: {
    comments: ["#", "//"],
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
  makefile: {
    comments: ["#"],
    quotes: "",
    characters: "-./",
    kinds: ["target"],
    isSole: always,
    // `all: name`, `$(MAKE) name`
    isUse: (before) =>
      /^(?!\.PHONY\b)[^\s=#][^=#]*:(?!=)/.test(before) ||
      (/\bmake\s|\$[({]MAKE[)}]/.test(before) && /\s$/.test(before)),
  },
  solidity: {
    comments: ["//"],
    quotes: `"'`,
    // Modifiers stand in the head of a function.
    isUse: (before, after) =>
      after.startsWith("(") ||
      after.startsWith(".selector") ||
      /\b(?:public|external|internal|private|payable|view|virtual|override)\s/.test(
        before.slice(before.lastIndexOf(";") + 1),
      ),
  },
};

/** Whether a name is the key of an element: `$a{name}`. */
const isBraced = (before: string, after: string): boolean => before.endsWith("{") && after.startsWith("}");

/** Whether uses of a definition of some kind are told by their lines in its language. */
export const isUsedInLines = (language: string, kind: string): boolean =>
  Object.hasOwn(SYNTAXES, language) && (isFunction({ kind }) || SYNTAXES[language]?.kinds?.includes(kind) === true);

/** Whether all uses in the language stand in definitions other than modules. */
export const isWithinDefinitions = (language: string): boolean => SYNTAXES[language]?.isWithin === true;

/**
 * Whether a line names a definition for which `isUsedInLines` in code: calls it, or hands it over. `sole` if it means the one that is the only one
 * of its name. Comments and texts that begin on another line are taken for code. `text` is one line; beyond 1,000 characters it is not looked at.
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
  const uses = occurrencesInCode(text, name, syntax).filter(({ before, after }) => syntax.isUse(before, after, owners));
  if (uses.length === 0) return undefined;
  return uses.some(({ before }) => syntax.isSole?.(before) === true) ? "sole" : "name";
}

function occurrencesInCode(
  text: string,
  name: string,
  { comments, quotes, characters = "" }: LineSyntax,
): { before: string; after: string }[] {
  const isPart = (character = ""): boolean =>
    isPartOfName(character) || (character !== "" && characters.includes(character));
  const begins = (at: number): boolean => !isPart(text[at - 1]) || text[at - 1] === "'";
  const found: { before: string; after: string }[] = [];
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? "";
    const end = at + name.length;
    if (text.startsWith(name, at) && begins(at) && !isPart(text[end])) {
      found.push({ before: text.slice(0, at), after: text.slice(end) });
      at = end - 1;
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

/** Where the quote at `at` is closed; -1 if it is not. */
function closingQuote(text: string, at: number): number {
  for (let i = at + 1; i < text.length; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === text[at]) return i;
  }
  return -1;
}
