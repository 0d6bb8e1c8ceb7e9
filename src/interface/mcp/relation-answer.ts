/** Text of `find_references` with a relation: counts first, then the uses by definition and file, the surest first. */
import type { Answered } from "../questions/code-index.ts";
import type { RelatedReference, RelationAnswer } from "../questions/relations/answer.ts";
import { countedText, countsOf, isOwnModule, outsideText } from "../questions/relations/counts.ts";
import { type AnswerOptions, budgetOf, heading, placeOf } from "./answer-frame.ts";
import { asSentence, fit, type Forms, shownOf } from "./text.ts";
import { numberOf } from "../../lib/display.ts";

const HEADINGS: Readonly<Record<RelatedReference["certainty"], string>> = {
  certain: "Certain",
  likely: "Likely",
  name: "By name only: another symbol may be meant",
};

/** What each line of the answer is. */
const NOUNS: Readonly<Record<RelatedReference["relation"], string>> = {
  callers: "use",
  callees: "call",
  implementations: "implementation",
  importers: "import",
};

/** The answer; a service of another version may count less. */
type ShownRelations = Answered<
  Omit<RelationAnswer, "counts" | "unread" | "implementing"> &
    Partial<Pick<RelationAnswer, "counts" | "unread" | "implementing">>
>;

export function relationText(
  {
    indexes,
    leftOut,
    references,
    total,
    truncated,
    counts,
    unread = 0,
    implementing = 0,
    inherited,
    outside,
    similar,
  }: ShownRelations,
  options: AnswerOptions,
  { name, relation }: { name: string; relation: RelatedReference["relation"] },
): string {
  const heads = heading(indexes, options.nowMs, leftOut);
  const meant = inherited
    ? `${name} is inherited: it is ${inherited.join(", ")}.`
    : outside && asSentence(outsideText(name, outside, similar));
  const head = meant === undefined ? heads : `${heads}\n\n${meant}`;
  const notRead = unread === 0 ? "" : ` ${numberOf(unread, "file")} that may hold more could not be read for it.`;
  const cut =
    truncated && references.length === total ? " There may be more: not all files that may hold some were read." : "";
  const implemented =
    implementing === 0
      ? ""
      : ` ${implementing} definitions implement it (relation "implementations"); calls of one of these by its own type are its callers, not listed here.`;
  const limits = `What goes through a registry, reflection or an untyped value is not followed.${implemented}${notRead}${cut}`;
  const named = isOwnModule(name, outside)
    ? ` find_references with the relation "importers" lists its imports.`
    : relation === "callers"
      ? " find_references without a relation lists the lines that name it."
      : "";
  if (references.length === 0) return `${head}\n\nNo ${relation} of ${name} are known.${named} ${limits}`;
  const nameOf = ({ revision, target }: RelatedReference): string =>
    target
      ? `${target.qualifiedName} at ${placeOf(indexes, target.revision ?? revision, target.path)}:${target.line}`
      : "";
  const titleOf = (each: RelatedReference): string => {
    const { certainty, target } = each;
    const definition = target && relation !== "callees" ? ` ${nameOf(each)}` : "";
    return `${HEADINGS[certainty]}${definition}`;
  };
  const parts = references.map((each, i): Forms => {
    const before = references[i - 1];
    const title = before && titleOf(before) === titleOf(each) ? "" : `${i === 0 ? "" : "\n"}${titleOf(each)}:\n`;
    const place = `${title}${placeOf(indexes, each.revision, each.path)}:${each.line}`;
    const callee = relation === "callees" && each.target ? `  → ${nameOf(each)}` : "";
    const steps = each.distance === 1 ? "" : `  ${each.distance} calls away`;
    const around = each.enclosing === null || relation === "callees" ? "" : `  [in ${each.enclosing}]`;
    return [`${place}  ${each.text}${around}${callee}${steps}`, `${place}${callee}${steps}`];
  });
  const shown = fit(parts, budgetOf(options, head)).filter((part) => part !== "");
  const isExact = !truncated || references.length < total;
  const foot = `${shownOf(shown.length, total, NOUNS[relation], isExact)}. ${limits}`;
  return [head, `${relation} of ${name}: ${countedText(counts ?? countsOf(references))}`, shown.join("\n"), foot].join(
    "\n\n",
  );
}
