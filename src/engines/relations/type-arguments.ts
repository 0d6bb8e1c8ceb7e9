/** What is given to the type parameters of generic types. */
import { findMember } from "./members.ts";
import { isPython } from "./modules.ts";
import type { Follower, Resolved, TypeArgument } from "./resolved.ts";
import { givenKey, type Meaning, ownerKey, RECEIVER_TYPE } from "./types.ts";

/** The type that the receiver whose member is read, or its class, gives a type parameter, named by `typeParameterOf`. */
export async function givenType(follow: Follower, parameter: string): Promise<Resolved> {
  const of = follow.receiver;
  if (typeof of === "string" || of.line === undefined) return "unknown";
  if (parameter === RECEIVER_TYPE) return of;
  const place = { path: of.path, line: of.line };
  const end = parameter.lastIndexOf(".");
  const argument = of.given?.[Number(parameter.slice(end + 1))];
  if (argument && (await follow.classAt(place))?.members.has(ownerKey(parameter.slice(0, end))))
    return follow.of(argument.receiver, () => follow.resolve(argument.path, argument.of));
  const found = await findMember(follow, place, givenKey(parameter));
  return typeof found !== "string" && found.type ? follow.valueOf(found.path, found.type) : "unknown";
}

/** A generic type with its type arguments. */
export async function withArguments(
  follow: Follower,
  path: string,
  meaning: Extract<Meaning, { to: "generic" }>,
): Promise<Resolved> {
  const given: TypeArgument[] = [];
  let type: Meaning = meaning;
  for (; type.to === "generic"; type = type.of) given.unshift({ path, of: type.by, receiver: follow.receiver });
  const found = await follow.resolve(path, type);
  // A library's generic type of Python may stand for what it is given, as `Mapped[T]` does.
  if (typeof found === "string") return found === "outside" && isPython(path) ? "unknown" : found;
  return found.line === undefined || found.wrapping?.length ? found : { ...found, given };
}
