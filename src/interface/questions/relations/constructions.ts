/** A construction calls the initializer of its class, or the one that the class inherits: `C.new` of Ruby calls `initialize`, `C()` of Python `__init__`. */
import type { DefinedSymbol, QuestionFiles } from "../../../engines/relations/question-files.ts";
import { functionKey } from "../../../engines/relations/php-expressions.ts";
import { memberKey } from "../../../engines/relations/ruby-keys.ts";
import { lastPart } from "../../../engines/search/names.ts";
import { type FoundUse, innermostOf, lessSure, symbolKey, targetOf, TYPES } from "./found.ts";
import { resolvedDefinition } from "./resolved.ts";

/** Classes that are looked at for the constructions of one definition, and levels of inheritance below it. */
const MAX_CLASSES = 100;
const MAX_LEVELS = 5;

/** Initializers by language, and the keys that they have among the members of a class. In other languages they have the name of their class. */
const INITIALIZERS: Readonly<Record<string, { name: string; key: string }>> = {
  ruby: { name: "initialize", key: memberKey("-", "initialize") },
  python: { name: "__init__", key: "__init__" },
  notebook: { name: "__init__", key: "__init__" },
  php: { name: "__construct", key: functionKey("__construct") },
  typescript: { name: "constructor", key: "constructor" },
  tsx: { name: "constructor", key: "constructor" },
  javascript: { name: "constructor", key: "constructor" },
  swift: { name: "init", key: "init" },
};

/** Whether a definition is what constructions of its class call. */
export const isInitializer = (files: QuestionFiles, { path, name, kind }: DefinedSymbol): boolean =>
  (kind === "method" || kind === "constructor") && lastPart(name) === INITIALIZERS[files.language(path)]?.name;

/** Finds the uses of definitions, which for classes are their constructions, or the lines that inherit from them. */
type Find = (definitions: readonly DefinedSymbol[], depth: number) => Promise<FoundUse[]>;

/** The constructions that call some initializers; by name only, those that may. */
export async function constructionsOf(
  files: QuestionFiles,
  initializers: readonly DefinedSymbol[],
  { constructions, inheriting }: { constructions: Find; inheriting: Find },
): Promise<FoundUse[]> {
  const found: FoundUse[] = [];
  const called = new Map<string, Awaited<ReturnType<typeof initializerOf>>>();
  for (const initializer of initializers) {
    const key = symbolKey(initializer);
    const classes = await classesWith(files, initializer, inheriting);
    for (const use of await constructions(classes, 1)) {
      if (!use.target) {
        found.push(use);
        continue;
      }
      const of = `${use.target.line} ${use.target.path}`;
      if (!called.has(of)) called.set(of, await initializerOf(files, use.target));
      const own = called.get(of);
      if (own && symbolKey(own.definition) === key)
        found.push({ ...use, certainty: lessSure(use.certainty, own.certainty), target: targetOf(initializer) });
    }
  }
  return found;
}

/** The initializer that constructions of the class on a line call; undefined if none is known. */
export async function initializerOf(files: QuestionFiles, { path, line }: { path: string; line: number }) {
  const initializer = INITIALIZERS[files.language(path)];
  if (!initializer) return undefined;
  const { name, key } = initializer;
  const meaning = { to: "member", of: { to: "local", line }, name: key } as const;
  const found = await resolvedDefinition(files, path, { name, meaning });
  return typeof found === "string" ? undefined : found;
}

/** All parts of the class around a definition, and the classes below it. */
async function classesWith(
  files: QuestionFiles,
  { path, startLine }: DefinedSymbol,
  inheriting: Find,
): Promise<DefinedSymbol[]> {
  const around = innermostOf(await files.definitionsIn(path), startLine, TYPES_AND_MODULES);
  if (!around) return [];
  const named = await files.definitions(around.name, path);
  const parts = named.filter(
    ({ qualifiedName, kind }) => qualifiedName === around.qualifiedName && TYPES_AND_MODULES.has(kind),
  );
  const classes = new Map(parts.map((each) => [symbolKey(each), each]));
  for (const use of await inheriting(parts, MAX_LEVELS)) {
    if (use.certainty === "name" || classes.size >= MAX_CLASSES) continue;
    const derived = innermostOf(await files.definitionsIn(use.path), use.line, TYPES_AND_MODULES);
    if (derived) classes.set(symbolKey(derived), derived);
  }
  return [...classes.values()];
}

/** A class may get its initializer from a module that it includes. */
const TYPES_AND_MODULES: ReadonlySet<string> = new Set([...TYPES, "module"]);
