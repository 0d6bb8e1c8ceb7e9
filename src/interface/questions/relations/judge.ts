/** How sure it is that a use means one of some definitions. */
import { isBareName, isOfType } from "../../../engines/relations/bare-names.ts";
import { mayCallIn } from "../../../engines/relations/languages.ts";
import { AMBIGUOUS_LINE } from "../../../engines/relations/limits.ts";
import { mayBeField } from "../../../engines/relations/references.ts";
import { functionsOf } from "../../../engines/relations/overload-sets.ts";
import type { DefinedSymbol, QuestionFiles } from "../../../engines/relations/question-files.ts";
import type { Resolved } from "../../../engines/relations/resolved.ts";
import { macroName } from "../../../engines/relations/rust-keys.ts";
import { isRubyFile, isSuperOfRuby } from "../../../engines/relations/ruby-keys.ts";
import { isGivenKey, isOfSuper, isWholeModule, type Member, type Use } from "../../../engines/relations/types.ts";
import { lastPart } from "../../../engines/search/names.ts";
import { type FoundUse, isFunction, lessSure, placeKey, symbolKey, targetOf } from "./found.ts";
import type { GoInterfaces } from "./go-interfaces.ts";

/** Files of definitions whose packages a use by name may be of. */
const MAX_FILES = 100;

/** The name that uses of a definition have: in Ruby, `x.name = 1` calls the method `name=`. Private members of scripts begin with `#`, and macros of Rust end with `!`. */
export function writtenName({ name, path, kind }: DefinedSymbol): string {
  if (name.startsWith("#")) return name;
  if (kind === "macro" && path.endsWith(".rs")) return macroName(lastPart(name));
  return isRubyFile(path) ? lastPart(name).replace(/(?<=[\p{L}\p{N}_])=$/u, "") : lastPart(name);
}

/** Whether a use is written with a name, or is an alias of it. What is imported as a whole has no name. */
function isWritten({ name, meaning }: Use, wanted: ReadonlySet<string>): boolean {
  return wanted.has(name) || (meaning.to === "import" && !isWholeModule(meaning) && wanted.has(meaning.name));
}

/** Whether a use calls what `super` leads to, never what overrides that. */
const isSuperCall = ({ meaning }: Use): boolean => isOfSuper(meaning) || isSuperOfRuby(meaning);

export type Judged = Pick<FoundUse, "certainty" | "target" | "isNamed">;
type Place = Exclude<Resolved, string>;

/** Judges which of some definitions uses mean. */
export class Judge {
  readonly #files: QuestionFiles;
  readonly #definitions: readonly DefinedSymbol[];
  readonly #names: ReadonlySet<string>;
  /** Files of the definitions. */
  readonly #paths: ReadonlySet<string>;
  readonly #byPlace: ReadonlyMap<string, DefinedSymbol>;
  /** Whether all of the definitions are members of types. */
  readonly #areOfTypes: boolean;
  /** Whether a file imports the package of a definition, or is of its repository. */
  readonly #importing = new Map<string, boolean>();
  readonly #interfaces: GoInterfaces;
  /** The definition that overrides what is at a place. */
  readonly #overriding = new Map<string, DefinedSymbol | undefined>();
  /** Whether a definition may fit the interface of what is at a place. */
  readonly #fitting = new Map<string, boolean>();

  /** `interfaces` is shared by all judges of a question. */
  constructor(files: QuestionFiles, definitions: readonly DefinedSymbol[], interfaces: GoInterfaces) {
    this.#files = files;
    this.#definitions = definitions;
    this.#names = new Set(definitions.map(writtenName));
    this.#paths = new Set(definitions.slice(0, MAX_FILES).map(({ path }) => path));
    this.#byPlace = new Map(definitions.map((each) => [symbolKey(each), each]));
    this.#areOfTypes = definitions.every(({ kind }) => isOfType(kind));
    this.#interfaces = interfaces;
  }

  /** How sure it is that a use, which leads to `resolved`, means one of the definitions; undefined if it means something else. */
  async of(path: string, use: Use, resolved: Resolved): Promise<Judged | undefined> {
    const found = await this.#meant(path, use, resolved);
    if (use.kind !== "reference" || !found) return found;
    // What is handed over may be any value: a name alone says little of a member, and of a type.
    if (!found.target)
      return mayBeField(path, this.#files.language(path), use.meaning) || !this.#definitions.some(isFunction)
        ? undefined
        : found;
    const definition = this.#byPlace.get(placeKey(found.target));
    if (definition && isFunction(definition)) return found;
    // It may also be compared with, as in `isinstance(a, B)`.
    return definition?.kind === "class"
      ? { ...found, certainty: lessSure(found.certainty, "likely"), isNamed: true }
      : undefined;
  }

  async #meant(path: string, use: Use, resolved: Resolved): Promise<Judged | undefined> {
    if (resolved === "none") return undefined;
    if (resolved === "outside" || resolved === "unknown") return this.#byName(path, use);
    if (resolved.line === undefined) return undefined;
    if (isSuperCall(use) && (await this.#isOverridden(resolved))) return undefined;
    const certainty = this.#files.certaintyOf(path, resolved);
    if (resolved.among) return (await this.#amongOverloads(resolved.among)) ?? this.#byName(path, use);
    const key = placeKey({ path: resolved.path, line: resolved.line });
    const own = this.#byPlace.get(key);
    if (own) return { certainty, target: targetOf(own) };
    const overriding = await this.#overridingOf(key, resolved);
    if (overriding) return { certainty: "likely", target: targetOf(overriding) };
    // Rules that may err do not rule a use out.
    if (certainty !== "certain") return this.#byName(path, use);
    if (!this.#fitting.has(key)) this.#fitting.set(key, await this.#mayFit(resolved));
    return this.#fitting.get(key) ? this.#byName(path, use) : undefined;
  }

  /** Whether one of the definitions overrides the member at a place, and none of them is that member. */
  async #isOverridden(at: Place): Promise<boolean> {
    const isAsked = (at.among ?? [at]).some(({ path, line }) => line && this.#byPlace.has(placeKey({ path, line })));
    if (isAsked || at.line === undefined) return false;
    return (await this.#overridingOf(placeKey({ path: at.path, line: at.line }), at)) !== undefined;
  }

  async #overridingOf(key: string, at: Place): Promise<DefinedSymbol | undefined> {
    if (!this.#overriding.has(key)) this.#overriding.set(key, await this.#overrides(at));
    return this.#overriding.get(key);
  }

  /** Whether the member at a place is of an interface of TypeScript whose members the class of a definition has: it need not name the interface. */
  async #mayFit({ path, line }: Place): Promise<boolean> {
    const base = /\.[cm]?tsx?$/.test(path) ? await this.#classOf(path, line) : undefined;
    if (!base) return false;
    const symbols = await this.#files.definitionsIn(path);
    if (!symbols.some((each) => each.startLine === base.line && /^(?:interface|type)$/.test(each.kind))) return false;
    for (const each of this.#definitions) {
      const own = await this.#classOf(each.path, each.startLine);
      if (own && [...base.members.keys()].every((name) => own.members.has(name) || isGivenKey(name))) return true;
    }
    return false;
  }

  /** Of overloads of which a use means one, the first, if all of them are asked for. */
  async #amongOverloads(overloads: readonly { path: string; line: number }[]): Promise<Judged | undefined> {
    const own = overloads.map((each) => this.#byPlace.get(placeKey(each)));
    const asked = own.find((each) => each !== undefined);
    // That it is one of them says nothing of one alone.
    if (asked) return own.includes(undefined) ? undefined : { certainty: "likely", target: targetOf(asked) };
    const [first] = overloads;
    if (!first) return undefined;
    const key = placeKey(first);
    if (!this.#overriding.has(key)) this.#overriding.set(key, await this.#allOverriding(first, overloads.length));
    const overriding = this.#overriding.get(key);
    return overriding && { certainty: "likely", target: targetOf(overriding) };
  }

  /** The first of at least some number of definitions that override the member at a place. */
  async #allOverriding(
    { path, line }: { path: string; line: number },
    least: number,
  ): Promise<DefinedSymbol | undefined> {
    const base = this.#definitions.length < least ? undefined : await this.#classOf(path, line);
    if (!base) return undefined;
    const overriding: DefinedSymbol[] = [];
    for (const each of this.#definitions)
      if (await this.#isDerived(each, { path, line: base.line })) overriding.push(each);
    return overriding.length >= least ? overriding[0] : undefined;
  }

  /**
   * A name says nothing in a language that cannot call the definitions, nor without a receiver if they are members in a language that names
   * receivers. In another repository it says something only where the file imports the package of a definition.
   */
  async #byName(path: string, use: Use): Promise<Judged | undefined> {
    if (!isWritten(use, this.#names)) return undefined;
    if (this.#areOfTypes && isBareName(this.#files.language(path), use.meaning)) return undefined;
    if (!this.#importing.has(path)) this.#importing.set(path, await this.#imports(path));
    return this.#importing.get(path) ? { certainty: "name" } : undefined;
  }

  async #imports(path: string): Promise<boolean> {
    const language = this.#files.language(path);
    for (const file of this.#paths)
      if (mayCallIn(language, this.#files.language(file)) && (await this.#files.importsPackageOf(path, file)))
        return true;
    return false;
  }

  /**
   * The first definition that overrides the member at a place: its class inherits from that member's class, or its type has all methods of
   * that interface of Go.
   */
  async #overrides(other: Place): Promise<DefinedSymbol | undefined> {
    const base = await this.#classOf(other.path, other.line);
    if (!base) return undefined;
    const asked = await this.#interfaces.interfaceAt({ path: other.path, line: base.line });
    for (const each of this.#definitions)
      if (
        asked ? await this.#implements(each, asked) : await this.#isDerived(each, { path: other.path, line: base.line })
      )
        return each;
    return undefined;
  }

  /** Whether the type of a method has all methods of an interface of Go. */
  async #implements(method: DefinedSymbol, asked: DefinedSymbol): Promise<boolean> {
    const type = await this.#interfaces.typeOf(method);
    return type !== undefined && (await this.#interfaces.certaintyOf(type, asked)) !== undefined;
  }

  /** Whether the class of a member inherits from another class. */
  async #isDerived({ path, startLine }: DefinedSymbol, base: { path: string; line: number }): Promise<boolean> {
    const derived = await this.#classOf(path, startLine);
    return derived !== undefined && this.#files.inherits({ path, line: derived.line }, base);
  }

  async #classOf(path: string, line: number | undefined) {
    const uses = await this.#files.uses(path);
    return uses?.classes.find(({ members }) => [...members.values()].some((each) => isMemberAt(path, each, line)));
  }
}

/** Whether a member, or one of the overloads that it stands for, has its name on a line. */
const isMemberAt = (path: string, member: Member, line: number | undefined): boolean =>
  member.line === line ||
  (member.line === AMBIGUOUS_LINE &&
    member.type !== undefined &&
    functionsOf(path, member.type).some((each) => each.line === line));
