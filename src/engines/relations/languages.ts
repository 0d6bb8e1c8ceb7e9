import { wordSet } from "../../lib/word-set.ts";

/** Languages in which a file's own functions are known by its scopes, and all others by name. */
const NAMED = ["swift", "scala", "lua", "bash", "elixir", "zig", "dart"] as const;
export type NamedLanguage = (typeof NAMED)[number];

/** Languages whose uses are read. Apart from the readers, so that questions about stored uses do not load them. */
const LANGUAGES_WITH_USES = [
  "typescript",
  "tsx",
  "vue",
  "svelte",
  "astro",
  "javascript",
  "python",
  "notebook",
  "starlark",
  "go",
  "java",
  "c",
  "yacc",
  "lex",
  "rust",
  "cpp",
  "php",
  "blade",
  "csharp",
  "razor",
  "ruby",
  "erb",
  "haml",
  "slim",
  "kotlin",
  ...NAMED,
] as const;
export type LanguageWithUses = (typeof LANGUAGES_WITH_USES)[number];

/** Whether uses are read of files in the language. */
export function hasUses(language: string): language is LanguageWithUses {
  return (LANGUAGES_WITH_USES as readonly string[]).includes(language);
}

/** Languages of prose and data: a name before a parenthesis calls nothing there. */
const CALL_NOTHING: ReadonlySet<string> = wordSet(
  "markdown rst rdoc asciidoc org latex text diff csv json yaml toml ini ignore go-mod",
);

/** Whether files in the language may call something. */
export const mayCall = (language: string): boolean => !CALL_NOTHING.has(language);

const SCRIPTS = "typescript tsx vue svelte astro javascript";
const SCRIPT_LANGUAGES = wordSet(SCRIPTS);
const PYTHON_LANGUAGES = wordSet("python notebook");
const C = wordSet("c cpp yacc lex");
/** Languages that call each other by the names that definitions have there. */
const TOGETHER: readonly ReadonlySet<string>[] = [
  SCRIPT_LANGUAGES,
  PYTHON_LANGUAGES,
  wordSet("ruby erb haml slim"),
  wordSet("php blade"),
  wordSet("csharp razor"),
  wordSet("java kotlin scala"),
  C,
];
/** Languages that declare functions of C under their own names, or define such. */
const BESIDE_C = wordSet("rust go zig swift csharp dart");
/** Languages that call nothing but what is defined in them: of styles, builds, configurations and commands. */
const ALONE = wordSet(
  "css xml makefile meson cmake autoconf just dockerfile batch fish awk tcl terraform nix jsonnet rego cue prisma gherkin puppet openscad grammar",
);
/** For languages in which code of others stands whose uses are not read, the languages with rules that they may call. */
const CALLED_IN: Readonly<Record<string, ReadonlySet<string>>> = {
  // Languages of the scripts in it, and of programs that may have it as a template.
  html: wordSet(`${SCRIPTS} python ruby php go java csharp elixir`),
  perl: C,
};
/** Templates, with the language of the code that is read of them; that of their scripts is not. */
const TEMPLATES_OF: ReadonlyMap<string, string> = new Map([
  ["erb", "ruby"],
  ["haml", "ruby"],
  ["slim", "ruby"],
  ["blade", "php"],
  ["razor", "csharp"],
]);

/** Whether a file in one language may call a definition in another by its name. Of most languages whose uses are not read nothing is said. */
export function mayCallIn(from: string, to: string): boolean {
  if (from === to) return true;
  if (ALONE.has(from)) return false;
  const called = CALLED_IN[from];
  if (called) return called.has(to) || !hasUses(to);
  const read = TEMPLATES_OF.get(from);
  if (read !== undefined) return read === to || SCRIPT_LANGUAGES.has(to) || !hasUses(to);
  if (!hasUses(from) || !hasUses(to)) return true;
  if (TOGETHER.some((languages) => languages.has(from) && languages.has(to))) return true;
  return (C.has(from) && BESIDE_C.has(to)) || (BESIDE_C.has(from) && C.has(to));
}

/** Whether files in the language are templates, which others name by their paths. */
export const isTemplate = (language: string): boolean => TEMPLATES_OF.has(language);

/** Whether the uses that are read of files in one language may be of definitions in another. */
export function readsUsesOf(from: string, to: string): boolean {
  if (!hasUses(from) || !mayCallIn(from, to)) return false;
  const read = TEMPLATES_OF.get(from);
  return read === undefined || read === to || from === to || !hasUses(to);
}

/** Whether files in the language are scripts of TypeScript or JavaScript, or have such. */
export const isScriptLanguage = (language: string): boolean => SCRIPT_LANGUAGES.has(language);

/** Whether files in the language are code of Python, or have such. */
export const isPythonLanguage = (language: string): boolean => PYTHON_LANGUAGES.has(language);

/** Languages whose rules may fail: they do not follow overloads by type, nor templates and macros of C++. */
const UNSURE: ReadonlySet<string> = new Set(["cpp", "kotlin"]);

/** Whether the rules of a language lead to one definition for sure. Those whose uses are known by scopes and names have none. */
export function hasSureRules(language: string): boolean {
  return hasUses(language) && !UNSURE.has(language) && !(NAMED as readonly string[]).includes(language);
}
