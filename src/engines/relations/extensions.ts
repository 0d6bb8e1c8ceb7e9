/** Extensions of Kotlin and C#: functions that are called like members of a type, and are defined anywhere. */
import { wordSet } from "../../lib/word-set.ts";
import { AMBIGUOUS_LINE } from "./limits.ts";
import { importKey, isKotlin, packageOf } from "./packages.ts";
import { ANY_NUMBER, oneOf, takes } from "./overload-sets.ts";
import type { Bound, Candidate, Follower, Read, ReadSeveral, Resolved, Target } from "./resolved.ts";
import type { FileUses, Meaning } from "./types.ts";
import { methodName } from "./wrapped.ts";

/** Whether a file is of a language with extensions. */
export const hasExtensions = (path: string): boolean => /\.(?:kts?|csx?|razor|cshtml)$/.test(path);

/** The extension that a call of `name/2` in a file means: an imported one, or one of its package. Undefined if it can be none. */
function extensionCalled(uses: FileUses | undefined, name: string): Meaning | undefined {
  if (!uses || !/^[^.<]+\/\d/.test(name)) return undefined;
  const called = methodName(name);
  const known = uses.bindings.get(importKey(called));
  const key = `.${known && "name" in known ? known.name : called}${name.slice(called.length)}`;
  if (known?.to === "member") return { ...known, name: key };
  return { to: "import", module: known?.to === "import" ? known.module : packageOf(uses), name: key };
}

/** Marks the type that an extension extends, of which the extension is bound as a variable. No source can have such a member. */
export const EXTENDED = "<extended>";

/** The type that an extension extends, with the line of the extension; undefined for other meanings. */
export function extendedBy(meaning: Meaning): { line: number; type: Meaning } | undefined {
  if (meaning.to !== "variable" || meaning.of.to !== "instance" || meaning.of.of.to !== "member") return undefined;
  const { of, name } = meaning.of.of;
  return name === EXTENDED ? { line: meaning.line, type: of } : undefined;
}

/** The extensions that a name may mean: several of one file are alternatives of each other. */
function extensionsOf(meaning: Meaning): { line: number; type: Meaning }[] {
  if (meaning.to === "first") return [...extensionsOf(meaning.of), ...extensionsOf(meaning.otherwise)];
  const found = extendedBy(meaning);
  return found ? [found] : [];
}

/** Final types of the standard library, with their supertypes. */
const FINAL: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["String", wordSet("String CharSequence Comparable")],
  ["KClass", wordSet("KClass KClassifier KAnnotatedElement")],
  ...["Int", "Long", "Short", "Byte", "Double", "Float"].map(
    (name) => [name, wordSet(`${name} Number Comparable`)] as const,
  ),
  ["Boolean", wordSet("Boolean Comparable")],
  ["Char", wordSet("Char Comparable")],
]);

/** The name of a type outside of the repository; undefined if it is not written down. */
export function outerName(meaning: Meaning): string | undefined {
  const of = meaning.to === "instance" || meaning.to === "super" ? meaning.of : meaning;
  return of.to === "import" ? of.name : undefined;
}

/** Whether an extension of one type of the standard library may be called on another. */
function extendsOuter(receiver: string | undefined, extended: string | undefined): "yes" | "maybe" | "no" {
  const known = FINAL.get(receiver ?? "");
  if (receiver === undefined || extended === undefined || !known) return "maybe";
  if (receiver === extended) return "yes";
  return known.has(extended) || !FINAL.has(extended) ? "maybe" : "no";
}

/** Whether an extension of `extended` may be called on a receiver; `maybe` where one of the types is not known. */
async function extendsReceiver(
  follow: Follower,
  receiver: Resolved,
  extended: Resolved,
): Promise<"yes" | "maybe" | "no"> {
  if (typeof receiver === "string" || typeof extended === "string") return "maybe";
  if (receiver.line === undefined || extended.line === undefined) return "maybe";
  if (JSON.stringify(receiver.wrapping ?? []) !== JSON.stringify(extended.wrapping ?? [])) return "no";
  const [own, base] = [
    { path: receiver.path, line: receiver.line },
    { path: extended.path, line: extended.line },
  ];
  if (own.path === base.path && own.line === base.line) return "yes";
  return (await follow.inherits(own, base)) ? "yes" : "no";
}

/** Resolves `of`, or `otherwise` if that is not known. An ambiguous name ends the search. */
export async function firstKnown(
  follow: Follower,
  path: string,
  { of, otherwise }: Extract<Meaning, { to: "first" }>,
  read: Read,
): Promise<Resolved> {
  const { ambiguous, isLikely, isFirst } = follow;
  follow.isFirst = true;
  const found = await read(path, of);
  follow.isFirst = isFirst;
  if (typeof found !== "string" || follow.ambiguous > ambiguous) return found;
  follow.isLikely = isLikely;
  if (of.to !== "member" || extensionsOf(otherwise).length === 0) return read(path, otherwise);
  const receiver = await follow.receiverOf(path, of.of);
  return fitting(follow, receiver, outerName(of.of), [{ path, of: otherwise }]);
}

/** The extension that a member call in a file means; undefined if there is none. `outer`: as in `Follower.valueOfMember`. */
export async function extensionCalledAs(
  follow: Follower,
  path: string,
  of: Resolved,
  name: string,
  outer: string | undefined,
): Promise<Resolved | undefined> {
  // With an alternative at hand, an extension is not guessed for an unknown receiver.
  if (follow.isFirst && typeof of === "string") return undefined;
  const meaning = extensionCalled(await follow.files.uses(path), name);
  if (!meaning) return undefined;
  if (!isKotlin(path) && (of === "unknown" || of === "none") && (await isOfSeveralFiles(follow, path, name)))
    return undefined;
  const readSeveral: ReadSeveral = (bound) => fitting(follow, of, outer, bound);
  const read: Read = (own, bound) => readSeveral([{ path: own, of: bound }]);
  const found =
    meaning.to === "import"
      ? await follow.fromPackage(path, meaning.module, meaning.name, read, readSeveral)
      : await follow.resolve(path, meaning);
  // In C# the type of the receiver is not compared with all that the extension may be called on.
  if (meaning.to !== "import" || !isKotlin(path)) follow.isLikely = true;
  return typeof found === "string" ? undefined : found;
}

/** Whether several files define methods of a name: on a receiver that is not known, a call may mean any of them. */
async function isOfSeveralFiles(follow: Follower, path: string, name: string): Promise<boolean> {
  const definitions = await follow.files.definitions(methodName(name), path);
  return new Set(definitions.map((each) => each.path)).size > 1;
}

/** The extensions that can be called on the receiver, of those that some files bind; where none surely can, the only one that may. */
async function fitting(
  follow: Follower,
  receiver: Resolved,
  outer: string | undefined,
  bound: readonly Bound[],
): Promise<Resolved> {
  const fits: Record<"yes" | "maybe" | "no", Map<string, Candidate>> = {
    yes: new Map(),
    maybe: new Map(),
    no: new Map(),
  };
  for (const { path, of } of bound)
    for (const { line, type } of extensionsOf(of)) {
      const extended = await follow.resolve(path, type);
      let own: "yes" | "maybe" | "no";
      if (receiver !== "outside") own = await extendsReceiver(follow, receiver, extended);
      else if (extended === "outside") own = extendsOuter(outer, outerName(type));
      // No type outside of the repository is derived from one of it. In Kotlin, what seems to be outside may be an alias.
      else own = isKotlin(path) || typeof extended === "string" ? "maybe" : "no";
      fits[own].set(`${line} ${path}`, { path, line, takes: takes(0, ANY_NUMBER) });
    }
  const isSure = fits.yes.size > 0;
  if (!isSure) follow.isLikely = true;
  const possible = [...(isSure ? fits.yes : fits.maybe).values()];
  const isOfKotlin = bound.every(({ path }) => isKotlin(path));
  // Several of which it is not known whether they fit may extend types that have nothing in common.
  if (isOfKotlin && !isSure && possible.length > 1) return "unknown";
  // Several differ by the types of their arguments.
  return oneOf(possible) ?? "unknown";
}

/** The result of a class's overloads with the same number of arguments, if they agree. */
export async function agreedValue(follow: Follower, { path, line, wrapping }: Target, name: string): Promise<Resolved> {
  if (line === undefined || wrapping?.length) return "unknown";
  const member = (await follow.classAt({ path, line }))?.members.get(name.replace(/\(.*/, ""));
  return member?.line === AMBIGUOUS_LINE && member.type ? follow.valueOf(path, member.type) : "unknown";
}
