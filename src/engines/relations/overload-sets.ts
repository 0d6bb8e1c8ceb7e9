/** Functions of one name of which a call means one: overloads, and definitions in the branches of `#if`. */
import type { Candidate, Target } from "./resolved.ts";
import type { Meaning } from "./types.ts";

/** Functions of one name that are told apart; of more the name alone is known. */
export const MAX_OVERLOADS = 24;

/** A function with any number of arguments takes this many. */
export const ANY_NUMBER = 63;

/** How many arguments a function takes, as one number. */
export const takes = (least: number, most: number): number =>
  Math.min(least, ANY_NUMBER) + (ANY_NUMBER + 1) * Math.min(most, ANY_NUMBER);

const mostOf = (packed: number): number => {
  const most = Math.floor(packed / (ANY_NUMBER + 1));
  return most === ANY_NUMBER ? Infinity : most;
};

const isTaking = (packed: number, given: number): boolean =>
  packed % (ANY_NUMBER + 1) <= given && given <= mostOf(packed);

/** The functions of a file that a meaning names. */
export function functionsOf(path: string, meaning: Meaning): Candidate[] {
  const found: Candidate[] = [];
  for (let at = meaning; ; at = at.otherwise) {
    const of = at.to === "either" ? at.of : at;
    if (of.to === "overload") found.push({ path, line: of.line, takes: of.takes });
    if (at.to !== "either") return found;
  }
}

/** A target that may be any of some functions; undefined if there is none. */
export function oneOf(functions: readonly Candidate[]): Target | undefined {
  const [first] = functions;
  return first && { path: first.path, line: first.line, among: functions };
}

/** Of the functions that a call may mean, those that take as many arguments as it has. */
export function takingArguments({ among, ...target }: Target, given: number | undefined): Target {
  if (!among) return target;
  const fitting = given === undefined ? among : among.filter((each) => isTaking(each.takes, given));
  // Default values may be stated by a declaration that stands apart.
  const possible = fitting.length > 0 ? fitting : among.filter((each) => mostOf(each.takes) >= (given ?? 0));
  const [first, ...others] = possible.length > 0 ? possible : among;
  if (!first) return target;
  const { path, line } = first;
  return { ...target, path, line, ...(others.length > 0 && { among: [first, ...others] }) };
}
