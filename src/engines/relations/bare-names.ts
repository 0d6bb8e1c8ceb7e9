/** Names without a receiver, where a language has no implicit one. */
import { wordSet } from "../../lib/word-set.ts";
import { isPythonLanguage } from "./languages.ts";
import type { Meaning } from "./types.ts";

/** Languages in which members are named with what they are of. */
const NAMES_RECEIVERS = wordSet("python notebook starlark go rust php");

/** Whether a kind of definition is of a type. */
export const isOfType = (kind: string): boolean => kind === "method" || kind === "constructor";

/** Whether a use is a name alone, in a language in which such a name means no member of a type. */
export function isBareName(language: string, meaning: Meaning): boolean {
  if (!NAMES_RECEIVERS.has(language)) return false;
  // In Python, a module may bind a method of an object to a name that others import.
  const takesMethods = isPythonLanguage(language);
  return meaning.to === "global" || (meaning.to === "import" && meaning.name !== "*" && !takesMethods);
}
