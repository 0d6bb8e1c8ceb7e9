import { givenBy } from "./containers.ts";
import { agreedValue, extensionCalledAs, firstKnown, hasExtensions, outerName } from "./extensions.ts";
import { fixtureNamed, FIXTURES, FIXTURES_ABOVE } from "./fixtures.ts";
import { isOfEmbeddedLibrary, leavesRepository } from "./go-library.ts";
import { handed } from "./handed.ts";
import { findMember, inheritsFrom } from "./members.ts";
import { functionsOf, oneOf, takingArguments } from "./overload-sets.ts";
import { isIndex, isPython, moduleNamed, modulePaths, packageAround, submodule } from "./modules.ts";
import { definedInPackage } from "./package-definitions.ts";
import { isKotlin, ofPackage, packageRuleOf } from "./packages.ts";
import { namedInProgram } from "./program-names.ts";
import { isProgram } from "./program.ts";
import {
  type Candidate,
  type Follower,
  placeOf,
  type Place,
  type Read,
  type ReadSeveral,
  type RelatedFiles,
  type Resolved,
  samePlace,
  type Target,
  throughWrapping,
} from "./resolved.ts";
import { moduleKey } from "./rust-keys.ts";
import { isRubyFile, isRubyKey, isRubyProgram } from "./ruby-keys.ts";
import { isOfRuby, RubyProgram } from "./ruby-program.ts";
import { isBuiltIn, isOfStandardLibrary, isStandardModule } from "./standard-library.ts";
import { certainly, type ClassInfo, type Meaning, TAKEN, TYPE_PARAMETERS, type Use, WHOLE_MODULE } from "./types.ts";
import { autoImportedFrom, isUnimported, unimported } from "./unimported.ts";
import { givenType, withArguments } from "./type-arguments.ts";
import { FUNCTION } from "./wrapped.ts";

/** Imports, aliases and bases that are followed from a use to what it means: cyclic re-exports end there. */
const MAX_STEPS = 64;

export async function resolveUse(
  path: string,
  { name, meaning, arguments: given }: Pick<Use, "name" | "meaning" | "arguments">,
  files: RelatedFiles,
): Promise<Resolved> {
  const called = meaning.to === "likely" ? meaning.of : meaning;
  if (OF_VALUES.has(called.to) || (called.to === "global" && isBuiltIn(path, name))) return "none";
  const resolver = new Resolver(files);
  resolver.isLikely = called !== meaning;
  const found = await (called.to === "global" ? resolver.unbound(path, name) : resolver.resolve(path, called));
  if (found === "outside" && (isOfStandardLibrary(path, called) || isOfRuby(called))) return "none";
  if (found === "outside" && path.endsWith(".go") && (await leavesRepository(resolver, path, called))) return "none";
  if (found === "unknown" && path.endsWith(".go") && (await isOfEmbeddedLibrary(new Resolver(files), path, called)))
    return "none";
  if (typeof found === "string") return found;
  const target = takingArguments(found, given);
  return resolver.isLikely ? { ...target, isLikely: true } : target;
}

/** Meanings of values: a call of one calls no definition that is known. */
const OF_VALUES: ReadonlySet<Meaning["to"]> = new Set(["instance", "returned", "handed", "opaque"]);

/** Meanings of names to which a function may be bound. */
const HOLDS_NAME: ReadonlySet<Meaning["to"]> = new Set(["local", "variable", "import", "member"]);

/** Whether the class around a member has another class among its bases, at any distance. */
export async function inherits(of: Place, base: Target, files: RelatedFiles): Promise<boolean> {
  return new Resolver(files).inherits(of, base);
}

class Resolver implements Follower {
  readonly files: RelatedFiles;
  readonly #ruby: RubyProgram;
  #steps = 0;
  /** A rule that may fail was followed. */
  isLikely = false;
  ambiguous = 0;
  isFirst = false;
  /** Names that are looked for in what modules take over as a whole: modules may take each other over. */
  readonly #starred = new Set<string>();
  /** What a member is taken of whose type is read. */
  receiver: Resolved = "unknown";
  readonly #asDefinition: Read = (path, meaning) => this.resolve(path, meaning);

  constructor(files: RelatedFiles) {
    this.files = files;
    this.#ruby = new RubyProgram(this);
  }

  async resolve(path: string, given: Meaning): Promise<Resolved> {
    // The type itself takes the step.
    if (given.to !== "generic" && !this.takesStep()) return "unknown";
    const meaning = ofPackage(path, given);
    switch (meaning.to) {
      case "local":
      case "variable":
      case "decorated":
        return { path, line: meaning.line };
      case "import":
        return this.#imported(path, meaning.module, meaning.name);
      case "member": {
        if (isRubyKey(meaning.name)) return this.#ruby.definition(path, meaning);
        const of = await this.receiverOf(path, meaning.of);
        const found = await this.#nameIn(of, meaning.name);
        return this.#orExtension(found, path, of, meaning.name, outerName(meaning.of));
      }
      case "generic":
        return withArguments(this, path, meaning);
      case "first":
        return firstKnown(this, path, meaning, this.#asDefinition);
      case "same":
        return this.#sameOf(path, meaning, this.#asDefinition);
      case "returned":
      case "instance":
      case "handed":
        return this.valueOf(path, meaning);
      case "value":
        return this.valueOf(path, meaning.of);
      case "super":
        return this.resolve(path, meaning.of);
      case "likely":
        this.isLikely = true;
        return this.resolve(path, meaning.of);
      case "overload":
      case "either":
        return oneOf(functionsOf(path, meaning)) ?? "unknown";
      case "global":
      case "ambiguous":
        return "unknown";
      case "opaque":
        return "none";
    }
  }

  /** The place that two meanings lead to; unknown if they lead to different ones, or one of them to none that is known. */
  async #sameOf(path: string, { of, otherwise }: Extract<Meaning, { to: "same" }>, read: Read): Promise<Resolved> {
    const [found, other] = [await read(path, of), await read(path, otherwise)];
    return samePlace(found, other) ?? "unknown";
  }

  async #nameIn(of: Resolved, name: string): Promise<Resolved> {
    if (typeof of === "string") return of === "none" ? "unknown" : of;
    const unwrapped = throughWrapping(of, name);
    if (unwrapped !== undefined) return unwrapped;
    return of.line === undefined ? this.nameOf(of.path, name) : this.#memberOf({ path: of.path, line: of.line }, name);
  }

  /** The class, module or function that a receiver is, or is an instance of. */
  async valueOf(path: string, given: Meaning): Promise<Resolved> {
    if (!this.takesStep()) return "unknown";
    const meaning = ofPackage(path, given);
    if (meaning.to === "instance") return this.resolve(path, meaning.of);
    if (meaning.to === "variable" || meaning.to === "super") return this.valueOf(path, meaning.of);
    if (meaning.to === "import")
      return this.#imported(path, meaning.module, meaning.name, (own, of) => this.valueOf(own, of));
    if (meaning.to === "likely") {
      this.isLikely = true;
      return this.valueOf(path, meaning.of);
    }
    if (meaning.to === "handed") return handed(this, path, meaning);
    if (meaning.to === "decorated") return this.#decorated(path, meaning);
    if (meaning.to === "member" && isRubyKey(meaning.name)) return this.#ruby.value(path, meaning);
    if (meaning.to === "member")
      return this.valueOfMember(path, await this.receiverOf(path, meaning.of), meaning.name, outerName(meaning.of));
    if (meaning.to === "first") return firstKnown(this, path, meaning, (own, of) => this.valueOf(own, of));
    if (meaning.to === "same") return this.#sameOf(path, meaning, (own, of) => this.valueOf(own, of));
    if (meaning.to === "returned") return this.#returned(path, ofPackage(path, meaning.by));
    return this.resolve(path, meaning);
  }

  /** What a member is looked up in: a module itself where one is imported as a whole, else a value. */
  async receiverOf(path: string, of: Meaning): Promise<Resolved> {
    if (of.to === "super") return this.receiverOf(path, of.of);
    if (of.to !== "import" || of.name !== "*" || isProgram(of.module) || packageRuleOf(path)) {
      const value = await this.valueOf(path, of);
      const named = value === "outside" ? moduleNamed(path, of) : undefined;
      const own = named === undefined ? undefined : await this.#module(path, named);
      return own === undefined ? value : { path: own, line: undefined };
    }
    const module = await this.#module(path, of.module);
    return module === undefined ? this.valueOf(path, of) : { path: module, line: undefined };
  }

  async valueOfMember(path: string, of: Resolved, name: string, outer?: string): Promise<Resolved> {
    return this.#orExtension(await this.#memberValue(of, name), path, of, name, outer);
  }

  /** The member that was found; if there is none, the extension of that name. */
  async #orExtension(found: Resolved, path: string, of: Resolved, name: string, outer?: string): Promise<Resolved> {
    if (typeof found !== "string" || !hasExtensions(path)) return found;
    return (await extensionCalledAs(this, path, of, name, outer)) ?? found;
  }

  async #memberValue(of: Resolved, name: string): Promise<Resolved> {
    if (typeof of === "string") return of;
    const unwrapped = throughWrapping(of, name);
    if (unwrapped !== undefined) return unwrapped;
    if (of.line === undefined) return this.nameOf(of.path, name, (own, inner) => this.valueOf(own, inner));
    const found = await findMember(this, { path: of.path, line: of.line }, name);
    if (typeof found === "string") return found === "none" ? "unknown" : found;
    const { type } = found;
    return type ? this.of(of, () => this.valueOf(found.path, type)) : placeOf(found);
  }

  async of<T>(receiver: Resolved, read: () => Promise<T>): Promise<T> {
    const before = this.receiver;
    this.receiver = receiver;
    const found = await read();
    this.receiver = before;
    return found;
  }

  /** An instance of a class that a decorator makes of a function; else the function, as most decorators leave what it returns. */
  async #decorated(path: string, { line, by }: Extract<Meaning, { to: "decorated" }>): Promise<Resolved> {
    const wasLikely = this.isLikely;
    const made = await this.#returned(path, ofPackage(path, by));
    const isInstance =
      typeof made !== "string" &&
      made.line !== undefined &&
      !made.wrapping?.length &&
      (await this.classAt({ path: made.path, line: made.line })) !== undefined;
    this.isLikely = isInstance || wasLikely;
    if (!isInstance) return { path, line };
    return made;
  }

  async #returned(path: string, called: Meaning): Promise<Resolved> {
    let by: Resolved;
    let receiver: Resolved = "unknown";
    if (called.to === "first") {
      const ambiguous = this.ambiguous;
      const only: Meaning = { to: "ambiguous" };
      const found = await firstKnown(this, path, { ...called, otherwise: only }, this.#asDefinition);
      const isKnown = typeof found !== "string" || this.ambiguous > ambiguous;
      return this.takesStep() ? this.#returned(path, isKnown ? called.of : called.otherwise) : "unknown";
    }
    if (called.to === "member" && !isRubyKey(called.name)) {
      const of = await this.receiverOf(path, called.of);
      receiver = of;
      const around = typeof of === "string" ? [] : (of.wrapping ?? []);
      const given = givenBy(around, called.name, path);
      if (given && typeof of !== "string") return { ...of, wrapping: given };
      by = await this.valueOfMember(path, of, called.name, outerName(called.of));
      if (by === "unknown" && typeof of !== "string" && isKotlin(of.path)) return agreedValue(this, of, called.name);
    } else by = await this.valueOf(path, called);
    if (typeof by !== "string" && by.wrapping?.at(-1) === FUNCTION)
      return { ...by, wrapping: by.wrapping.slice(0, -1) };
    if (typeof by === "string" || by.line === undefined) return typeof by === "string" ? by : "unknown";
    const uses = await this.files.uses(by.path);
    const returns = by.among ? await this.#agreedResult(by.among) : uses?.returns.get(by.line);
    const { path: own } = by;
    if (returns?.to === "likely") return this.of(receiver, () => this.valueOf(own, returns));
    if (returns) return this.of(receiver, () => this.resolve(own, returns));
    return uses?.classes.some(({ line }) => line === by.line) ? by : "unknown";
  }

  /** What overloads return, if they agree. */
  async #agreedResult(overloads: readonly Candidate[]): Promise<Meaning | undefined> {
    const results = new Map<string, Meaning>();
    for (const { path, line } of overloads) {
      const result: Meaning = (await this.files.uses(path))?.returns.get(line) ?? { to: "opaque" };
      results.set(JSON.stringify(result), result);
    }
    return results.size === 1 ? [...results.values()][0] : undefined;
  }

  /** What an import leads to, read by `read`: as a definition, or as the value that a variable has. */
  async #imported(path: string, module: string, name: string, read: Read = this.#asDefinition): Promise<Resolved> {
    if (isProgram(module)) return namedInProgram(this, path, { module, name }, read);
    if (isRubyProgram(module)) return this.#ruby.named(path, { module, name }, read);
    if (module === TYPE_PARAMETERS) return givenType(this, name);
    if (isUnimported(module)) return unimported(this.files, path, module, name);
    if (packageRuleOf(path)) return this.fromPackage(path, module, name, read);
    if (module === TAKEN) return this.fromStars(path, name, read);
    if (module === FIXTURES || module === FIXTURES_ABOVE) return fixtureNamed(this, path, module, name);
    const found = await this.#module(path, module);
    if (found === undefined) {
      const inner = submodule(path, module, name);
      const own = inner === undefined ? undefined : await this.#module(path, inner);
      return own === undefined ? this.#fromInside(path, module, name) : { path: own, line: undefined };
    }
    if (name === "*") {
      const whole = (await this.files.uses(found))?.exports.get(WHOLE_MODULE);
      return whole ? read(found, whole) : { path: found, line: undefined };
    }
    // `from . import a` in a package's own file takes a module of it.
    const resolved = found === path && /^\.+$/.test(module) ? "unknown" : await this.nameOf(found, name, read);
    if (typeof resolved !== "string") return resolved;
    const inner = submodule(path, module, name);
    const own = inner === undefined ? undefined : await this.#module(path, inner);
    return own === undefined ? resolved : { path: own, line: undefined };
  }

  /** What a module that is no file has under a name: in Rust, modules may be inside of files, and types give names as modules do. */
  async #fromInside(path: string, module: string, name: string): Promise<Resolved> {
    const end = module.lastIndexOf("::");
    if (!path.endsWith(".rs") || end < 0 || name === "*") return "outside";
    const of = await this.#imported(path, module.slice(0, end), module.slice(end + 2));
    if (typeof of === "string") return of;
    return of.line === undefined ? this.nameOf(of.path, name) : this.#memberOf({ path: of.path, line: of.line }, name);
  }

  /** What a package defines under a name. Unknown if several of its files define it, or if a file that may define it could not be read. */
  fromPackage(
    path: string,
    module: string,
    name: string,
    read: Read = this.#asDefinition,
    readSeveral?: ReadSeveral,
  ): Promise<Resolved> {
    return definedInPackage(this, path, { module, name }, read, readSeveral);
  }

  async #module(path: string, module: string): Promise<string | undefined> {
    const isStandard = isStandardModule(path, module);
    for (const candidate of modulePaths(path, module)) {
      if (!(await this.files.uses(candidate))) continue;
      // What is in a package of Python hides no module of the standard library.
      const isHidden = isStandard && isPython(path) && (await this.files.uses(packageAround(candidate)));
      if (isHidden) continue;
      const [stated] = isIndex(candidate) ? await this.files.entries(path, module) : [];
      return stated?.path ?? candidate;
    }
    const [entry] = await this.files.entries(path, module);
    if (entry?.isStated === false) this.isLikely = true;
    return entry?.path;
  }

  /** What a module gives under a name, through its re-exports. */
  async nameOf(path: string, name: string, read: Read = this.#asDefinition): Promise<Resolved> {
    if (!this.takesStep()) return "unknown";
    const uses = await this.files.uses(path);
    const own = uses?.exports.get(name) ?? uses?.bindings.get(name);
    if (own) return read(path, own);
    const inner = path.endsWith(".rs") ? uses?.bindings.get(moduleKey(name)) : undefined;
    if (inner) return read(path, inner);
    const starred = await this.fromStars(path, name, read);
    if (typeof starred !== "string") return starred;
    // A package of Python has its modules as names once they are imported anywhere.
    const module = path.endsWith("/__init__.py") ? await this.#module(path, `.${name}`) : undefined;
    if (module !== undefined) return { path: module, line: undefined };
    const whole = uses?.exports.get(WHOLE_MODULE);
    if (!whole) return starred;
    if (name === "default") return read(path, whole);
    const found = await this.receiverOf(path, whole);
    if (typeof found === "string" || found.wrapping?.length) return "unknown";
    if (found.line === undefined) return this.nameOf(found.path, name, read);
    const member = await findMember(this, { path: found.path, line: found.line }, name);
    if (typeof member === "string") return "unknown";
    return read(member.path, {
      to: "variable",
      line: member.line,
      of: member.type ?? { to: "local", line: member.line },
    });
  }

  /** What a name means that its file does not bind. */
  async unbound(path: string, name: string): Promise<Resolved> {
    const starred = await this.fromStars(path, name);
    const from = starred === "unknown" ? await autoImportedFrom(this.files, path, name) : undefined;
    this.isLikely ||= from !== undefined;
    return from === undefined ? starred : this.nameOf(from, name);
  }

  /** What a name means that only a module taken over as a whole may bind. */
  async fromStars(path: string, name: string, read: Read = this.#asDefinition): Promise<Resolved> {
    const key = `${path}\n${name}`;
    if (this.#starred.has(key)) return "unknown";
    this.#starred.add(key);
    for (const star of (await this.files.uses(path))?.stars ?? []) {
      const module = await this.#module(path, star);
      const found = module === undefined ? "unknown" : await this.nameOf(module, name, read);
      if (typeof found !== "string") return found;
    }
    return "unknown";
  }

  async #memberOf(of: Place, name: string): Promise<Resolved> {
    const found = await findMember(this, of, name);
    if (typeof found === "string") return found === "none" ? "unknown" : found;
    // A function that an object has by another name: `{ parse }`, `{ parse: parseAll }`.
    const held = found.type?.to === "likely" && HOLDS_NAME.has(certainly(found.type).to) ? found.type.of : undefined;
    const named = held && (await this.resolve(found.path, held));
    return named && typeof named !== "string" && named.line !== undefined ? named : placeOf(found);
  }

  async classAt({ path, line }: Place): Promise<ClassInfo | undefined> {
    return (await this.files.uses(path))?.classes.find((own) => own.line === line);
  }

  takesStep(): boolean {
    return this.#steps++ <= MAX_STEPS;
  }

  inherits(of: Place, base: Target): Promise<boolean> {
    return isRubyFile(of.path) ? this.#ruby.inherits(of, base) : inheritsFrom(this, of, base);
  }
}
