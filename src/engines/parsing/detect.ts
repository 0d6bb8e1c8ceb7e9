import { readablePath } from "../../lib/path-text.ts";
import { LANGUAGES, type LanguageId, type LanguageInfo } from "./languages.ts";

/** Known languages whose files are rarely source: detected, but only indexed if `include` names them. */
const NOT_DEFAULT: ReadonlySet<LanguageId> = new Set<LanguageId>(["csv", "diff"]);
/** Number of leading bytes that are searched for a `#!` line. */
export const SHEBANG_BYTES = 256;
/** Matches the extension of a file of some other type, such as `.png`. */
const EXTENSION = /\.[a-z][a-z0-9]{0,9}$/i;

/** Extensions of templates. The extension before one is that of the file which is made from it. */
const TEMPLATES: ReadonlySet<string> = new Set(["in", "dist", "sample", "example", "template"]);

const byId = new Map<string, LanguageInfo>();
const byExtension = new Map<string, LanguageId>();
const byFilename = new Map<string, LanguageId>();
const byInterpreter = new Map<string, LanguageId>();
for (const language of LANGUAGES) {
  byId.set(language.id, language);
  for (const extension of language.extensions) byExtension.set(extension, language.id);
  for (const filename of language.filenames) byFilename.set(filename, language.id);
  for (const interpreter of language.shebangs ?? []) byInterpreter.set(interpreter, language.id);
}

/** The table's row of a language. */
export function languageInfo(id: LanguageId): LanguageInfo {
  const info = byId.get(id);
  if (info === undefined) throw new RangeError(`Unknown language "${id}".`);
  return info;
}

/** Whether a value names a language, for ids that come from outside. */
export function isLanguageId(value: string): value is LanguageId {
  return byId.has(value);
}

/**
 * Whether a path is indexed by default: its name alone says it is source or text. Files known by their `#!` line only
 * are not, because that requires their content.
 */
export function isDefaultIncluded(path: string): boolean {
  const id = detectLanguage(path);
  return id !== undefined && !NOT_DEFAULT.has(id);
}

/** Whether a name does not determine the type. Such a file may be a script whose first line names its interpreter. */
export function mayBeScript(path: string): boolean {
  const name = nameOf(path);
  return detectLanguage(path) === undefined && !EXTENSION.test(name.slice(1));
}

/** Size of the part of a header that is examined. */
const HEADER_BYTES = 262_144;
const MAX_HEADER_LINE = 300;
/** Line beginnings that do not occur in C. */
const CPP_LINE =
  /^\s*(?:(?:inline\s+)?namespace(?:\s+\w+(?:::\w+)*)?\s*(?:\{|$)|template\s*<|class\s+\w|using\s+\w|(?:public|private|protected)\s*:|#\s*include\s*<\w+>|enum\s+class\b)|\bstd::\w|\boperator\s*[=<>!+*/()[\]-]|\b(?:constexpr|noexcept|static_cast<|decltype)\b/;

/**
 * The language of a file whose name says another one. Decided by content alone, so that the same bytes have the same language in every
 * repository, and an incremental run gives the same result as a full one.
 */
export function contentLanguage(named: LanguageId, bytes: Uint8Array): LanguageId {
  return OTHERWISE[named]?.languageOf(bytes) ?? named;
}

/** Languages that a content may be in instead of the one that its name says, and which of them it is in, if it is. */
interface Otherwise {
  languages: readonly LanguageId[];
  languageOf: (bytes: Uint8Array) => LanguageId | undefined;
}

/** By the language that a name says. */
const OTHERWISE: Readonly<Partial<Record<LanguageId, Otherwise>>> = {
  // `.h`
  c: { languages: ["objective-c", "cpp"], languageOf: languageOfHeader },
  // `.cl`: OpenCL is C with further words.
  lisp: { languages: ["c"], languageOf: (bytes) => (isKernel(bytes) ? "c" : undefined) },
  // `.pp`
  pascal: { languages: ["puppet"], languageOf: (bytes) => (isManifest(bytes) ? "puppet" : undefined) },
  // `.t`: transcripts of commands.
  perl: { languages: ["text"], languageOf: (bytes) => (isTranscript(bytes) ? "text" : undefined) },
  // `.test`: tests of shells, of MySQL, of LLVM and of others.
  tcl: { languages: ["text"], languageOf: (bytes) => (isTcl(bytes) ? undefined : "text") },
  // `.v`: Coq has no rules here and is read as text.
  verilog: { languages: ["text"], languageOf: (bytes) => (isProof(bytes) ? "text" : undefined) },
  // `.cls`
  latex: { languages: ["apex"], languageOf: (bytes) => (isApex(bytes) ? "apex" : undefined) },
  // `.ts`: translations of Qt.
  typescript: { languages: ["xml"], languageOf: (bytes) => (isXml(bytes) ? "xml" : undefined) },
};

/** Whether `contentLanguage` may answer a language for a name that says another one; `named` is that one, or any. */
export function mayReplace(language: LanguageId, named?: LanguageId): boolean {
  const others = named === undefined ? Object.values(OTHERWISE) : [OTHERWISE[named]];
  return others.some((other) => other?.languages.includes(language));
}

/** A class, interface or enumeration of Apex, which begins a line. */
const APEX_LINE =
  /^(?:@\w+[ \t]+)?(?:(?:global|public|private|abstract|virtual|with|without|inherited|sharing)[ \t]+){1,5}(?:class|interface|enum)[ \t]+\w+(?:[ \t]+(?:extends|implements)[ \t][^{\n]{0,200})?[ \t]*(?:\r?\n[ \t]*)?\{/im;
/** A command or comment of LaTeX. */
const LATEX_LINE = /^[ \t]*[\\%]/m;

function isApex(bytes: Uint8Array): boolean {
  const head = headOf(bytes, APEX_BYTES);
  return APEX_LINE.test(head) && !LATEX_LINE.test(head);
}

/** Size of the part of a file by which languages are told apart that have the same ending. */
const HEAD_BYTES = 16_384;
const headOf = (bytes: Uint8Array, length = HEAD_BYTES): string =>
  new TextDecoder("latin1").decode(bytes.subarray(0, length));

/** Whether a file with a name of Perl is a test of commands and what they print: `  $ dune build`. */
function isTranscript(bytes: Uint8Array): boolean {
  const head = headOf(bytes);
  return /^ {2}\$ \S/m.test(head) && !/^(?:#!.*perl|(?:use|my|our|sub|package) [$@%(\w])/m.test(head);
}

/** Whether a file with a name of Lisp is of OpenCL. */
function isKernel(bytes: Uint8Array): boolean {
  const head = headOf(bytes);
  return /^[ \t]*(?:__)?(?:kernel|global)[ \t]/m.test(head) && !/^\((?:def|in-package)/m.test(head);
}

/** A class or function of Puppet, a resource with its title, and a class that is included. */
const PUPPET_LINE =
  /^[ \t]*(?:(?:class|define|node|function|plan)[ \t]+[\w:'"/.-]+[^\n;({]*[({][^\n;]*|[a-z]\w*(?:::\w+)*[ \t]*\{[ \t]*['"$][^\n;]*:|(?:include|contain)[ \t]+(?:::)?\w+(?:::\w+)*)[ \t]*$/m;
const PASCAL_LINE =
  /^[ \t]*(?:(?:unit|program|library|uses|interface|implementation)\b(?![ \t]*=>)|begin[ \t]*$|end[;.])/im;

/** Whether a file with a name of Pascal is of Puppet. */
function isManifest(bytes: Uint8Array): boolean {
  const head = headOf(bytes);
  return PUPPET_LINE.test(head) && !PASCAL_LINE.test(head);
}

/** Commands of Tcl: those with a body in braces, and some that begin no line elsewhere. A `set` of SQL ends with a semicolon. */
const TCL_LINE =
  /^[ \t]*(?:(?:namespace eval|foreach|while|if|for|(?:tcltest::)?test|do_\w{0,40}test)[ \t][^\n]{0,500}\{[ \t]*\r?$|proc[ \t]+[\w:.-]+[ \t]+\{|(?:oo::|itcl::|snit::)\w+[ \t]|package[ \t]+(?:require|provide|ifneeded)[ \t]|set[ \t]+[\w:()]+[ \t]+[[{"$\w](?:[^\n]*[^;\s])?[ \t]*\r?$|source[ \t]+\[)/m;

/** Whether a file with a name of Tcl is of Tcl. */
function isTcl(bytes: Uint8Array): boolean {
  return TCL_LINE.test(headOf(bytes));
}

const COQ_LINE =
  /^(?:From \S+ Require|Require (?:Import|Export)|(?:Definition|Theorem|Lemma|Inductive|Fixpoint) \w[^\n]*:)/m;
const VERILOG_LINE =
  /^[ \t]*(?:`(?:define|include|ifdef|ifndef|timescale)\b|(?:module|package)[ \t]+\w+[ \t]*(?:[#(;]|$)|end(?:module|package)\b)/m;

/** Whether a file with a name of Verilog is of Coq. */
function isProof(bytes: Uint8Array): boolean {
  const head = headOf(bytes);
  return COQ_LINE.test(head) && !VERILOG_LINE.test(head);
}

/** Whether a file begins as XML: a mark of the byte order may come first. */
function isXml(bytes: Uint8Array): boolean {
  const head = new TextDecoder().decode(bytes.subarray(0, XML_BYTES));
  return /^(?:\u{FEFF})?\s{0,20}<(?:\?xml|!DOCTYPE TS)\b/u.test(head);
}
const XML_BYTES = 64;

/** Size of the part of a file in which a class of Apex begins, below its comments. */
const APEX_BYTES = 8_192;

/** The language of a file with a C name, if it is C++ or Objective-C. A forward declaration of a class of Objective-C does not outweigh C++. */
function languageOfHeader(bytes: Uint8Array): LanguageId | undefined {
  const head = headOf(bytes, HEADER_BYTES);
  if (/^@(?:interface|implementation|protocol)[ \t]+\w/m.test(head) && /^@end\b/m.test(head)) return "objective-c";
  if (isCpp(head)) return "cpp";
  const names = /^@class[ \t]+\w+(?:[ \t]*,[ \t]*\w+)*[ \t]*;|^@import[ \t]+[\w.]+[ \t]*;/m.test(head);
  return names && !/^[ \t]*#[ \t]*if.*\b__OBJC__\b/m.test(head) ? "objective-c" : undefined;
}

/** Whether C code is C++. Code inside `#ifdef __cplusplus` does not count. */
function isCpp(head: string): boolean {
  let inComment = false;
  let guarded = 0;
  for (let at = 0; at < head.length;) {
    const lineEnd = head.indexOf("\n", at);
    const end = lineEnd === -1 ? head.length : lineEnd;
    const line = head.slice(at, Math.min(end, at + MAX_HEADER_LINE));
    at = end + 1;
    if (inComment) {
      inComment = !line.includes("*/");
      continue;
    }
    const opens = line.lastIndexOf("/*");
    inComment = opens !== -1 && !line.includes("*/", opens);
    const content = line.trimStart();
    if (content.startsWith("//") || content.startsWith("*")) continue;
    if (/^#\s*if/.test(content)) {
      if (guarded > 0 || /__cplusplus/.test(content)) guarded++;
    } else if (/^#\s*endif/.test(content)) guarded = Math.max(guarded - 1, 0);
    else if (guarded === 0 && CPP_LINE.test(opens === -1 ? line : line.slice(0, opens))) return true;
  }
  return false;
}

/** Language by file name, extension, then `#!` line of `head` (the first bytes of the file, if at hand). */
export function detectLanguage(path: string, head?: Uint8Array): LanguageId | undefined {
  const written = nameOf(path);
  const name = written.toLowerCase();
  const exact = byFilename.get(name);
  // Bazel's `BUILD` is written so; `build` is a script.
  if (exact !== undefined && !(exact === "starlark" && written === name)) return exact;
  const dot = name.lastIndexOf(".");
  const extension = dot === -1 ? "" : name.slice(dot + 1);
  const known = byExtension.get(name.slice(name.lastIndexOf(".", dot - 1) + 1)) ?? byExtension.get(extension);
  // A file named `.ts` has no extension.
  if (known !== undefined && dot > 0) return known;
  // Dockerfile.dev, Makefile.in, Gemfile.local: the known name comes first.
  const stem = dot > 0 ? name.slice(0, name.indexOf(".", 1)) : "";
  if (stem === "dockerfile" || stem === "makefile" || stem === "containerfile") return byFilename.get(stem);
  // config.h.in and app.yml.sample are in the language of what is made from them.
  if (dot > 0 && TEMPLATES.has(extension)) return detectLanguage(name.slice(0, dot), head);
  return head === undefined ? undefined : interpreterLanguage(head);
}

function nameOf(path: string): string {
  const readable = readablePath(path);
  return readable.slice(readable.lastIndexOf("/") + 1);
}

function interpreterLanguage(head: Uint8Array): LanguageId | undefined {
  if (head[0] !== 0x23 || head[1] !== 0x21) return undefined;
  let line = "";
  for (let index = 2; index < Math.min(head.length, SHEBANG_BYTES) && head[index] !== 10; index++) {
    line += String.fromCharCode(head[index]!);
  }
  const words = line.trim().split(/\s+/);
  let interpreter = words.shift()?.replace(/^.*\//, "") ?? "";
  if (interpreter === "env")
    interpreter = words.find((word) => !word.startsWith("-") && !word.includes("="))?.replace(/^.*\//, "") ?? "";
  return byInterpreter.get(interpreter) ?? byInterpreter.get(interpreter.replace(/[\d.]+$/, ""));
}
