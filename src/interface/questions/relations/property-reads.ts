/** Reads of properties, which call a function without a parenthesis. */
import { isPythonLanguage, isScriptLanguage } from "../../../engines/relations/languages.ts";
import type { DefinedSymbol, QuestionFiles } from "../../../engines/relations/question-files.ts";
import { type FoundUse, placeKey, symbolKey } from "./found.ts";
import { writtenName } from "./judge.ts";
import { filesThatMayCall, rangesOf, usesByName } from "./mentioning.ts";
import { isPartOfName, occurrencesOf } from "./occurrences.ts";

/** How a language writes properties. */
interface Properties {
  /** Kinds of the symbols that may be properties. */
  kinds: readonly string[];
  /** Lines that are read above and below the one that a definition begins on. */
  above?: number;
  below?: number;
  /** Whether a definition is a property: by its line from the name on, what is before the name, and the other lines. */
  isProperty: (after: string, before: string, others: readonly string[]) => boolean;
  /** Whether members are named without a receiver within their type. */
  isImplicit?: boolean;
  /** Whether the rules of the language resolve some uses of a property: calls of it, or its name without a receiver. */
  hasSureUses?: boolean;
}

const PYTHON: Properties = {
  kinds: ["method"],
  above: 4,
  isProperty: (_after, _before, others) =>
    decoratorsIn(others).some((line) => /^@(?:\w+\.)*\w*property\b|^@\w+\.(?:setter|deleter)\b/.test(line)),
};
const ACCESSORS: Properties = {
  kinds: ["method"],
  isProperty: (_after, before) => /\b(?:get|set)\s+$/.test(before),
};
const PROPERTIES: Readonly<Record<string, Properties>> = {
  dart: { ...ACCESSORS, isImplicit: true, hasSureUses: true },
  csharp: { kinds: ["field"], isProperty: (after) => /^\s*(?:\{|=>|$)/.test(after), isImplicit: true },
  // `var total: Int {`
  swift: { kinds: ["field"], isProperty: (after) => /^[^=]*\{/.test(after), isImplicit: true },
  // `val total: Int get() = 1`, also with `get` on the next line.
  kotlin: {
    kinds: ["field", "variable"],
    below: 1,
    isProperty: (after, _before, [next = ""]) => /\bget\(\)/.test(after) || next.startsWith("get()"),
    isImplicit: true,
  },
  // Laravel reads the methods of a model that return relations or attributes as its properties.
  php: {
    kinds: ["method"],
    below: 3,
    isProperty: (after, _before, others) =>
      /\)\s*:\s*\??(?:Has(?:One|Many)(?:Through)?|BelongsTo(?:Many)?|Morph(?:To|One|Many|ToMany|edByMany)|Attribute)\b/.test(
        after,
      ) ||
      others.some((line) =>
        /^return \$this->(?:has(?:One|Many)(?:Through)?|belongsTo(?:Many)?|morph(?:To|One|Many|ToMany|edByMany))\(/.test(
          line,
        ),
      ),
    hasSureUses: true,
  },
};

function propertiesIn(language: string): Properties | undefined {
  if (isPythonLanguage(language)) return PYTHON;
  return isScriptLanguage(language) ? ACCESSORS : PROPERTIES[language];
}

/** More definitions are not looked at, as of a change that touches many. */
const MAX_DEFINITIONS = 20;

/**
 * The lines that read or set one of some definitions, as far as these are properties; they are known by name.
 *
 * @param known uses that are found already. Their lines are left out; a definition that one of them resolves to is taken for a property only in
 *   languages with `hasSureUses`
 */
export async function propertyReads(
  files: QuestionFiles,
  definitions: readonly DefinedSymbol[],
  known: readonly FoundUse[],
): Promise<FoundUse[]> {
  const called = new Set(
    known.flatMap(({ certainty, target }) => (target && certainty !== "name" ? [placeKey(target)] : [])),
  );
  const possible = definitions.filter((each) => {
    const rule = propertiesIn(files.language(each.path));
    return rule?.kinds.includes(each.kind) === true && (rule.hasSureUses === true || !called.has(symbolKey(each)));
  });
  const properties = possible.length > MAX_DEFINITIONS ? [] : await propertiesAmong(files, possible);
  const wanted: { name: string; paths: Set<string> }[] = [];
  const implicit = new Map<string, Set<string>>();
  for (const [name, own] of Map.groupBy(properties, writtenName)) {
    const reading = await filesThatMayCall(files, name, [...new Set(own.map(({ path }) => path))]);
    wanted.push({ name, paths: new Set(reading.map(({ path }) => path)) });
    const around = own.filter(({ path }) => propertiesIn(files.language(path))?.isImplicit === true);
    implicit.set(name, new Set(around.map(({ path }) => path)));
  }
  if (wanted.length === 0) return [];
  const others = [...properties.map(({ path, startLine }) => ({ path, line: startLine })), ...known];
  const isKnown = new Set(others.map(placeKey));
  const reads = await usesByName(files, wanted, ({ path, text }, name) =>
    readsMember(text, name, implicit.get(name)?.has(path) === true),
  );
  return reads.flat().filter((read) => !isKnown.has(placeKey(read)));
}

/** Whether a line has a name behind a dot or arrow, or where it is `implicit` alone, and not before a parenthesis. */
function readsMember(text: string, name: string, implicit: boolean): boolean {
  // `#size = this.total` and `*items() {` of scripts are code.
  if (/^\s*(?:\/\/|\/\*|[*#](?:\s|$))/.test(text)) return false;
  for (const { before, after } of occurrencesOf(text, name)) {
    if (after.trimStart().startsWith("(")) continue;
    if (before.endsWith(".") || before.endsWith("->")) return true;
    // A label (`name: 1`) or a declaration of the same name reads nothing.
    if (
      implicit &&
      !isPartOfName(before.at(-1)) &&
      !/["'@#]$/.test(before) &&
      !/^\s*:/.test(after) &&
      !/\b(?:let|va[lr]|final)\s+$/.test(before)
    )
      return true;
  }
  return false;
}

async function propertiesAmong(files: QuestionFiles, possible: readonly DefinedSymbol[]): Promise<DefinedSymbol[]> {
  const lines = await rangesOf(
    files,
    possible.map(({ path, startLine }) => {
      const { above = 0, below = 0 } = propertiesIn(files.language(path)) ?? {};
      return { path, first: Math.max(1, startLine - above), last: startLine + below };
    }),
  );
  return possible.filter((definition, i) => {
    const { path, startLine } = definition;
    const name = writtenName(definition);
    const own = lines[i]?.findIndex(({ line }) => line === startLine) ?? -1;
    const texts = (lines[i] ?? []).map((each) => each.text);
    const text = texts[own] ?? "";
    const at = text.indexOf(name);
    const rule = at < 0 ? undefined : propertiesIn(files.language(path));
    return rule?.isProperty(text.slice(at + name.length), text.slice(0, at), texts.toSpliced(own, 1));
  });
}

/** The decorators that end some lines. */
function decoratorsIn(lines: readonly string[]): string[] {
  const others = lines.findLastIndex((line) => !line.startsWith("@"));
  return lines.slice(others + 1);
}
