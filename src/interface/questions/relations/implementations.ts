/** What implements some definitions: types those of classes and interfaces, members the members that override them. */
import type { DefinedSymbol, QuestionFiles } from "../../../engines/relations/question-files.ts";
import type { ClassInfo } from "../../../engines/relations/types.ts";
import { endsWithParts, nameParts } from "../../../engines/search/names.ts";
import { UsesFinder } from "./callers.ts";
import { type Certainty, distinct, type FoundUse, lessSure, symbolKey, targetOf, TYPES, innermostOf } from "./found.ts";
import { GoInterfaces, isGoInterface } from "./go-interfaces.ts";

/** Levels of classes that are looked through for a member, whether or not those between define it. */
const MAX_LEVELS = 5;
/** Classes of a level that are looked through. */
const MAX_CLASSES = 500;
/** Types for which those are looked for that embed them. */
const MAX_EMBEDDED = 100;

interface ImplementingType {
  type: DefinedSymbol;
  certainty: Certainty;
}

/** Finds implementations in one revision. One object serves one question: its limits are the question's. */
export class ImplementationsFinder {
  readonly #files: QuestionFiles;
  readonly #inherits: UsesFinder;
  readonly #interfaces: GoInterfaces;
  #wasCut = false;

  constructor(files: QuestionFiles) {
    this.#files = files;
    this.#inherits = new UsesFinder(files, "implementations");
    this.#interfaces = new GoInterfaces(files);
  }

  get truncated(): boolean {
    return this.#wasCut || this.#inherits.truncated || this.#interfaces.truncated;
  }

  /**
   * The lines that inherit from definitions, implementing types of Go, and members that override one, up to `depth` steps away. A type stands
   * for its members where both are asked for, as an interface and its only method can share a name.
   */
  async find(definitions: readonly DefinedSymbol[], depth: number): Promise<FoundUse[]> {
    const types = definitions.filter(({ kind }) => TYPES.has(kind));
    const found = await this.#inherits.find(types, depth);
    for (const each of types)
      if (isGoInterface(each))
        for (const { type, certainty } of await this.#typesOfGo(each))
          found.push({ path: type.path, line: type.startLine, certainty, distance: 1, target: targetOf(each) });
    for (const each of definitions) {
      const around = TYPES.has(each.kind) ? undefined : await this.#typeAround(each);
      if (around && !types.some((type) => symbolKey(type) === symbolKey(around)))
        found.push(...(await this.#overriding(each, around, depth)));
    }
    return distinct(found);
  }

  /** The types that have the methods of an interface: they define them, or embed types that do. */
  async #typesOfGo(of: DefinedSymbol): Promise<ImplementingType[]> {
    const types = new Map<string, DefinedSymbol>();
    for (const type of await this.#interfaces.candidates(of)) types.set(symbolKey(type), type);
    let embedded = 0;
    // The loop goes on to what embeds the types that it adds.
    for (const type of types.values()) {
      if (embedded++ >= MAX_EMBEDDED) {
        this.#wasCut = true;
        break;
      }
      for (const use of await this.#inherits.find([type], 1)) {
        const outer = use.certainty === "name" ? undefined : await this.#typeAt(use);
        if (outer && !isGoInterface(outer)) types.set(symbolKey(outer), outer);
      }
    }
    const found: ImplementingType[] = [];
    for (const type of types.values()) {
      const certainty = await this.#interfaces.certaintyOf(type, of);
      if (certainty) found.push({ type, certainty });
    }
    return found;
  }

  async #overriding(member: DefinedSymbol, type: DefinedSymbol, depth: number): Promise<FoundUse[]> {
    if (isGoInterface(type)) return this.#methodsOfGo(member, type);
    const key = await this.#keyOf(member, type);
    const found: FoundUse[] = [];
    const seen = new Set([symbolKey(type)]);
    // The classes of a level, with the surest way to each and the number of overriding members on it.
    let level = [{ type, certainty: "certain" as Certainty, distance: 0 }];
    for (let step = 0; step < MAX_LEVELS && level.length > 0; step++) {
      const next: typeof level = [];
      for (const base of level)
        for (const use of await this.#inherits.find([base.type], 1)) {
          const derived = await this.#typeAt(use);
          const line = await this.#lineOfMember(member, key, use, derived);
          const certainty = lessSure(base.certainty, use.certainty);
          const distance = base.distance + (line === undefined ? 0 : 1);
          if (line !== undefined && distance <= depth)
            found.push({ path: use.path, line, certainty, distance, target: targetOf(member) });
          // What inherits by name only leads nowhere.
          if (!derived || use.certainty === "name" || seen.has(symbolKey(derived))) continue;
          seen.add(symbolKey(derived));
          next.push({ type: derived, certainty, distance });
        }
      if (next.length > MAX_CLASSES) this.#wasCut = true;
      level = next.slice(0, MAX_CLASSES);
    }
    return found;
  }

  /** What a class calls a member: in languages with overloads also the number of its parameters. */
  async #keyOf(member: DefinedSymbol, type: DefinedSymbol): Promise<string> {
    const members = [...((await this.#classOf(type))?.members ?? [])];
    return members.find(([, { line }]) => line === member.startLine)?.[0] ?? member.name;
  }

  /** Line of the member that overrides one where a class inherits: in the class, or in the block `impl Trait for Type` that begins there. */
  async #lineOfMember(
    { name }: DefinedSymbol,
    key: string,
    { path, line }: FoundUse,
    type: DefinedSymbol | undefined,
  ): Promise<number | undefined> {
    if (type) return (await this.#classOf(type))?.members.get(key)?.line;
    const uses = (await this.#files.uses(path))?.uses ?? [];
    const enclosing = uses.find((use) => use.kind === "inherit" && use.line === line)?.enclosing;
    if (enclosing === null || enclosing === undefined) return undefined;
    const wanted = [...nameParts(enclosing), name];
    const symbols = await this.#files.definitionsIn(path);
    return symbols.find((each) => each.startLine >= line && endsWithParts(nameParts(each.qualifiedName), wanted))
      ?.startLine;
  }

  /** The methods that implementing types have for a method of an interface. */
  async #methodsOfGo(member: DefinedSymbol, type: DefinedSymbol): Promise<FoundUse[]> {
    const found: FoundUse[] = [];
    for (const { type: own, certainty } of await this.#typesOfGo(type)) {
      const method = await this.#interfaces.methodOf(own, member.name);
      if (method) {
        const place = { path: method.path, line: method.startLine };
        found.push({ ...place, certainty, distance: 1, target: targetOf(member) });
      }
    }
    return found;
  }

  /** The type that a member is of. */
  async #typeAround({ path, startLine }: DefinedSymbol): Promise<DefinedSymbol | undefined> {
    const classes = (await this.#files.uses(path))?.classes ?? [];
    const own = classes.find(({ members }) => [...members.values()].some(({ line }) => line === startLine));
    return own && this.#typeAt({ path, line: own.line });
  }

  /** The innermost type around a line. */
  async #typeAt({ path, line }: { path: string; line: number }): Promise<DefinedSymbol | undefined> {
    return innermostOf(await this.#files.definitionsIn(path), line, TYPES);
  }

  async #classOf({ path, startLine, endLine }: DefinedSymbol): Promise<ClassInfo | undefined> {
    const classes = (await this.#files.uses(path))?.classes ?? [];
    return classes.find(({ line }) => startLine <= line && line <= endLine);
  }
}
