/** Reads of properties, which call a function without a parenthesis: `@property` of Python, `get` of scripts and Dart, properties of C#. */
import { isPythonLanguage, isScriptLanguage, mayCallIn } from "../../../engines/relations/languages.ts";
import type { DefinedSymbol, QuestionFiles } from "../../../engines/relations/question-files.ts";
import { lastPart } from "../../../engines/search/names.ts";
import type { FoundUse } from "./found.ts";
import { usesByName } from "./mentioning.ts";

/** Lines above a definition on which its decorators are looked for. */
const DECORATOR_LINES = 4;
const PROPERTY = /^@(?:\w+\.)*\w*property\b|^@\w+\.(?:setter|deleter)\b/;
/** More definitions are not looked at, as of a change that touches many. */
const MAX_DEFINITIONS = 20;

/** The lines that read or set one of some definitions, as far as these are properties; they are known by name. */
export async function propertyReads(files: QuestionFiles, definitions: readonly DefinedSymbol[]): Promise<FoundUse[]> {
  const properties = definitions.length > MAX_DEFINITIONS ? [] : await propertiesAmong(files, definitions);
  const wanted: { name: string; paths: Set<string> }[] = [];
  for (const [name, own] of Map.groupBy(properties, (each) => lastPart(each.name))) {
    const languages = own.map(({ path }) => files.language(path));
    const mentioning = await files.mentioning(name, [...new Set(own.map(({ path }) => path))]);
    const reading = mentioning.filter(({ language }) => languages.some((of) => mayCallIn(language, of)));
    wanted.push({ name, paths: new Set(reading.map(({ path }) => path)) });
  }
  const reads = wanted.length === 0 ? [] : await usesByName(files, wanted, ({ text }, name) => readsMember(text, name));
  return reads.flat();
}

/** Whether a line has a name behind a dot and not before a parenthesis. */
function readsMember(text: string, name: string): boolean {
  for (let at = text.indexOf(`.${name}`); at >= 0; at = text.indexOf(`.${name}`, at + 1)) {
    const after = text.slice(at + 1 + name.length);
    if (!/^[\p{L}\p{N}_$]/u.test(after) && !after.trimStart().startsWith("(")) return true;
  }
  return false;
}

async function propertiesAmong(files: QuestionFiles, definitions: readonly DefinedSymbol[]): Promise<DefinedSymbol[]> {
  const possible = definitions.filter(({ path, kind }) => {
    const language = files.language(path);
    return language === "csharp"
      ? kind === "field"
      : kind === "method" && (isPythonLanguage(language) || hasAccessors(language));
  });
  const places = possible.map(({ path, startLine }) => {
    const first = isPythonLanguage(files.language(path)) ? Math.max(1, startLine - DECORATOR_LINES) : startLine;
    return Array.from({ length: startLine - first + 1 }, (_, i) => ({ path, line: first + i }));
  });
  const lines = possible.length === 0 ? [] : await files.lines(places.flat());
  let from = 0;
  return possible.filter((definition, i) => {
    const own = lines.slice(from, (from += places[i]?.length ?? 0)).map(({ text }) => text.trim());
    return isProperty(definition, files.language(definition.path), own);
  });
}

/** Whether a definition is a property, by its line and those above it. */
function isProperty({ name }: DefinedSymbol, language: string, lines: readonly string[]): boolean {
  if (isPythonLanguage(language)) return decoratorsOf(lines).some((line) => PROPERTY.test(line));
  const [line = ""] = lines;
  const at = line.indexOf(lastPart(name));
  if (at < 0) return false;
  if (language === "csharp") return /^\s*(?:\{|=>|$)/.test(line.slice(at + lastPart(name).length));
  return /\b(?:get|set)\s+$/.test(line.slice(0, at));
}

/** Whether a language has `get name()`. */
const hasAccessors = (language: string): boolean => isScriptLanguage(language) || language === "dart";

/** The decorators above the last of some lines. */
function decoratorsOf(lines: readonly string[]): string[] {
  const above = lines.slice(0, -1);
  const others = above.findLastIndex((line) => !line.startsWith("@"));
  return above.slice(others + 1);
}
