/** The definitions that a use leads to by the rules of its language. */
import type { Meaning } from "../../../engines/relations/types.ts";
import type { DefinedSymbol, QuestionFiles } from "../../../engines/relations/question-files.ts";
import type { Place } from "../../../engines/relations/resolved.ts";
import { lastPart } from "../../../engines/search/names.ts";

/** Where a use may mean more overloads, none is named. */
const MAX_NAMED = 8;

interface Written {
  name: string;
  meaning: Meaning;
  arguments?: number;
}

type Outcome = "none" | "unknown";

/**
 * The definitions that a use in the file `path` leads to: several are overloads of which it means one. `none` if it leads to no definition of
 * the index, `unknown` if the rules do not tell.
 */
export async function resolvedDefinitions(
  files: QuestionFiles,
  path: string,
  use: Written,
): Promise<{ definitions: DefinedSymbol[]; certainty: "certain" | "likely" } | Outcome> {
  const resolved = await files.resolve(path, use);
  if (typeof resolved === "string") return resolved === "unknown" ? "unknown" : "none";
  const { path: at, line, among } = resolved;
  if (line === undefined) return "none";
  if ((among?.length ?? 0) > MAX_NAMED) return "unknown";
  const found = await Promise.all((among ?? [{ path: at, line }]).map((place) => definitionAt(files, place, use.name)));
  const definitions = found.filter((each) => typeof each !== "string");
  const [first] = found;
  if (definitions.length === 0) return typeof first === "string" ? first : "none";
  return { definitions, certainty: among ? "likely" : files.certaintyOf(path, resolved) };
}

/** The only definition that a use leads to. */
export async function resolvedDefinition(
  files: QuestionFiles,
  path: string,
  use: Written,
): Promise<{ definition: DefinedSymbol; certainty: "certain" | "likely" } | Outcome> {
  const found = await resolvedDefinitions(files, path, use);
  if (typeof found === "string") return found;
  const [definition, ...others] = found.definitions;
  return definition && others.length === 0 ? { definition, certainty: found.certainty } : "unknown";
}

/** Rules lead to a line; where several definitions begin on it, as in minified code, the one of the same name is meant. */
async function definitionAt(
  files: QuestionFiles,
  { path, line }: Place,
  name: string,
): Promise<DefinedSymbol | Outcome> {
  const there = (await files.definitionsIn(path)).filter(({ startLine }) => startLine === line);
  const [only] = there;
  if (!only) return "none";
  return there.length === 1 ? only : (there.find((each) => lastPart(each.name) === lastPart(name)) ?? "unknown");
}
