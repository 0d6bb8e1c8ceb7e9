/** Runs universal-ctags on a checkout and keeps the tags that a symbol index should have. */
import { execFileSync, spawnSync } from "node:child_process";

export interface Tag {
  name: string;
  path: string;
  line: number;
  language: string;
  kind: string;
  scope?: string;
  scopeKind?: string;
  /** The line as a search command: `/^text$/`. */
  pattern?: string;
}

/**
 * Kinds that are definitions or methods, by ctags' language. Left out: fields and enum members, imports, packages, parameters,
 * locals, here-documents, and lines that declare nothing.
 */
const DEFINITIONS: Record<string, readonly string[]> = {
  Ada: ["package", "packspec", "protected", "protectspec", "subprogram", "subprogspec", "subtype", "task", "type"],
  C: ["macro", "function", "enum", "struct", "typedef", "union", "variable"],
  "C++": ["class", "macro", "function", "enum", "namespace", "struct", "typedef", "union", "variable"],
  "C#": ["class", "enum", "interface", "method", "namespace", "property", "struct", "event", "typedef"],
  Clojure: ["function", "namespace"],
  D: ["class", "enum", "function", "interface", "struct", "template", "union"],
  Elixir: [
    "macro",
    "callback",
    "delegate",
    "function",
    "guard",
    "implementation",
    "module",
    "protocol",
    "record",
    "test",
    "type",
  ],
  Elm: ["alias", "function", "port", "type"],
  EmacsLisp: ["const", "custom", "derivedMode", "function", "macro", "minorMode", "subst", "unknown", "variable"],
  Erlang: ["function", "macro", "module", "record", "type"],
  Fortran: ["function", "module", "program", "subroutine", "type"],
  Go: ["talias", "const", "func", "interface", "methodSpec", "struct", "type", "var"],
  Haskell: ["function", "module", "type"],
  Haxe: ["class", "enum", "interface", "method", "typedef"],
  Java: ["annotation", "class", "enum", "interface", "method"],
  JavaScript: ["constant", "getter", "setter", "class", "function", "generator", "method", "variable"],
  Julia: ["constant", "function", "macro", "module", "struct", "type"],
  Kotlin: ["constant", "typealias", "class", "interface", "method", "object", "variable"],
  Lisp: ["function", "macro", "variable"],
  Lua: ["function"],
  ObjectiveC: ["implementation", "interface", "method", "property", "protocol"],
  OCaml: ["function", "module", "type", "val", "var"],
  Pascal: ["function", "procedure"],
  Perl: ["constant", "package", "subroutine"],
  PHP: ["class", "define", "function", "interface", "namespace", "trait"],
  PowerShell: ["function"],
  Protobuf: ["enum", "message", "rpc", "service"],
  Python: ["class", "function", "member", "variable"],
  R: ["function"],
  Ruby: ["class", "method", "module", "singletonMethod", "constant", "accessor", "alias"],
  Rust: ["macro", "method", "function", "enum", "interface", "module", "struct", "typedef", "variable", "constant"],
  Scheme: ["function"],
  Sh: ["alias", "function"],
  // Functions in `let` cannot be told from others: ctags gives no scope.
  SML: ["functor", "signature", "structure", "type"],
  SystemVerilog: ["class", "function", "interface", "module", "package", "struct", "task", "typedef"],
  Tcl: ["namespace", "procedure"],
  TypeScript: [
    "constant",
    "generator",
    "alias",
    "class",
    "enum",
    "function",
    "interface",
    "method",
    "namespace",
    "variable",
  ],
  Verilog: ["function", "module", "task"],
  Vim: ["command", "function"],
};

/** Whether a tag is declared inside a function, and so local. */
const LOCAL_SCOPES: ReadonlySet<string> = new Set([
  "function",
  "method",
  "member",
  "singletonMethod",
  "generator",
  "func",
  "subprogram",
]);
/** Whether a constant or variable is at file level; members of types are fields. */
const FILE_SCOPED: ReadonlySet<string> = new Set(["variable", "constant"]);
const FILE_SCOPES: ReadonlySet<string> = new Set(["", "namespace", "module", "package"]);

/** The compared languages. */
export const COMPARED = Object.keys(DEFINITIONS);

/** @throws Error with installation instructions if ctags is missing. */
export function ctagsVersion(): string {
  const { stdout, error } = spawnSync("ctags", ["--version"], { encoding: "utf8" });
  if (error !== undefined || !stdout.startsWith("Universal Ctags"))
    throw new Error(
      "universal-ctags is needed: apt-get install universal-ctags, brew install universal-ctags, or https://ctags.io",
    );
  return stdout.split(",")[0] ?? "";
}

/** Tags of the files (paths relative to `root`), in ctags' order. */
export function readTags(root: string, files: readonly string[]): Tag[] {
  const options = [
    "--output-format=json",
    "--fields=+nKlZ",
    "--sort=no",
    "--links=no",
    "--kinds-C#=+Et",
    "--kinds-Elixir=*",
  ];
  const languages = `--languages=${COMPARED.join(",")}`;
  const output = execFileSync("ctags", [...options, languages, "-L", "-", "-f", "-"], {
    cwd: root,
    input: files.join("\n"),
    maxBuffer: 1 << 30,
    stdio: ["pipe", "pipe", "ignore"],
  });
  const tags: Tag[] = [];
  for (const line of output.toString("utf8").split("\n")) {
    if (!line.startsWith("{")) continue;
    const tag = JSON.parse(line) as Tag & { _type: string };
    if (tag._type === "tag" && isDefinition(tag)) tags.push(tag);
  }
  return tags;
}

/** Names that ctags generates for anonymous definitions. */
const ANONYMOUS = /Anonymous(?:Function|Class)[0-9a-f]{8,}|__anon[0-9a-f]+/;

function isDefinition({ name, language, kind, scope = "", scopeKind = "", pattern = "" }: Tag): boolean {
  if (!(DEFINITIONS[language] ?? []).includes(kind)) return false;
  if (ANONYMOUS.test(name) || ANONYMOUS.test(scope) || LOCAL_SCOPES.has(scopeKind)) return false;
  if (!FILE_SCOPED.has(kind)) return true;
  // ctags reports no scope for locals of JavaScript and TypeScript: treat indented ones as local.
  return FILE_SCOPES.has(scopeKind) && !(language.endsWith("Script") && /^\/\^\s/.test(pattern));
}
