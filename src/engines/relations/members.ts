/** Members of classes: their own, those defined elsewhere, and those of bases. */
import { AMBIGUOUS_LINE } from "./limits.ts";
import { ANY_NUMBER, functionsOf, takes } from "./overload-sets.ts";
import { methodOf } from "./overloads.ts";
import { isJvm, isKotlin, packageRuleOf } from "./packages.ts";
import { otherParts } from "./parts.ts";
import { declaredKey, IN_PROGRAM } from "./program.ts";
import type { Candidate, Follower, FoundMember, Place, Target, Unresolved } from "./resolved.ts";
import type { ClassInfo, Meaning, Member } from "./types.ts";

/** The member of a class or of its bases; `none` if a program's class has none, where the rules tell. */
export async function findMember(follow: Follower, of: Place, name: string): Promise<FoundMember | Unresolved> {
  if (!follow.takesStep()) return "unknown";
  const found = await follow.classAt(of);
  if (!found) return "unknown";
  const inProgram = IN_PROGRAM.test(of.path);
  const named = methodsNamed(of.path, found.members, name);
  if (named) return named;
  const method = isJvm(of.path) ? methodOf(found.members, name) : undefined;
  if (method?.isLikely) follow.isLikely = true;
  if (method?.line === AMBIGUOUS_LINE) follow.ambiguous++;
  if (method?.line === AMBIGUOUS_LINE) return "unknown";
  if (method) return { path: of.path, line: method.line, type: method.type };
  const member = found.members.get(isKotlin(of.path) ? name.replace(/\(.*/, "") : name);
  if (member?.line === AMBIGUOUS_LINE) follow.ambiguous++;
  const declared = found.members.get(declaredKey(name));
  if (inProgram && (member ?? declared)) return memberOfProgram(follow, of, member, declared);
  if (member) return foundMember(of.path, member);
  const apart = await memberApart(follow, of, name);
  if (apart) return apart;
  const parts = await otherParts(of, follow.files);
  for (const part of parts) {
    const any = methodsNamed(part.path, part.members, name);
    if (any) return any;
    const own = part.members.get(name);
    if (own) return foundMember(part.path, own);
  }
  for (const [path, base] of basesOf([{ path: of.path, bases: found.bases }, ...parts])) {
    const at = await follow.resolve(path, base);
    if (typeof at !== "string" && at.wrapping?.length) return "unknown";
    // A trait of Rust does not hide the methods of another one.
    if (at === "outside" && of.path.endsWith(".rs")) continue;
    // An embedded type of Go hides only what is embedded more deeply.
    if (at === "outside" && of.path.endsWith(".go")) {
      follow.isLikely = true;
      continue;
    }
    if (typeof at === "string" || at.line === undefined) return "unknown";
    const inherited = await findMember(follow, { path: at.path, line: at.line }, name);
    if (typeof inherited !== "string" || (inherited === "unknown" && inProgram)) return inherited;
  }
  return inProgram ? "none" : "unknown";
}

/** The bases that the parts of a class name, each with the file that names it. */
const basesOf = (parts: readonly { path: string; bases: readonly Meaning[] }[]): (readonly [string, Meaning])[] =>
  parts.flatMap(({ path, bases }) => bases.map((base) => [path, base] as const));

/** A member of a class in a file, or the overloads of which it is one. */
function foundMember(path: string, { line, type }: Member): FoundMember | Unresolved {
  if (line !== AMBIGUOUS_LINE) return { path, line, type };
  const among = type ? functionsOf(path, type) : [];
  const [first] = among;
  return first ? { path, line: first.line, type: undefined, among } : "unknown";
}

/** Key of a method that is named without arguments: one of its name, whatever their number. */
export const methodKey = (name: string): string => `${name}${ANY_COUNT}`;
const ANY_COUNT = "/*";

/** The method of a class that is known by such a key, or the overloads of which it is one. Other keys of methods are `name/2`. */
function methodsNamed(path: string, members: ClassInfo["members"], name: string): FoundMember | undefined {
  if (!name.endsWith(ANY_COUNT)) return undefined;
  const prefix = name.slice(0, -1);
  const lines = new Set<number>();
  for (const [key, { line, type }] of members) {
    if (!key.startsWith(prefix)) continue;
    if (line !== AMBIGUOUS_LINE) lines.add(line);
    else if (type) for (const each of functionsOf(path, type)) lines.add(each.line);
  }
  const among = Array.from(lines, (line): Candidate => ({ path, line, takes: takes(0, ANY_NUMBER) }));
  const [first] = among;
  return first && { path, line: first.line, type: undefined, ...(among.length > 1 && { among }) };
}

/** A member of a class of a program: defined in it, only declared there and defined elsewhere, or overloads of both kinds. */
async function memberOfProgram(
  follow: Follower,
  of: Place,
  member: Member | undefined,
  declared: Member | undefined,
): Promise<FoundMember | Unresolved> {
  if (member && member.line !== AMBIGUOUS_LINE && !declared)
    return { path: of.path, line: member.line, type: member.type };
  const functions: Candidate[] = member?.type ? functionsOf(of.path, member.type) : [];
  if (declared?.type) {
    const defined = await follow.resolve(of.path, declared.type);
    const [only] = declared.type.to === "first" ? functionsOf(of.path, declared.type.otherwise) : [];
    if (typeof defined !== "string" && defined.line !== undefined)
      functions.push(...(defined.among ?? [{ path: defined.path, line: defined.line, takes: only?.takes ?? 0 }]));
    else if (defined === "outside" && declared.line !== AMBIGUOUS_LINE)
      functions.push({ path: of.path, line: declared.line, takes: 0 });
  }
  const [first, ...others] = functions;
  if (!first) return "unknown";
  const { path, line } = first;
  return { path, line, type: undefined, ...(others.length > 0 && { among: functions }) };
}

/** A member that is defined outside of its class, such as a method of Go: it is bound in a file of the package as `Class.member`. */
async function memberApart(follow: Follower, of: Place, name: string): Promise<FoundMember | undefined> {
  const isRust = of.path.endsWith(".rs");
  if (!isRust && !packageRuleOf(of.path)?.membersApart) return undefined;
  const bindings = (await follow.files.uses(of.path))?.bindings ?? new Map<string, Meaning>();
  for (const [own, meaning] of bindings) {
    if (meaning.to !== "local" || meaning.line !== of.line || own.includes(".")) continue;
    if (isRust) return methodApart(follow, of, own, name);
    const found = await follow.fromPackage(of.path, "", `${own}.${name}`);
    if (typeof found === "string" || found.line === undefined) return undefined;
    return { path: found.path, line: found.line, type: undefined };
  }
  return undefined;
}

/** A Rust method from an `impl` block in another file. That file binds it as `Type.method`, and `Type` must resolve to this type there. */
async function methodApart(follow: Follower, of: Place, type: string, name: string): Promise<FoundMember | undefined> {
  const found: FoundMember[] = [];
  const named = await follow.files.definitions(name, of.path);
  for (const path of new Set(named.map((own) => own.path).filter((own) => own.endsWith(".rs") && own !== of.path))) {
    if (found.length > 1) break;
    const meaning = (await follow.files.uses(path))?.bindings.get(`${type}.${name}`);
    if (!meaning) continue;
    const own = await follow.nameOf(path, type);
    if (typeof own === "string" || own.path !== of.path || own.line !== of.line) continue;
    if (meaning.to === "local") found.push({ path, line: meaning.line, type: undefined });
  }
  return found.length === 1 ? found[0] : undefined;
}

/** Whether a class has another one among its bases, at any distance. */
export async function inheritsFrom(follow: Follower, of: Place, base: Target): Promise<boolean> {
  if (!follow.takesStep()) return false;
  const own = await follow.classAt(of);
  const parts = own ? [{ path: of.path, bases: own.bases }, ...(await otherParts(of, follow.files))] : [];
  for (const [path, each] of basesOf(parts)) {
    const at = await follow.resolve(path, each);
    if (typeof at === "string" || at.line === undefined) continue;
    if (at.path === base.path && at.line === base.line) return true;
    if (await inheritsFrom(follow, { path: at.path, line: at.line }, base)) return true;
  }
  return false;
}
