/** What names of programs mean, and members of their classes. */
import { findMember } from "./members.ts";
import { oneOf } from "./overload-sets.ts";
import { contextsOf, findInProgram, IN_PROGRAM, isExact, isOfLibrary, isProgram } from "./program.ts";
import { type Follower, placeOf, type Read, type Resolved } from "./resolved.ts";
import type { Meaning } from "./types.ts";

/** What a name of a program means, looked up outwards from the namespaces and classes around it; `path` is the file that names it. */
export async function namedInProgram(
  follow: Follower,
  path: string,
  { module, name }: { module: string; name: string },
  read: Read,
): Promise<Resolved> {
  if (!follow.takesStep()) return "unknown";
  const exact = isExact(module);
  const contexts = contextsOf(module);
  const stars = exact ? [] : ((await follow.files.uses(path))?.stars ?? []).filter(isProgram);
  for (const context of [...contexts, ...stars.map((star) => star.slice(2))]) {
    const own = exact || context === "" ? undefined : await findInProgram(follow.files, path, context);
    if (own === "unknown") return "unknown";
    const around = own && (await memberOfProgram(follow, own, name, read));
    if (around !== undefined) return around;
    const full = context === "" ? name : `${context}::${name}`;
    const found = await findInProgram(follow.files, path, full);
    if (found === "unknown") return "unknown";
    if (found && full === name && found.path !== path && isOfLibrary(name)) return "unknown";
    if (found) return found.functions ? (oneOf(found.functions) ?? "unknown") : read(found.path, found.of);
    const end = full.lastIndexOf("::");
    if (exact || end < 0 || !name.includes("::")) continue;
    const of = await findInProgram(follow.files, path, full.slice(0, end));
    if (of === "unknown") return "unknown";
    const member = of && (await memberOfProgram(follow, of, full.slice(end + 2), read));
    if (member !== undefined) return member;
  }
  const last = name.slice(name.lastIndexOf(":") + 1);
  const isDefined = (await follow.files.definitions(last, path)).some((each) => IN_PROGRAM.test(each.path));
  // It may be a member of a class that a macro opens, or of one that is not known.
  return isDefined && !exact ? "unknown" : "outside";
}

/** A member of a class of a program; undefined if it has none, or if this is no class. */
async function memberOfProgram(
  follow: Follower,
  { path, of }: { path: string; of: Meaning },
  name: string,
  read: Read,
): Promise<Resolved | undefined> {
  const at = await follow.valueOf(path, of);
  if (typeof at === "string" || at.line === undefined || name.includes("::")) return undefined;
  if (!(await follow.classAt({ path: at.path, line: at.line }))) return undefined;
  const found = await findMember(follow, { path: at.path, line: at.line }, name);
  if (typeof found === "string") return found === "none" ? undefined : "unknown";
  if (found.among) return placeOf(found);
  return read(found.path, { to: "variable", line: found.line, of: found.type ?? { to: "local", line: found.line } });
}
