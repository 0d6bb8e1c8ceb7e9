/** What is given to the type parameters of generic types. */
import { findMember } from "./members.ts";
import { isPython } from "./modules.ts";
import type { Follower, Resolved } from "./resolved.ts";
import { givenKey, type Meaning, ownerKey } from "./types.ts";

/** The type that the receiver whose member is read, or its class, gives a type parameter, named by `typeParameterOf`. */
export async function givenType(follow: Follower, parameter: string): Promise<Resolved> {
  const of = follow.receiver;
  if (typeof of === "string" || of.line === undefined) return "unknown";
  const place = { path: of.path, line: of.line };
  const end = parameter.lastIndexOf(".");
  const argument = of.given?.[Number(parameter.slice(end + 1))];
  if (argument && (await follow.classAt(place))?.members.has(ownerKey(parameter.slice(0, end))))
    return follow.of(argument.receiver, () => follow.resolve(argument.path, argument.of));
  const found = await findMember(follow, place, givenKey(parameter));
  return typeof found !== "string" && found.type ? follow.valueOf(found.path, found.type) : "unknown";
}

/** A generic type with one more type argument. */
export async function withArgument(
  follow: Follower,
  path: string,
  { of, by }: Extract<Meaning, { to: "generic" }>,
): Promise<Resolved> {
  const found = await follow.resolve(path, of);
  // A library's generic type of Python may stand for what it is given, as `Mapped[T]` does.
  if (typeof found === "string") return found === "outside" && isPython(path) ? "unknown" : found;
  if (found.line === undefined || found.wrapping?.length) return found;
  return { ...found, given: [...(found.given ?? []), { path, of: by, receiver: follow.receiver }] };
}
