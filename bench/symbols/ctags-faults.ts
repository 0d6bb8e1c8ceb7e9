/** Recognises wrong tags of ctags, which are counted separately by reason. */
import type { Tag } from "./ctags.ts";

interface Fault {
  languages: readonly string[];
  reason: string;
  /** `lines` are those of the file. */
  test: (tag: Tag, line: string, lines: readonly string[]) => boolean;
}

/** Characters of a line from which on it is minified. */
const MINIFIED_LINE = 500;
const SCRIPTS = ["JavaScript", "TypeScript"];
const C = ["C", "C++"];

const FAULTS: readonly Fault[] = [
  {
    languages: SCRIPTS,
    reason: "JavaScript, TypeScript: a module that is imported by require or import()",
    test: ({ kind }, line) =>
      /^(?:variable|constant)$/.test(kind) && /=\s*(?:await\s+)?(?:require|import)\b/.test(line),
  },
  {
    languages: SCRIPTS,
    reason: "JavaScript, TypeScript: a named function expression or a local one, which ctags gives no scope",
    test: ({ kind, scope }, line) =>
      /^(?:function|generator|class|alias)$/.test(kind) &&
      scope === undefined &&
      /^\s|\(\s*(?:async\s+)?function\b/.test(line),
  },
  {
    languages: SCRIPTS,
    reason: "JavaScript: an object literal taken for a class",
    test: ({ kind }, line) => kind === "class" && !/\b(?:class|function)\b|=>/.test(line),
  },
  {
    languages: SCRIPTS,
    reason: "JavaScript, TypeScript: a keyword or a later name taken for a declared name",
    test: ({ name, kind }, line) =>
      /^(?:const|let|var|export|extends|symbol|interface|describe|it|test|expect)$/.test(name) ||
      (/^(?:constant|variable)$/.test(kind) && !/^(?:export\s+)?(?:declare\s+)?(?:const|let|var)\b/.test(line)),
  },
  {
    languages: SCRIPTS,
    reason: "JavaScript, TypeScript: an imported or exported type taken for a declaration",
    test: ({ name, kind }, line) =>
      kind === "alias" && !new RegExp(`\\btype\\s+${escape(name)}\\s*(?:[<=]|$)`).test(line),
  },
  {
    languages: SCRIPTS,
    reason: "JavaScript, TypeScript: a renamed property or a word of the value taken for the declared name",
    test: ({ name, kind }, line) =>
      /^(?:constant|variable)$/.test(kind) &&
      (new RegExp(`^[^=]*\\{[^=]*\\b${escape(name)}\\s*:`).test(line) ||
        new RegExp(
          `^(?:export\\s+)?(?:const|let|var)\\s+(?!${escape(name)}\\b)[\\w$]+\\s*[:=][^,]*\\b${escape(name)}\\b`,
        ).test(line)),
  },
  {
    languages: ["JavaScript"],
    reason: "JavaScript: a deleted property taken for a method",
    test: ({ kind }, line) => kind === "method" && /^\s*delete\b/.test(line),
  },
  {
    languages: ["Python"],
    reason: "Python: a further assignment to a variable",
    test: ({ name, kind, line: row }, _line, lines) =>
      kind === "variable" &&
      lines.slice(0, row - 1).some((line) => new RegExp(`^\\s*${escape(name)}\\s*(?::[^=]*)?=(?!=)`).test(line)),
  },
  {
    languages: ["Lua"],
    reason: "Lua: a line with the word function in it, or a computed key",
    test: ({ name }, line) =>
      /[[{"']/.test(name) || !/\bfunction\s+[\w.:]+\s*\(|[\w.]\s*=\s*function\b\s*\(/.test(line),
  },
  {
    languages: ["Ruby"],
    reason: "Ruby: the receiver of a singleton method taken for its name",
    test: ({ name, kind }, line) => kind === "singletonMethod" && new RegExp(`def\\s+${escape(name)}\\.`).test(line),
  },
  {
    languages: ["Elixir"],
    reason: "Elixir: code in a doc string",
    test: (tag, _line, lines) =>
      lines.slice(0, tag.line - 1).reduce((quotes, line) => quotes + line.split('"""').length - 1, 0) % 2 === 1,
  },
  {
    languages: ["Kotlin"],
    reason: "Kotlin: a lambda, an anonymous function or a loop's variable taken for a method",
    test: ({ name, kind }, line) =>
      name.startsWith("<") || (kind === "method" && !/\bfun\b|\bconstructor\b|\b(?:get|set)\s*\(/.test(line)),
  },
  {
    languages: ["Kotlin"],
    reason: "Kotlin: a local variable, which ctags gives the scope of its file",
    test: ({ kind, scope = "" }, line) =>
      /^(?:constant|variable)$/.test(kind) && /^\s/.test(line) && !/\.[A-Z]\w*$/.test(scope),
  },
  {
    languages: ["C#"],
    reason: "C#: a constraint (where T : A) or an alias (using A = …) taken for a definition",
    test: (_tag, line) => /^\s*(?:where|using)\b/.test(line),
  },
  {
    languages: ["C#"],
    reason: "C#: a call taken for a method",
    test: ({ kind, name }, line) =>
      kind === "method" &&
      (name.includes(".") || /^\s*(?:\.|await\b|return\b|\w+\()/.test(line)) &&
      !/^\s*\w+\(.*\)\s*$/.test(line),
  },
  {
    languages: ["Rust"],
    reason: "Rust: the type of a static taken for its name",
    test: ({ name, kind }, line) =>
      /^(?:variable|constant)$/.test(kind) && new RegExp(`'static\\s+[[&]*${escape(name)}|'static\\s+\\[&`).test(line),
  },
  {
    languages: ["Sh"],
    reason: "Shell: an array assignment taken for a function, or a name cut at a colon or dot",
    test: ({ name, kind }, line) =>
      name.endsWith("=") ||
      (kind === "function" && /\b\w+=\(\)/.test(line)) ||
      (kind === "alias" && new RegExp(`alias\\s+(?:-\\w\\s+)?["']?${escape(name)}[^\\w=]`).test(line)),
  },
  {
    languages: ["Sh"],
    reason: "Shell: text in a string or here-document taken for a function",
    test: ({ name, kind, line: row }, line, lines) =>
      kind === "function" &&
      (!new RegExp(
        `(?:^|[;&|{(]|\\b(?:then|do|else))\\s*(?:function\\s+${escape(name)}|${escape(name)}\\s*\\(\\s*\\))\\s*(?:$|[#({[]|\\(\\s*\\))`,
      ).test(line) ||
        isShellText(row - 1, lines)),
  },
  {
    languages: ["Ada"],
    reason: "Ada: a definition in a block, which is local",
    test: ({ scope = "" }) => /(?:^|[/.])declare(?:$|[/.])/.test(scope),
  },
  {
    languages: ["Elm"],
    reason: "Elm: the parameters of a type taken for a part of its name",
    test: ({ name }) => name.includes(" "),
  },
  {
    languages: ["Erlang"],
    reason: "Erlang: text in documentation taken for a function",
    test: ({ name, kind }, line) => kind === "function" && !new RegExp(`^'?${escape(name)}'?\\(`).test(line),
  },
  {
    languages: ["Haskell"],
    reason: "Haskell: a field, which ctags takes for a function",
    test: ({ kind, line: row }, line, lines) =>
      kind === "function" &&
      /^\s/.test(line) &&
      /^(?:data|newtype|type)\b/.test(lines.slice(0, row).findLast((above) => /^\w/.test(above)) ?? ""),
  },
  {
    languages: ["Haskell"],
    reason: "Haskell: a field, a keyword or a splice taken for a function, or a part of a module's name for the whole",
    test: ({ name, kind }, line) =>
      kind === "module" ||
      /^(?:class|data|family|import|infix[lr]?|instance|module|newtype|pattern|type|where)$/.test(name) ||
      (kind === "function" &&
        (/[{,]\s*$/.test(line.split(name, 1)[0] ?? "") || !line.includes(name) || /^\$?\(/.test(line))),
  },
  {
    languages: ["Haxe"],
    reason: "Haxe: the keyword of an abstract enumeration taken for its name",
    test: ({ name }) => name === "abstract",
  },
  {
    languages: ["Haxe"],
    reason: "Haxe: a local function, which ctags gives no scope",
    test: ({ kind }, line) => kind === "method" && /^(?:\t\t|\s{8})/.test(line),
  },
  {
    languages: ["OCaml"],
    reason: "OCaml: a file taken for a module, a constraint for a type, or an unnamed binding for a function",
    test: ({ name, kind, line: row }, line) =>
      (kind === "module" && row === 1) ||
      (kind === "type" && !/\btype\b|\band\b/.test(line.split(name, 1)[0] ?? "")) ||
      (kind === "type" && /\b(?:with|include|and\s+type|module)\b|:=/.test(line)) ||
      /^(?:\W+|nonrec)$/.test(name),
  },
  {
    languages: ["OCaml"],
    reason: "OCaml: a local binding, which ctags gives no scope",
    test: ({ kind }, line) =>
      /^(?:var|function)$/.test(kind) && (/^\s+let\b.*\bin\s*$/.test(line) || /^\s*let[*+]|\blet\s+open\b/.test(line)),
  },
  {
    languages: ["Pascal"],
    reason: "Pascal: a local function, or a type of functions taken for one",
    test: ({ name }, line) =>
      !new RegExp(`^(?:class\\s+)?(?:function|procedure|constructor|destructor)\\s+${escape(name)}\\b`, "i").test(line),
  },
  {
    languages: ["Julia", "R"],
    reason: "Julia, R: a function without a name, or a local one",
    test: ({ name }, line) => name.startsWith("anonFunc") || /^\s/.test(line),
  },
  {
    languages: ["Python"],
    reason: "Cython: an enumerator taken for a variable",
    test: ({ kind, path }, line) => kind === "variable" && /\.p(?:yx|xd|xi)$/.test(path) && /^\s/.test(line),
  },
  {
    languages: SCRIPTS,
    reason: "JavaScript: a line of minified code",
    test: (_tag, line) => line.length > MINIFIED_LINE,
  },
  {
    languages: ["SML"],
    reason: "SML: the structure that a functor takes, or the type that another one replicates, taken for a definition",
    test: ({ name, kind }, line) =>
      (kind === "structure" && new RegExp(`\\(\\s*structure\\s+${escape(name)}\\b`).test(line)) ||
      (kind === "type" && /=\s*datatype\b/.test(line)),
  },
  {
    languages: ["SML"],
    reason: "SML: the parameter of a type, or a constraint, taken for a type",
    test: ({ name, kind }, line) =>
      kind === "type" && (name.startsWith("'") || /\b(?:sharing|where)\s+type\b|\(\s*(?:eq)?type\b/.test(line)),
  },
  {
    languages: ["SystemVerilog", "Verilog"],
    reason: "Verilog: the package of a type taken for its name",
    test: ({ name, kind }, line) => kind === "typedef" && new RegExp(`\\b${escape(name)}::`).test(line),
  },
  {
    languages: ["ObjectiveC"],
    reason: "Objective-C: a forward declaration, or an attribute taken for a name",
    test: ({ name, kind }, line) => (kind === "protocol" && /;\s*$/.test(line)) || /^[A-Z]+_[A-Z_]+$/.test(name),
  },
  {
    languages: C,
    reason: "C, C++: an include guard",
    test: ({ name, kind }, line) =>
      kind === "macro" &&
      /_(?:h|hh|hpp|hxx|inc|included|guard)_*$/i.test(name) &&
      /define\s+\w+\s*(?:\/.*)?$/.test(line),
  },
  {
    languages: C,
    reason: "C, C++: a local variable behind a macro, which ctags takes for a function without a body",
    test: ({ kind }, line) => kind === "variable" && /^(?:\t|\s{4})/.test(line),
  },
  {
    languages: C,
    reason: "C, C++: the argument of a macro or the macro itself taken for the name",
    test: ({ name, kind }, line) =>
      kind !== "macro" &&
      new RegExp(`^\\s*[A-Z][A-Z0-9_]{3,}\\s*\\([^)]*\\b${escape(name)}\\b|^[A-Z][A-Z0-9_]+\\s*\\(`).test(line),
  },
  {
    languages: C,
    reason: "C, C++: a macro behind the name taken for the name",
    test: ({ name, kind }, line) =>
      kind !== "macro" && /^[A-Z][A-Z0-9_]{3,}$/.test(name) && new RegExp(`[\\w)]\\s+${escape(name)}\\b`).test(line),
  },
];

/** Whether a row is between `<<WORD` and `WORD`, or the last line above it with an odd number of quotes ends with one. */
function isShellText(row: number, lines: readonly string[]): boolean {
  for (let above = row - 1; above >= 0; above--) {
    const line = lines[above]!;
    const word = /(?<!<)<<-?\s*["'\\]?(\w+)/.exec(line)?.[1];
    const isEnd = (text: string) => text.trim() === word;
    if (word !== undefined && lines.slice(row + 1).some(isEnd) && !lines.slice(above + 1, row).some(isEnd)) return true;
  }
  const isOdd = (line: string) => line.split("'").length % 2 === 0;
  const quote = lines.slice(0, row).findLast((line) => isOdd(line) && !/^\s*#/.test(line));
  return quote !== undefined && /[\s\\]'$/.test(quote);
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** Why a tag is wrong; undefined if it is valid. */
export function faultOf(tag: Tag, lines: readonly string[]): string | undefined {
  const line = lines[tag.line - 1] ?? "";
  return FAULTS.find(({ languages, test }) => languages.includes(tag.language) && test(tag, line, lines))?.reason;
}
