/** The text of each tool's answer. */
import {
  type FoundSymbol,
  type OutlineSymbol,
  type ReferenceAnswer,
  type SearchAnswer,
  type SearchResult,
  type WeakMatch,
} from "../../engines/search/types.ts";
import type { RelationAnswer } from "../questions/relations/answer.ts";
import type { Relation } from "../questions/relations/found.ts";
import type { FilesAnswer } from "../questions/exact.ts";
import { relationText } from "./relation-answer.ts";
import {
  type Answered,
  type FileLines,
  type IndexInfo,
  type InOneIndex,
  type NotFoundError,
  type RepoInfo,
  type TooLarge,
  tooLargeText,
} from "../questions/code-index.ts";
import { hasQuotedText, understoodText } from "../questions/understood.ts";
import { type AnswerOptions, budgetOf, heading, placeOf } from "./answer-frame.ts";
import { asSentence, describeIndex, fit, type Forms, numberedLine, numberedLines, shownOf, tokensOf } from "./text.ts";
import { numberOf } from "../../lib/display.ts";

/** References of a file when not all of them fit. */
const SHORT_REFERENCES = 3;
export function searchText(
  { indexes, leftOut, results, understood, weak, total, degraded }: Answered<SearchAnswer & { degraded?: string }>,
  options: AnswerOptions,
  { offset = 0, query = "" }: { offset?: number | undefined; query?: string | undefined } = {},
): string {
  const searched = heading(indexes, options.nowMs, leftOut);
  const known = understood ? `${searched}\n\n${asSentence(understoodText(understood))}` : searched;
  if (results.length === 0)
    return [known, noResults(total, offset, query), ...(weak ? [weakText(weak)] : [])].join("\n\n");
  const head = weak ? `${known}\n\nNothing matches well. ${weakText(weak)} What comes nearest, without lines:` : known;
  const parts = fit(
    results.map((result): Forms => [resultText(indexes, result), resultText(indexes, { ...result, excerpts: [] })]),
    budgetOf(options, head),
  );
  const fitting = parts.findIndex((part) => part === "");
  const shown = fitting < 0 ? parts : parts.slice(0, fitting);
  const note = degraded === undefined ? "" : ` Ranked without ${degraded}, which is not available now.`;
  const next = offset + shown.length;
  const more = next < total ? ` offset=${next} shows the next ones.` : "";
  return [head, joinResults(shown), `${shownOf(shown.length, total, "file")}.${more}${note}`].join("\n\n");
}

/** What was searched, and which words are not there. */
function weakText({ unknown, files }: WeakMatch): string {
  const searched = `Searched ${numberOf(files, "file")}.`;
  return unknown.length === 0 ? searched : `Not in the index: ${unknown.join(", ")}. ${searched}`;
}

function noResults(total: number, offset: number, query: string): string {
  if (offset > 0 && total > 0) return `All ${total} files found come before offset ${offset}.`;
  return hasQuotedText(query)
    ? "No file has the quoted text. Without the quotes its words are searched."
    : "No results. Try other words, an identifier, or fewer filters.";
}

/** Files with lines are set apart by a blank line; those that are only listed follow each other. */
function joinResults(parts: readonly string[]): string {
  return parts
    .map((part, i) => {
      const isListed = !part.includes("\n") && i > 0 && parts[i - 1]?.includes("\n") === false;
      return i === 0 ? part : `${isListed ? "\n" : "\n\n"}${part}`;
    })
    .join("");
}

/** The place and name of a result, and below it its numbered lines. */
function resultText(indexes: readonly IndexInfo[], result: SearchResult): string {
  const { revision, path, startLine, endLine, symbol, excerpts } = result;
  const lines = startLine === endLine ? String(startLine) : `${startLine}-${endLine}`;
  const title = `${placeOf(indexes, revision, path)}:${lines}${symbol ? `  ${symbol.kind} ${symbol.qualifiedName}` : ""}`;
  const width = String(excerpts.at(-1)?.endLine ?? 0).length;
  const shown = excerpts.map((excerpt) => numberedLines(excerpt.text, excerpt.startLine, width));
  return [title, shown.join(`\n${" ".repeat(width)}  …\n`)].filter((part) => part !== "").join("\n");
}

/** A definition with its lines, if they were read. */
export type ShownSymbol = FoundSymbol & { body?: string };

export function symbolsText(
  answer: Answered<{ symbols: ShownSymbol[]; total: number; match: string; tooLarge?: TooLarge }>,
  options: AnswerOptions,
  { name, match: asked }: { name: string; match?: string | undefined },
): string {
  const { indexes, leftOut, symbols, total, match, tooLarge } = answer;
  const which = match === "prefix" ? "Names that begin so" : "Similar names";
  const note = `No definition is named ${name}.${noteOf(tooLarge)} ${which}:`;
  const isOther = match !== "exact" && match !== asked;
  const head = `${heading(indexes, options.nowMs, leftOut)}${isOther ? `\n\n${note}` : ""}`;
  const parts = fit(
    symbols.map((symbol): Forms => {
      const { revision, path, startLine, endLine, kind, qualifiedName, signature, body } = symbol;
      const title = `${placeOf(indexes, revision, path)}:${startLine}-${endLine}  ${kind} ${qualifiedName}`;
      const signed = signature === "" ? title : `${title}\n    ${signature}`;
      return body === undefined ? [signed, title] : [`${title}\n${numberedLines(body, startLine)}`, signed, title];
    }),
    budgetOf(options, head),
  );
  const shown = parts.filter((part) => part !== "");
  return [head, ...shown, `${shownOf(shown.length, total, "definition")}.`].join("\n\n");
}

const noteOf = (tooLarge: TooLarge | undefined): string => (tooLarge ? ` ${tooLargeText(tooLarge)}.` : "");

export function referencesText(
  answer: Answered<ReferenceAnswer>,
  options: AnswerOptions,
  request: { name?: string | undefined; path?: string | undefined; relation?: Relation | undefined },
): string {
  const { relation, name = request.path ?? "" } = request;
  if (relation !== undefined) return relationText(answer as Answered<RelationAnswer>, options, { name, relation });
  const { indexes, leftOut, references, total, truncated } = answer;
  const head = heading(indexes, options.nowMs, leftOut);
  if (references.length === 0)
    return `${head}\n\n${name} is defined, and no other line of the indexed files names it; grep searches the others as well.`;
  const files = Map.groupBy(references, ({ revision, path }) => placeOf(indexes, revision, path));
  const groups = [...files].map(([place, lines]) => ({ place, lines }));
  const parts = fit(
    groups.map(({ place, lines }): Forms => {
      const width = String(lines.at(-1)?.line ?? 0).length;
      const rows = lines.map(({ line, text, enclosing }) =>
        numberedLine(line, enclosing === null ? text : `${text}  [in ${enclosing}]`, width),
      );
      const more = rows.length - SHORT_REFERENCES;
      const short = more > 0 ? [...rows.slice(0, SHORT_REFERENCES), `… ${more} more in this file`] : rows;
      const numbers = lines.map(({ line }) => line).join(", ");
      return [`${place}\n${rows.join("\n")}`, `${place}\n${short.join("\n")}`, `${place}: ${numbers}`, place];
    }),
    budgetOf(options, head),
  );
  const shown = parts.filter((part) => part !== "");
  const isAll = references.length === total && shown.length === groups.length;
  const foot = [
    `${shownOf(references.length, total, "use", !truncated || references.length < total)}, in ${shownOf(shown.length, groups.length, "file")}.`,
    "Found by name: another symbol of the same name is included.",
    ...(isAll && !truncated ? [] : ["Ask for one path with search_code, or with a larger limit, for the rest."]),
  ];
  return [head, ...shown, foot.join(" ")].join("\n\n");
}

/** An answer about one file. */
type InOneFile<T> = Answered<InOneIndex<T> & { path: string }>;

export function outlineText(
  { indexes, revision, path, language, symbols }: InOneFile<{ language: string; symbols: OutlineSymbol[] }>,
  options: AnswerOptions,
): string {
  const head = `${heading(indexes.slice(revision, revision + 1), options.nowMs)}\n${path} (${language})`;
  if (symbols.length === 0) return `${head}\n\nThe file defines no symbols. read_file shows its lines.`;
  const budget = budgetOf(options, head);
  const deepest = Math.max(...symbols.map(({ depth }) => depth));
  // First without signatures, then without the innermost symbols, then cut.
  for (const withSignatures of [true, false]) {
    for (let depth = deepest; depth >= (withSignatures ? deepest : 0); depth--) {
      const rows = outlineRows(symbols, depth, withSignatures);
      if (tokensOf(rows.join("\n")) > budget && (withSignatures || depth > 0)) continue;
      const fitting = fit(
        rows.map((row): Forms => [row]),
        budget,
      ).filter((row) => row !== "");
      return `${head}\n\n${fitting.join("\n")}\n\n${shownOf(fitting.length, symbols.length, "symbol")}.`;
    }
  }
  return head;
}

function outlineRows(symbols: readonly OutlineSymbol[], maxDepth: number, withSignatures: boolean): string[] {
  const width = String(symbols.at(-1)?.endLine ?? 0).length * 2 + 1;
  return symbols
    .filter(({ depth }) => depth <= maxDepth)
    .map(({ startLine, endLine, depth, kind, name, signature }) => {
      const lines = startLine === endLine ? String(startLine) : `${startLine}-${endLine}`;
      const shown = withSignatures && signature !== "" ? `${kind}  ${signature}` : `${kind} ${name}`;
      return `${lines.padStart(width)}  ${"  ".repeat(depth)}${shown}`;
    });
}

/** The files and folders of a folder, with how many files are below each of these. */
export function folderText(
  { indexes, revision, path, files, folders, next }: InOneFile<FilesAnswer>,
  options: AnswerOptions,
): string {
  const folder = /^\.?$/.test(path) ? "." : path.replace(/\/$/, "");
  const head = `${heading(indexes.slice(revision, revision + 1), options.nowMs)}\n${folder}/`;
  const rows = [
    ...folders.map((own) => `${own.path}  ${numberOf(own.files, "file")}`),
    ...files.map((own) => (own.state === "indexed" ? own.path : `${own.path}  (${own.state.replace("_", " ")})`)),
  ];
  const shown = fit(
    rows.map((row): Forms => [row]),
    budgetOf(options, head),
  ).filter((row) => row !== "");
  const all = next === undefined ? String(rows.length) : `more than ${rows.length}`;
  return [head, shown.join("\n"), `${shown.length} of ${all} files and folders shown.`].join("\n\n");
}

export function fileText(
  { indexes, revision, ...file }: InOneFile<FileLines>,
  options: AnswerOptions,
  { start }: { start?: number | undefined } = {},
): string {
  const { path, startLine, lineCount, text, withheld } = file;
  const head = `${heading(indexes.slice(revision, revision + 1), options.nowMs)}\n${path}, ${numberOf(lineCount, "line")}`;
  if (start !== undefined && start > lineCount) return `${head}\n\nThere is no line ${start}.`;
  const isWithheld = (line: number) => withheld.some(([from, to]) => line >= from && line <= to);
  const lines = text
    .split("\n")
    .map((line, index) => (isWithheld(startLine + index) ? "(withheld: may hold a secret)" : line));
  const numbered = numberedLines(lines.join("\n"), startLine).split("\n");
  const budget = budgetOf(options, head);
  let used = 0;
  let count = 0;
  while (count < numbered.length && used + tokensOf(`${numbered[count]}\n`) <= budget) {
    used += tokensOf(`${numbered[count]}\n`);
    count++;
  }
  count = Math.max(1, count);
  const last = startLine + count - 1;
  const foot =
    last < file.endLine || last < lineCount
      ? `Lines ${startLine}-${last} of ${lineCount} shown; start_line=${last + 1} goes on.`
      : `Lines ${startLine}-${last} of ${lineCount} shown.`;
  return [head, numbered.slice(0, count).join("\n"), foot].join("\n\n");
}

/** The text for a name or path that no index has: what may have been meant, or what else to ask. */
export function notFoundText({ field, value, near, tooLarge, isPlace }: NotFoundError): string {
  if (isPlace) return `${field} must be a name, and ${value} is a place. Defined there: ${near.join(", ")}.`;
  const missing = field === "path" ? `${value} is not in the index.` : `Nothing in the index is named ${value}.`;
  const other = `search_code finds ${field === "path" ? "files by name and content" : "code by what it does"}.`;
  return `${missing} ${near.length === 0 ? other : `Similar: ${near.join(", ")}${tooLarge ? "." : ""}`}${noteOf(tooLarge)}`;
}

export function reposText(repos: readonly RepoInfo[], total: number, options: AnswerOptions): string {
  if (total === 0) return "Nothing is indexed yet.";
  if (repos.length === 0) return `None of the ${total} indexed repositories has a name like that.`;
  const rows = fit(
    repos.map((repo): Forms => {
      if (repo.isPending) return [`${repo.name}, not indexed before its first question`, repo.name];
      const { fileCount } = repo;
      const files = fileCount === undefined ? "" : `, ${numberOf(fileCount, "file")}`;
      return [`${describeIndex(repo, options.nowMs)}${files}`, repo.name];
    }),
    budgetOf(options, ""),
  ).filter((row) => row !== "");
  const noun = total === 1 ? "1 repository" : `${rows.length} of ${total} repositories shown`;
  return `${rows.join("\n")}\n\n${noun}.`;
}
