/** The text of the answer of `grep`. */
import type { FoundLine, GrepAnswer } from "../../engines/exact/types.ts";
import type { Answered } from "../questions/code-index.ts";
import { type AnswerOptions, budgetOf, heading, placeOf } from "./answer-frame.ts";
import { fit, type Forms, numberedLine } from "./text.ts";
import { numberOf } from "../../lib/display.ts";

/** Lines of a file when not all of them fit. */
const SHORT_LINES = 3;
/** Files that were not searched and are named. */
const MAX_NAMED = 5;

/** Matching lines by file, shortened step by step; what is shown of how many; and whether something was not searched. */
export function grepText(answer: Answered<GrepAnswer>, options: AnswerOptions): string {
  const { indexes, matches, files, total } = answer;
  const head = heading(indexes, options.nowMs);
  const foot = footOf(answer);
  if (total.lines === 0) return `${head}\n\n${foot}`;
  const rows = files
    ? files.map(({ revision, path, lines }): Forms => [`${placeOf(indexes, revision, path)}: ${lines}`])
    : [...Map.groupBy(matches, ({ revision, path }) => placeOf(indexes, revision, path))].map(([place, lines]) =>
        formsOf(place, lines),
      );
  const shown = fit(rows, budgetOf(options, head + foot)).filter((row) => row !== "");
  const lines = files ? "" : ` ${Math.min(matches.length, total.lines)} of`;
  const inFiles = `${shown.length} of ${numberOf(total.files, "file")} shown`;
  return [
    head,
    ...(files ? [shown.join("\n")] : shown),
    `${lines} ${numberOf(total.lines, "line")}, ${inFiles}. ${foot}`.trim(),
  ].join("\n\n");
}

function formsOf(place: string, lines: readonly FoundLine[]): Forms {
  const width = String(lines.at(-1)?.line ?? 0).length;
  const rows = lines.map((match) => matchRows(match, width));
  const more = rows.length - SHORT_LINES;
  const short = more > 0 ? [...rows.slice(0, SHORT_LINES), `… ${more} more in this file`] : rows;
  const numbers = `${place}: ${lines.map(({ line }) => line).join(", ")}`;
  return [`${place}\n${rows.join("\n")}`, `${place}\n${short.join("\n")}`, numbers, place];
}

/** A match with the lines around it. */
function matchRows({ line, text, before, after, enclosing }: FoundLine, width: number): string {
  const own = text.split("\n");
  const first = line - before.length;
  const rows = [...before, ...own, ...after].map((shown, i) => numberedLine(first + i, shown, width));
  if (enclosing !== null) rows[before.length] = `${rows[before.length]}  [in ${enclosing}]`;
  return rows.join("\n");
}

/** The first files with withheld lines. */
function namesOf(withheldIn: GrepAnswer["withheldIn"]): string {
  if (withheldIn.length === 0) return "";
  const named = withheldIn.slice(0, MAX_NAMED).map(({ path }) => path);
  return ` (in ${named.join(", ")}${withheldIn.length > MAX_NAMED ? ", …" : ""})`;
}

function footOf({ total, complete, coverage, gaps, withheldIn, truncated }: GrepAnswer): string {
  const searched = numberOf(coverage.files, "file");
  const none = total.lines === 0 ? `No match in ${searched}.` : "";
  if (complete)
    return `${none} ${truncated ? "A larger limit or max_tokens shows more. " : ""}All text was searched.`.trim();
  const named = gaps.slice(0, MAX_NAMED).map(({ path, reason }) => `${path} (${reason})`);
  const parts = [
    ...(gaps.length === 0 ? [] : [`not searched: ${named.join(", ")}${gaps.length > MAX_NAMED ? ", …" : ""}`]),
    ...(coverage.withheldLines === 0
      ? []
      : [`lines withheld, which may hold secrets: ${coverage.withheldLines}${namesOf(withheldIn)}`]),
  ];
  return `${none} NOT COMPLETE: ${parts.join("; ")}.`.trim();
}
