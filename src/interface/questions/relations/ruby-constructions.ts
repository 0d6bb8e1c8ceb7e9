/** In Ruby `C.new` calls the `initialize` of `C`, or the one that it inherits. */
import type { DefinedSymbol, QuestionFiles } from "../../../engines/relations/question-files.ts";
import { isRubyFile, memberKey } from "../../../engines/relations/ruby-keys.ts";
import { type FoundUse, innermostOf, lessSure, symbolKey, targetOf, TYPES } from "./found.ts";
import { resolvedDefinition } from "./resolved.ts";

/** Classes that are looked at for the constructions of one definition, and levels of inheritance below it. */
const MAX_CLASSES = 100;
const MAX_LEVELS = 5;

export const isInitializer = ({ path, name, kind }: DefinedSymbol): boolean =>
  name === "initialize" && kind === "method" && isRubyFile(path);

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

/** The `initialize` that constructions of the class on a line call; undefined if none is known. */
export async function initializerOf(files: QuestionFiles, { path, line }: { path: string; line: number }) {
  if (!isRubyFile(path)) return undefined;
  const meaning = { to: "member", of: { to: "local", line }, name: memberKey("-", "initialize") } as const;
  const found = await resolvedDefinition(files, path, { name: "initialize", meaning });
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
