/** Values that name kinds of symbol and languages: what is known, and what may have been meant. */
import { LANGUAGES, type LanguageInfo } from "../../engines/parsing/languages.ts";
import { SYMBOL_KINDS } from "../../engines/parsing/types.ts";
import { nearName } from "../../lib/near-name.ts";

/** Longer values are cut in errors. */
const MAX_SHOWN = 60;
/** A shorter beginning of a kind is not taken for it. */
const MIN_BEGINNING = 3;

/** Other words for kinds. */
const KIND_ALIASES: Readonly<Record<string, string>> = {
  fn: "function",
  def: "function",
  attribute: "field",
  property: "field",
  protocol: "interface",
  typedef: "type",
  let: "variable",
};

const KINDS: readonly string[] = SYMBOL_KINDS;

/** What is wrong with the first value that names no kind of symbol; undefined if all do. Case does not matter. */
export function kindProblem(values: readonly string[]): string | undefined {
  const unknown = values.find((value) => !KINDS.includes(value.toLowerCase()));
  return unknown === undefined ? undefined : problemOf("kind", unknown, nearKind(unknown.toLowerCase()), KINDS);
}

/** As `kindProblem`, for ids of languages. An extension or a name of a language leads to its id. */
export function languageProblem(values: readonly string[]): string | undefined {
  const ids: string[] = LANGUAGES.map(({ id }) => id).sort();
  const unknown = values.find((value) => !ids.includes(value.toLowerCase()));
  return unknown === undefined ? undefined : problemOf("language", unknown, nearLanguage(unknown.toLowerCase()), ids);
}

function nearKind(value: string): string | undefined {
  const begun = value.length < MIN_BEGINNING ? undefined : KINDS.find((kind) => kind.startsWith(value));
  return KIND_ALIASES[value] ?? begun ?? nearName(value, KINDS);
}

function nearLanguage(value: string): string | undefined {
  const all: readonly LanguageInfo[] = LANGUAGES;
  const extension = value.replace(/^\./, "");
  const named = all.find(({ name, extensions }) => name.toLowerCase() === value || extensions.includes(extension));
  const ids = all.map(({ id }) => id);
  return named?.id ?? nearName(value, ids);
}

function problemOf(what: string, value: string, near: string | undefined, known: readonly string[]): string {
  const hint = near === undefined ? `; known are ${known.join(", ")}` : `, did you mean ${near}?`;
  return `no ${what} is named ${value.slice(0, MAX_SHOWN)}${hint}`;
}
