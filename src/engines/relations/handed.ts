/** What functions hand to those that they are called with. */
import { handedBy } from "./containers.ts";
import { ofPackage } from "./packages.ts";
import { type Follower, type Place, type Resolved, samePlace } from "./resolved.ts";
import { callbackKey, type Meaning, positionsIn, TYPE_ITSELF } from "./types.ts";

/** Types with other names that are followed. */
const MAX_ALIASES = 8;

/** Resolves the type of a callback's parameter: `by` is the function that calls the callback, `at` the `parameterKey`. */
export async function handed(
  follow: Follower,
  path: string,
  { by, at }: Extract<Meaning, { to: "handed" }>,
): Promise<Resolved> {
  if (at >= TYPE_ITSELF) return handedByType(follow, await follow.valueOf(path, by), at);
  const called = ofPackage(path, by);
  let found: Resolved;
  let receiver: Resolved = "unknown";
  if (called.to === "member") {
    const of = await follow.receiverOf(path, called.of);
    if (typeof of !== "string" && of.wrapping?.length) {
      const wrapping = handedBy(of.wrapping, called.name, positionsIn(at), path);
      return wrapping ? { ...of, wrapping } : "unknown";
    }
    receiver = of;
    found = await follow.valueOfMember(path, of, called.name);
    // A promise is treated as the value it resolves to, so the callback of `then` gets the receiver itself.
    if (typeof found === "string" && called.name === "then" && at === 0) return of;
  } else found = await follow.valueOf(path, called);
  if (typeof found === "string" || found.line === undefined) return "unknown";
  const among = found.among ?? [{ path: found.path, line: found.line }];
  if (among.length > 1) follow.isLikely = true;
  let agreed: Resolved | undefined;
  // Of overloads, one that takes no function there is not the one that is called.
  for (const each of among) {
    const own = await follow.of(receiver, () => handedByFunction(follow, each, at));
    if (own === undefined) continue;
    const both = agreed ? samePlace(own, agreed) : own;
    if (both === undefined || typeof both === "string") return "unknown";
    agreed = both;
  }
  return agreed ?? "unknown";
}

/** What a function hands over; undefined where it does not say so. */
async function handedByFunction(follow: Follower, { path, line }: Place, at: number): Promise<Resolved | undefined> {
  const callbacks = (await follow.files.uses(path))?.callbacks;
  const own = callbacks?.get(callbackKey(line, at));
  if (own) return follow.valueOf(path, own);
  const type = callbacks?.get(callbackKey(line, at | 7));
  return type && handedByType(follow, await follow.valueOf(path, type), TYPE_ITSELF + (at & 7));
}

/** What functions of a type with a name get, also where that is another name of such types. */
async function handedByType(follow: Follower, type: Resolved, at: number, depth = 0): Promise<Resolved> {
  if (depth > MAX_ALIASES || typeof type === "string" || type.line === undefined) return "unknown";
  const own = (await follow.files.uses(type.path))?.callbacks.get(callbackKey(type.line, at));
  // A generic type is given the types of what it hands over.
  if (own) return follow.of(type, () => follow.valueOf(type.path, own));
  const bases = (await follow.classAt({ path: type.path, line: type.line }))?.bases ?? [];
  const found: Resolved[] = [];
  for (const base of bases)
    found.push(await handedByType(follow, await follow.resolve(type.path, base), at, depth + 1));
  let first: Resolved = found.find((each) => typeof each !== "string") ?? "unknown";
  // Of a union, all types may say the same.
  for (const each of found) {
    const both = samePlace(first, each);
    if (both) first = both;
    else follow.isLikely = true;
  }
  return first;
}
