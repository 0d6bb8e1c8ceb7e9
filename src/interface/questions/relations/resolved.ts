/** The definition that a use leads to by the rules of its language. */
import type { Meaning } from "../../../engines/relations/types.ts";
import type { DefinedSymbol, QuestionFiles } from "../../../engines/relations/question-files.ts";
import { lastPart } from "../../../engines/search/names.ts";

/**
 * The definition that a use in the file `path` leads to; `none` if it leads to no definition of the index, `unknown` if the rules do not
 * tell. Rules lead to a line; where several definitions begin on it, as in minified code, the one of the same name is meant.
 */
export async function resolvedDefinition(
  files: QuestionFiles,
  path: string,
  use: { name: string; meaning: Meaning },
): Promise<{ definition: DefinedSymbol; certainty: "certain" | "likely" } | "none" | "unknown"> {
  const resolved = await files.resolve(path, use);
  if (typeof resolved === "string") return resolved === "unknown" ? "unknown" : "none";
  if (resolved.line === undefined) return "none";
  const symbols = await files.definitionsIn(resolved.path);
  const there = symbols.filter(({ startLine }) => startLine === resolved.line);
  const [only] = there;
  if (!only) return "none";
  const definition = there.length === 1 ? only : there.find((each) => lastPart(each.name) === lastPart(use.name));
  return definition ? { definition, certainty: files.certaintyOf(path, resolved) } : "unknown";
}
