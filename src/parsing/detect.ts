import { LANGUAGES, type LanguageId, type LanguageInfo } from "./languages.ts";

/** Known languages whose files are rarely source: detected, but only indexed where `include` names them. */
const NOT_DEFAULT: ReadonlySet<LanguageId> = new Set<LanguageId>(["csv", "diff"]);
const SHEBANG_BYTES = 256;

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

/** Extensions (without the dot) that are indexed unless the request says otherwise. */
export const DEFAULT_EXTENSIONS: readonly string[] = [...byExtension]
  .filter(([, id]) => !NOT_DEFAULT.has(id))
  .map(([extension]) => extension)
  .sort();

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
 * are not, since that takes their content.
 */
export function isDefaultIncluded(path: string): boolean {
  const id = detectLanguage(path);
  return id !== undefined && !NOT_DEFAULT.has(id);
}

/** Language by file name, extension, then `#!` line of `head` (the first bytes of the file, where at hand). */
export function detectLanguage(path: string, head?: Uint8Array): LanguageId | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  const exact = byFilename.get(name);
  if (exact !== undefined) return exact;
  const dot = name.lastIndexOf(".");
  const extension = dot === -1 ? "" : name.slice(dot + 1);
  const known = byExtension.get(extension);
  // A dot file's only dot starts its name: `.ts` is no TypeScript.
  if (known !== undefined && dot > 0) return known;
  // Dockerfile.dev, Makefile.in, Gemfile.local: the known name comes first.
  const stem = dot > 0 ? name.slice(0, name.indexOf(".", 1)) : "";
  if (stem === "dockerfile" || stem === "makefile" || stem === "containerfile") return byFilename.get(stem);
  return head === undefined ? undefined : interpreterLanguage(head);
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
