/** Text of the tool `impact`: the files first, each with its reasons, then interfaces, tests and what depends on the change. */
import type { IMPACT, Request } from "../../contract/questions.ts";
import type { Answered } from "../questions/code-index.ts";
import type { ImpactAnswer } from "../questions/impact/answer.ts";
import { outsideText } from "../questions/relations/counts.ts";
import { type AnswerOptions, budgetOf, heading, placeOf } from "./answer-frame.ts";
import { asSentence, fit, type Forms } from "./text.ts";

/** Definitions that the first line names. */
const MAX_NAMED = 8;

export function impactText(
  answer: Answered<ImpactAnswer>,
  options: AnswerOptions,
  { name = "" }: Pick<Request<typeof IMPACT>, "name">,
): string {
  const { indexes, revision, leftOut, changed, files, interfaces, tests, dependents, total, outside } = answer;
  const head = heading(indexes, options.nowMs, leftOut);
  const names = [...new Set(changed.map(({ path, symbol }) => symbol ?? path))].slice(0, MAX_NAMED).join(", ");
  const place = (of: number, path: string) => (of === revision ? path : placeOf(indexes, of, path));
  const counts = outside
    ? asSentence(outsideText(name, outside))
    : `${total.changed} changed: ${names}${total.changed > MAX_NAMED ? ", …" : ""}`;
  const section = (title: string, shown: number, all: number, lines: readonly Forms[]): Forms[] =>
    lines.map(([line, ...shorter], i): Forms => {
      const before = i === 0 ? `\n${title} (${shown < all ? `${shown} of ${all}` : all}):\n` : "";
      return [`${before}${line}`, ...shorter.map((each) => `${before}${each}`)];
    });
  const parts = [
    ...section(
      "Files that likely need a change or a run",
      files.length,
      total.files,
      files.map(({ path, test, because }): Forms => {
        const name = `${path}${test ? " [test]" : ""}`;
        return [`${name}  ${because.join("; ")}`, `${name}  ${because[0]}`];
      }),
    ),
    ...section(
      "Interfaces",
      interfaces.length,
      total.interfaces,
      interfaces.map(({ path, symbol, change }): Forms => [`${symbol} in ${path}: ${change}`]),
    ),
    ...section(
      "Tests",
      tests.length,
      total.tests,
      tests.map(({ revision, path, symbol, certainty }): Forms => {
        const by = certainty === "name" ? "by name only" : certainty;
        return [`${place(revision, path)}${symbol === null ? "" : `  ${symbol}`}  ${by}`];
      }),
    ),
    ...section(
      "Depends on it through calls",
      dependents.length,
      total.dependents,
      dependents.map(({ revision, path, line, enclosing, distance, because }): Forms => {
        const around = enclosing === null ? "" : `  [in ${enclosing}]`;
        return [
          `${place(revision, path)}:${line}  ${because}${distance === 1 ? "" : `, ${distance} calls away`}${around}`,
        ];
      }),
    ),
  ];
  const shown = fit(parts, budgetOf(options, `${head}${counts}`)).filter((part) => part !== "");
  const isCut = answer.truncated || shown.length < parts.length;
  const limits = "What goes through a registry, reflection or an untyped value is not followed.";
  const foot = `${isCut ? "There is more: limit and max_tokens show more of each list. " : ""}${limits}`;
  return [head, counts, shown.join("\n").trimStart(), foot].filter((part) => part !== "").join("\n\n");
}
