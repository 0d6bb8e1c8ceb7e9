import { LANGUAGES } from "../../engines/parsing/languages.ts";
import { SYMBOL_KINDS } from "../../engines/parsing/types.ts";
import { CliError, EXIT } from "../exit-codes.ts";

/** Throws a usage error that lists the kinds of symbols if one of the given is none. */
export function checkKinds(kinds: readonly string[]): void {
  const unknown = kinds.find((kind) => !(SYMBOL_KINDS as readonly string[]).includes(kind));
  if (unknown === undefined) return;
  throw new CliError(EXIT.usage, "UNKNOWN_KIND", `no kind named ${unknown}: ${SYMBOL_KINDS.join(", ")}`);
}

/** Throws a usage error that lists the languages if one of the given is none. Case does not matter. */
export function checkLanguages(languages: readonly string[]): void {
  const known: string[] = LANGUAGES.map(({ id }) => id).sort();
  const unknown = languages.find((language) => !known.includes(language.toLowerCase()));
  if (unknown === undefined) return;
  throw new CliError(EXIT.usage, "UNKNOWN_LANGUAGE", `no language named ${unknown}: ${known.join(", ")}`);
}
