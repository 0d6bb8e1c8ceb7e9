/** Functions that are named without being called there: handed to another one, or kept in a table or variable. */
import { isJvm } from "./packages.ts";
import type { OpenClass } from "./expressions.ts";
import { certainly, type Meaning } from "./types.ts";

/** Whether a name may be that of a function: it is neither a variable nor a type or field that the file declares. `classes` are those of the file. */
export function mayBeFunction(meaning: Meaning, classes: ReadonlyMap<number, OpenClass>): boolean {
  switch (meaning.to) {
    case "local":
      return !classes.has(meaning.line);
    case "likely":
      return mayBeFunction(meaning.of, classes);
    case "first":
      return mayBeFunction(meaning.of, classes) || mayBeFunction(meaning.otherwise, classes);
    case "import":
      return meaning.name !== "*";
    case "member":
      return mayBeMethod(meaning, classes);
    case "overload":
    case "either":
    case "decorated":
      return true;
    case "variable":
    case "returned":
    case "instance":
    case "value":
    case "super":
    case "handed":
    case "same":
    case "generic":
    case "opaque":
    case "ambiguous":
    case "global":
      return false;
  }
}

function mayBeMethod(
  { of, name }: Extract<Meaning, { to: "member" }>,
  classes: ReadonlyMap<number, OpenClass>,
): boolean {
  let owner = of;
  while (owner.to === "likely" || owner.to === "super" || owner.to === "instance" || owner.to === "variable")
    owner = owner.of;
  const member = owner.to === "local" ? classes.get(owner.line)?.members.get(name) : undefined;
  // A field has a type or a value.
  if (member) return member.types.length === 0 || member.overloads !== undefined;
  for (;;) {
    if ("of" in owner) owner = owner.of;
    else if ("by" in owner) owner = owner.by;
    else break;
  }
  return owner.to === "local" || owner.to === "import";
}

/**
 * Whether a reference may as well name a field or the like: a member, except in languages that write references to functions apart (`x::f`), and
 * any name of C++, where fields and constants of enumerations are named as functions are.
 */
export const mayBeField = (path: string, language: string, meaning: Meaning): boolean =>
  (certainly(meaning).to === "member" && !isJvm(path)) || language === "cpp";
