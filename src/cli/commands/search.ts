import { type Request, SEARCH } from "../../contract/questions.ts";
import { searchResponse } from "../../interface/questions/http.ts";
import { search } from "../../interface/questions/questions.ts";
import { hasQuotedText, understoodText } from "../../interface/questions/understood.ts";
import { type Match, matchedTexts, type SearchAnswer, type WeakMatch } from "../../engines/search/types.ts";
import { ask, type CommandAnswer, nothingFound, placeText, show } from "../ask.ts";
import { noteSubmodules } from "../submodules.ts";
import { requestOf } from "../request.ts";
import type { Context } from "../context.ts";
import { plural } from "../terminal/ui.ts";
import type { RemoteOption } from "../remote/remote-search.ts";

export interface SearchOptions extends RemoteOption {
  kind?: string[];
  language?: string[];
}

/** `codectx search <query…>`: from the local index, or from the service with `--remote`. */
export async function searchCommand(context: Context, words: readonly string[], options: SearchOptions): Promise<void> {
  const query = words.length === 1 && words[0] === "-" ? await readStdin() : words.join(" ");
  const { kind, language } = options;
  if (kind || language) {
    const { checkKinds, checkLanguages } = await import("../command-line/filters.ts");
    checkKinds(kind ?? []);
    checkLanguages(language ?? []);
  }
  const request = requestOf(SEARCH, { query: query.trim() }, options);
  const found = await ask(context, search, {
    options,
    request: () => request,
    missing: (answer) => (answer.results.length === 0 ? nothingFound(noResults(answer, request)) : undefined),
  });
  const { weak, understood } = found.answer;
  if (understood) context.ui.note(understoodText(understood));
  if (weak) context.ui.note(`nothing matches well${unknownText(weak)}; what comes nearest, without lines:`);
  await show(context, found, searchResponse, () => describeResults(context, found, request.offset));
  noteSubmodules(context, found.answer.indexes);
}

function noResults(
  { total, weak, understood }: SearchAnswer,
  { query, offset, paths, languages, kinds }: Request<typeof SEARCH>,
): string {
  if (offset > 0 && total > 0) return `no results: all ${total} files found come before offset ${offset}`;
  if (weak?.files === 0) return "no results: there are no files to search; `codectx coverage` says what was left out";
  if (hasQuotedText(query)) return "no file has the quoted text; without the quotes its words are searched";
  const as = understood ? `; ${understoodText(understood)}` : "";
  const filters = Object.entries({ "--path": paths, "--language": languages, "--kind": kinds }).flatMap(
    ([option, given]) => (given === undefined || given.length === 0 ? [] : [option]),
  );
  const within =
    filters.length === 0 ? "in" : `in what ${filters.join(" and ")} leave${filters.length === 1 ? "s" : ""} of`;
  return `no results${weak ? ` ${within} ${plural(weak.files, "file")}${unknownText(weak)}` : ""}${as}`;
}

/** The words of the query that are nowhere in the index. */
function unknownText({ unknown }: WeakMatch): string {
  return unknown.length === 0 ? "" : `; not in the index: ${unknown.join(", ")}`;
}

async function readStdin(): Promise<string> {
  const { text } = await import("node:stream/consumers");
  return text(process.stdin);
}

function describeResults(context: Context, found: CommandAnswer<SearchAnswer>, offset: number): string[] {
  const { ui } = context;
  const { results, total } = found.answer;
  const lines: string[] = [];
  for (const { revision, path, startLine, endLine, symbol, excerpts, matched } of results) {
    const place = placeText(context, found, { revision, path, line: startLine });
    const range = endLine > startLine ? ui.style("dim", `-${endLine}`) : "";
    const name = symbol ? `  ${ui.style("bold", symbol.qualifiedName)}` : "";
    const header = `${place}${range}${name}`;
    const highlight = highlighter(context, matched);
    const width = String(excerpts.at(-1)?.endLine ?? 0).length;
    const shown: string[] = [];
    for (const excerpt of excerpts) {
      if (shown.length > 0) shown.push(`  ${" ".repeat(width)}  …`);
      for (const [i, line] of excerpt.text.split("\n").entries()) {
        const number = ui.style("dim", String(excerpt.startLine + i).padStart(width));
        shown.push(`  ${number}  ${highlight(line)}`.trimEnd());
      }
    }
    // Files that are only listed follow each other.
    if (lines.length > 0 && (shown.length > 0 || lines.at(-1)?.startsWith("  ") === true)) lines.push("");
    lines.push(header, ...shown);
  }
  const next = offset + results.length;
  return next < total
    ? [...lines, "", ui.style("dim", `${results.length} of ${total} files shown; --offset ${next} shows the next ones`)]
    : lines;
}

/** A function that colours the matched words in a line. */
export function highlighter(context: Context, matched: readonly Match[]): (line: string) => string {
  const words = matchedTexts(matched)
    .filter((word) => word.length > 1)
    .sort((a, b) => b.length - a.length)
    .map((word) => word.replace(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`));
  if (words.length === 0) return (line) => line;
  const pattern = new RegExp(words.join("|"), "gi");
  return (line) => line.replace(pattern, (word) => context.ui.style("yellow", word));
}
