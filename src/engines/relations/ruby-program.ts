/**
 * Resolves names of Ruby. All files of a repository are one program: any of them may open any class or module. A constant is looked up in
 * the enclosing modules, then in the ancestors of the innermost one, then at the top level.
 */
import { AMBIGUOUS_LINE } from "./limits.ts";
import { type Constant, knownIn, type Part, RubyFiles } from "./ruby-files.ts";
import { isCoreConstant, isCoreMethod } from "./ruby-core.ts";
import {
  EXTENDED,
  functionKey,
  IS_MODULE,
  isRubyKey,
  isRubyProgram,
  JOB_CALLS,
  lastOfPath,
  memberKey,
  nestingOf,
  PREPENDED,
  seesHelpers,
  splitKey,
  SUPERCLASS,
} from "./ruby-keys.ts";
import type { Follower, FoundMember, Place, Resolved, Target, Unresolved } from "./resolved.ts";
import type { Import, Meaning } from "./types.ts";

/** Classes and constants that are looked at for one use. */
const MAX_LOOKED_AT = 100;

/**
 * Why a class lacks a member: `absent` if all its ancestors are known, `outside` if one is not in the repository, `open` if an unknown
 * class may supply it, as for a module that others include.
 */
type Missing = "absent" | "outside" | "open";
type Member = Extract<Meaning, { to: "member" }>;
type Found = FoundMember | Missing | "unknown";

export class RubyProgram {
  readonly #follow: Follower;
  readonly #files: RubyFiles;
  #lookedAt = 0;

  constructor(follow: Follower) {
    this.#follow = follow;
    this.#files = new RubyFiles(follow.files);
  }

  /** What a constant or top-level method means in a file; `read` follows its meaning in the file that defines it. */
  async named(
    path: string,
    { module, name }: Pick<Import, "module" | "name">,
    read: (path: string, of: Meaning) => Promise<Resolved>,
  ): Promise<Resolved> {
    const found = await this.constant(path, module, name);
    return typeof found === "string" ? found : read(found.path, found.of);
  }

  /** The definition of a member. */
  async definition(path: string, { of, name }: Member): Promise<Resolved> {
    const found = await this.member(path, of, name);
    return typeof found === "string" ? found : { path: found.path, line: found.line };
  }

  /** The value of a member; of a method the method itself. */
  async value(path: string, { of, name }: Member): Promise<Resolved> {
    const found = await this.member(path, of, name);
    return typeof found === "object" && found.type ? this.#follow.valueOf(found.path, found.type) : found;
  }

  /** The constant or top-level method that a file names. */
  async constant(path: string, module: string, name: string): Promise<Constant | Unresolved> {
    if (this.#lookedAt++ > MAX_LOOKED_AT) return "unknown";
    if (name.endsWith("()")) return this.#function(path, name);
    const nesting = nestingOf(module);
    const bound = await this.#files.bound(lastOfPath(name));
    if (bound === undefined) return "unknown";
    for (const around of nesting) {
      const own = bound.get(`${around}::${name}`);
      if (own) return only(own);
    }
    const isElsewhere = [...bound.keys()].some((full) => full.endsWith(`::${name}`));
    const [innermost] = nesting;
    const inherited =
      innermost !== undefined && isElsewhere ? await this.#inherited(innermost, name, bound) : undefined;
    if (inherited) return inherited;
    const top = bound.get(name);
    if (top) return isCoreConstant(name) && top.every(({ of }) => of.to === "local") ? "outside" : only(top);
    const end = name.lastIndexOf("::");
    if (end >= 0) return this.#inside(path, module, name.slice(0, end), name.slice(end + 2), bound);
    return isElsewhere ? "unknown" : "outside";
  }

  /** A constant inside of another one: of an alias, or inherited. */
  async #inside(
    path: string,
    module: string,
    outer: string,
    name: string,
    bound: ReadonlyMap<string, Constant[]>,
  ): Promise<Constant | Unresolved> {
    const of = await this.constant(path, module, outer);
    if (typeof of === "string") return of;
    const at = await this.#follow.resolve(of.path, of.of);
    if (typeof at === "string" || at.line === undefined) return typeof at === "string" ? at : "unknown";
    const full = await this.#files.nameOf({ path: at.path, line: at.line });
    if (full === undefined) return "unknown";
    const own = bound.get(`${full}::${name}`);
    if (own) return only(own);
    return (await this.#inherited(full, name, bound)) ?? (bound.size > 0 ? "unknown" : "outside");
  }

  /** A constant of a class's ancestors; unknown if not all of them are known. */
  async #inherited(
    full: string,
    name: string,
    bound: ReadonlyMap<string, Constant[]>,
  ): Promise<Constant | "unknown" | undefined> {
    const seen = new Set<string>();
    const left = [full];
    let isKnown = true;
    for (let at = left.shift(); at !== undefined; at = left.shift()) {
      if (seen.has(at)) continue;
      if (this.#lookedAt++ > MAX_LOOKED_AT) return "unknown";
      seen.add(at);
      const own = at === full ? undefined : bound.get(`${at}::${name}`);
      if (own) return only(own);
      for (const part of await this.#files.partsNamed(at))
        for (const base of basesOf(part)) {
          const found = await this.#follow.valueOf(part.path, base);
          if (found === "outside") continue;
          const isClass = typeof found !== "string" && found.line !== undefined;
          const next = isClass ? await this.#files.nameOf({ path: found.path, line: found.line! }) : undefined;
          if (next === undefined) isKnown = false;
          else left.push(next);
        }
    }
    return isKnown ? undefined : "unknown";
  }

  /** A top-level method: the file's own one, or the only one of other files. */
  async #function(path: string, name: string): Promise<Constant | Unresolved> {
    const here = (await this.#follow.files.uses(path))?.bindings.get(name);
    if (here) return here.to === "ambiguous" ? "unknown" : { path, of: here };
    const own = name.slice(0, -2);
    const found: Constant[] = [];
    for (const other of await this.#files.files(own)) {
      const of = (await this.#follow.files.uses(other))?.bindings.get(name);
      if (of) found.push({ path: other, of });
    }
    if (found.length === 0 && seesHelpers(path)) found.push(...(await this.#helpers(path, own)));
    const [first] = found;
    if (found.length > 1 || first?.of.to === "ambiguous") return "unknown";
    // Each script may define its own.
    if (first) this.#follow.isLikely = true;
    return first ?? (isCoreMethod(own) ? "none" : "unknown");
  }

  /** The methods with a name that all templates of Rails have: those of helpers, else what `ApplicationHelper` includes. */
  async #helpers(path: string, name: string): Promise<Constant[]> {
    const own = await this.#files.helpersNamed(name);
    const common = own.length > 0 ? "unknown" : await this.constant(path, "", "ApplicationHelper");
    if (typeof common === "string" || common.of.to !== "local") return own;
    const at = { path: common.path, line: common.of.line };
    const found = await this.#find(at, memberKey("-", name), new Set());
    const isMethod = typeof found === "object" && found.line !== AMBIGUOUS_LINE;
    return isMethod ? [{ path: found.path, of: { to: "local", line: found.line } }] : [];
  }

  /** What a key of a receiver leads to. */
  async member(path: string, of: Meaning, key: string): Promise<FoundMember | Unresolved> {
    if (this.#lookedAt++ > MAX_LOOKED_AT) return "unknown";
    const { name } = splitKey(key);
    if (of.to !== "import" || !isRubyProgram(of.module)) {
      const at = await this.#follow.receiverOf(path, of);
      if (typeof at !== "string" && at.line !== undefined)
        return this.#ofClass(path, { path: at.path, line: at.line }, key);
      if (typeof at !== "string" || at === "none") return "unknown";
      return at;
    }
    const constant = await this.constant(path, of.module, of.name);
    if (constant === "outside") return this.#ofCore(of.name, key);
    if (typeof constant === "string") return constant;
    if (constant.of.to === "import") return this.member(constant.path, constant.of, key);
    if (constant.of.to !== "variable") return this.#ofMeaning(path, constant, key);
    // The constant is no class: its value is an instance.
    const value = await this.#follow.valueOf(constant.path, constant.of.of);
    if (typeof value === "string" || value.line === undefined) return "unknown";
    return this.#ofClass(path, { path: value.path, line: value.line }, memberKey("-", name));
  }

  async #ofMeaning(path: string, { path: own, of }: Constant, key: string): Promise<FoundMember | Unresolved> {
    const at = await this.#follow.resolve(own, of);
    if (typeof at === "string" || at.line === undefined) return typeof at === "string" ? at : "unknown";
    return this.#ofClass(path, { path: at.path, line: at.line }, key);
  }

  /** A member that the repository adds to a core class. */
  async #ofCore(name: string, key: string): Promise<FoundMember | Unresolved> {
    const parts = isCoreConstant(name) ? await this.#files.partsNamed(name) : [];
    const found = parts.flatMap(({ path, members }) => {
      const own = members.get(key);
      return own ? [{ path, line: own.line, type: own.type }] : [];
    });
    if (found.length === 0) return parts.length === 0 ? "outside" : "unknown";
    this.#follow.isLikely = true;
    return found.length === 1 && found[0]?.line !== AMBIGUOUS_LINE ? found[0]! : "unknown";
  }

  async #ofClass(path: string, at: Place, key: string): Promise<FoundMember | Unresolved> {
    const { name, level, isSuper } = splitKey(key);
    const found = await this.#find(at, key, new Set());
    if (typeof found === "object" || found === "unknown") return found;
    if (key === memberKey("+", "[]")) this.#follow.isLikely = true;
    if (key === memberKey("+", "new") || key === memberKey("+", "[]")) return { ...at, type: undefined };
    if (name.startsWith("@")) return "unknown";
    if (isSuper) return found === "open" ? "unknown" : "outside";
    const later = level === "+" ? await this.#calledLater(at, name) : undefined;
    if (later) return later;
    // Top-level methods belong to all objects.
    const top = level === "-" || found === "absent" ? await this.#function(path, functionKey(name)) : "unknown";
    if (typeof top === "object" && top.of.to === "local") {
      this.#follow.isLikely = true;
      return { path: top.path, line: top.of.line, type: undefined };
    }
    return isCoreMethod(name) ? "none" : "unknown";
  }

  /** The method of an instance that Rails calls for one of its class: `perform` of a job, and those of mailers. */
  async #calledLater(at: Place, name: string): Promise<FoundMember | undefined> {
    const isMailer = (await this.#files.nameOf(at))?.endsWith("Mailer") === true;
    const called = JOB_CALLS.has(name) ? "perform" : isMailer ? name : undefined;
    const found = called === undefined ? undefined : await this.#find(at, memberKey("-", called), new Set());
    if (typeof found !== "object") return undefined;
    this.#follow.isLikely = true;
    return found;
  }

  /** A member of a class, in Ruby's method resolution order. */
  async #find(at: Place, key: string, seen: Set<string>): Promise<Found> {
    const { isSuper, level, name } = splitKey(key);
    const full = await this.#files.nameOf(at);
    const id = `${full ?? `${at.path}:${at.line}`} ${level}`;
    if (seen.has(id)) return "absent";
    seen.add(id);
    if (this.#lookedAt++ > MAX_LOOKED_AT) return "open";
    const { parts, isWhole } = await this.#files.parts(at, full, name);
    const state: { missing: Missing } = { missing: isWhole ? "absent" : "open" };
    const follow = async (path: string, of: Meaning, inner: string): Promise<Found | undefined> => {
      const found = await this.#inBase(path, of, inner, seen);
      if (typeof found === "object" && state.missing !== "absent") this.#follow.isLikely = true;
      if (typeof found === "object" || found === "unknown") return found;
      if (found === "open" || (found === "outside" && state.missing === "absent")) state.missing = found;
      return undefined;
    };
    if (!isSuper && level === "-")
      for (const [path, of] of typesOf(parts, PREPENDED)) {
        const found = await follow(path, of, key);
        if (found) return found;
      }
    if (!isSuper) {
      const own = ownMember(parts, memberKey(level, name));
      if (own) return own;
    }
    const mixed =
      level === "+"
        ? typesOf(parts, EXTENDED)
        : parts.flatMap(({ path, bases }) => bases.map((of) => [path, of] as const));
    for (const [path, of] of mixed.toReversed()) {
      const found = await follow(path, of, memberKey("-", name));
      if (found) return found;
    }
    const isModule = parts.some(({ members }) => members.has(IS_MODULE));
    for (const [path, of] of typesOf(parts, SUPERCLASS)) {
      const found = await follow(path, of, memberKey(level, name));
      if (found) return found;
    }
    return (isModule && level === "-") || full === undefined ? "open" : state.missing;
  }

  async #inBase(path: string, of: Meaning, key: string, seen: Set<string>): Promise<Found> {
    const at = await this.#follow.valueOf(path, of);
    if (at === "outside") return isOfCore(of) ? "absent" : "outside";
    if (typeof at === "string" || at.line === undefined) return "open";
    const found = await this.#find({ path: at.path, line: at.line }, key, seen);
    // A module is open to unknown classes, but this class is known.
    return found === "open" && (await this.#isModule(at.path, at.line)) ? "absent" : found;
  }

  async #isModule(path: string, line: number): Promise<boolean> {
    const uses = await this.#follow.files.uses(path);
    return uses !== undefined && (knownIn(uses).classes.get(line)?.members.has(IS_MODULE) ?? false);
  }

  /** Whether a class has another one among its ancestors. */
  async inherits(of: Place, { path, line }: Target): Promise<boolean> {
    const wanted = line === undefined ? undefined : await this.#files.nameOf({ path, line });
    if (wanted === undefined) return false;
    const seen = new Set<string>();
    const left = [await this.#files.nameOf(of)];
    for (let full = left.shift(); full !== undefined; full = left.shift()) {
      if (seen.has(full) || this.#lookedAt++ > MAX_LOOKED_AT) continue;
      seen.add(full);
      for (const part of await this.#files.partsNamed(full))
        for (const each of [...basesOf(part), ...typesOf([part], EXTENDED).map(([, type]) => type)]) {
          const at = await this.#follow.valueOf(part.path, each);
          if (typeof at === "string" || at.line === undefined) continue;
          const name = await this.#files.nameOf({ path: at.path, line: at.line });
          if (name === wanted) return true;
          if (name !== undefined) left.push(name);
        }
    }
    return false;
  }
}

/** The only meaning of a constant: for a class, the file that declares most of its members; unknown if it has several values. */
function only(places: readonly Constant[]): Constant | "unknown" {
  const [first] = places.toSorted((a, b) => (b.size ?? 0) - (a.size ?? 0));
  if (!first || first.of.to === "ambiguous") return "unknown";
  return places.length === 1 || places.every(({ of }) => of.to === "local") ? first : "unknown";
}

/** The member of the parts of a class; unknown if several files define it. */
function ownMember(parts: readonly Part[], key: string): Found | undefined {
  const own = parts.flatMap(({ path, members }) => {
    const found = members.get(key);
    return found ? [{ path, line: found.line, type: found.type }] : [];
  });
  if (own.length === 0) return undefined;
  return own.length > 1 || own[0]!.line === AMBIGUOUS_LINE ? "unknown" : own[0]!;
}

/** Types of the members whose keys have a prefix, with their files. */
const typesOf = (parts: readonly Part[], prefix: string): (readonly [string, Meaning])[] =>
  parts.flatMap(({ path, members }) =>
    [...members].flatMap(([key, { type }]) => (key.startsWith(prefix) && type ? [[path, type] as const] : [])),
  );

/** The bases from which instances of a class inherit. */
const basesOf = (part: Part): Meaning[] => [
  ...part.bases,
  ...typesOf([part], SUPERCLASS).map(([, type]) => type),
  ...typesOf([part], PREPENDED).map(([, type]) => type),
];

/** Whether a base is a core class or module. */
function isOfCore(of: Meaning): boolean {
  const base = of.to === "instance" || of.to === "likely" ? of.of : of;
  return (
    base.to === "import" &&
    /^(?:Comparable|Enumerable|Kernel|Object|BasicObject|Singleton|Forwardable)$/.test(base.name)
  );
}

/** Whether a meaning is a Ruby constant, a member of one, or `super`: these are not in the repository if no file defines them. */
export function isOfRuby(meaning: Meaning): boolean {
  let of = meaning;
  if (of.to === "member" && isRubyKey(of.name) && splitKey(of.name).isSuper) return true;
  while (of.to === "member") of = of.of;
  return of.to === "import" && isRubyProgram(of.module);
}
