import { kindProblem, languageProblem } from "../../interface/questions/filters.ts";
import { CliError, EXIT } from "../exit-codes.ts";

/** Throws a usage error that lists the kinds of symbols if one of the given is none. Case does not matter. */
export function checkKinds(kinds: readonly string[]): void {
  const problem = kindProblem(kinds);
  if (problem !== undefined) throw new CliError(EXIT.usage, "UNKNOWN_KIND", problem);
}

/** Throws a usage error that lists the languages if one of the given is none. Case does not matter. */
export function checkLanguages(languages: readonly string[]): void {
  const problem = languageProblem(languages);
  if (problem !== undefined) throw new CliError(EXIT.usage, "UNKNOWN_LANGUAGE", problem);
}
