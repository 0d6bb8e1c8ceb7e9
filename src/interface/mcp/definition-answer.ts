/** Text of `find_symbol` with a position: the definitions that the name there leads to, the surest first. */
import { leadsNowhereText } from "../questions/relations/counts.ts";
import type { Answered } from "../questions/code-index.ts";
import type { DefinitionAnswer } from "../questions/relations/definition.ts";
import { type AnswerOptions, budgetOf, heading, placeOf } from "./answer-frame.ts";
import { fit, type Forms, shownOf } from "./text.ts";

const SURENESS: Readonly<Record<DefinitionAnswer["definitions"][number]["certainty"], string>> = {
  certain: "certain",
  likely: "likely",
  name: "by name only: another symbol may be meant",
};

export function definitionText(
  { indexes, revision: own, names, definitions, outside, truncated }: Answered<DefinitionAnswer>,
  options: AnswerOptions,
): string {
  const head = heading(indexes.slice(own, own + 1), options.nowMs);
  if (definitions.length === 0) return `${head}\n\n${leadsNowhereText(names, outside)}.`;
  const parts = definitions.map((each): Forms => {
    const { revision, path, startLine, endLine, kind, qualifiedName, signature, certainty } = each;
    const title = `${placeOf(indexes, revision, path)}:${startLine}-${endLine}  ${kind} ${qualifiedName}  (${SURENESS[certainty]})`;
    return signature === "" ? [title] : [`${title}\n    ${signature}`, title];
  });
  const shown = fit(parts, budgetOf(options, head)).filter((part) => part !== "");
  return [head, ...shown, `${shownOf(shown.length, definitions.length, "definition", !truncated)}.`].join("\n\n");
}
