import { SEARCH } from "../../contract/questions.ts";
import { searchResponse } from "../../interface/questions/http.ts";
import { search as searchQuestion } from "../../interface/questions/questions.ts";
import { type Match, matchedTexts, type SearchResult } from "../../engines/search/types.ts";
import { ask, type CommandAnswer, nothingFound, placeText, requestOf, show } from "../ask.ts";
import type { Context } from "../context.ts";
import type { RemoteOption } from "../remote/remote-search.ts";

export interface SearchOptions extends RemoteOption {
  kind?: string[];
  language?: string[];
}

/** Lines shown of a snippet; of a longer one, those with matches. */
const MAX_SHOWN_LINES = 12;

/** `codectx search <query…>`: from the local index, or from the service with `--remote`. */
export async function search(context: Context, words: readonly string[], options: SearchOptions): Promise<void> {
  const query = words.length === 1 && words[0] === "-" ? await readStdin() : words.join(" ");
  const { kind, language } = options;
  if (kind || language) {
    const { checkKinds, checkLanguages } = await import("../command-line/filters.ts");
    checkKinds(kind ?? []);
    checkLanguages(language ?? []);
  }
  const request = requestOf(SEARCH, { query: query.trim() }, options);
  const found = await ask(context, searchQuestion, {
    options,
    request: () => request,
    missing: ({ results }) => (results.length === 0 ? nothingFound("no results") : undefined),
  });
  await show(context, found, searchResponse, () => describeResults(context, found));
}

async function readStdin(): Promise<string> {
  const { text } = await import("node:stream/consumers");
  return text(process.stdin);
}

function describeResults(context: Context, found: CommandAnswer<{ results: readonly SearchResult[] }>): string[] {
  const { ui } = context;
  return found.answer.results.flatMap(({ revision, path, startLine, endLine, symbol, snippet, matched }, position) => {
    const place = placeText(context, found, { revision, path, line: startLine });
    const lines = endLine > startLine ? ui.style("dim", `-${endLine}`) : "";
    const name = symbol ? `  ${ui.style("bold", symbol.qualifiedName)}` : "";
    const header = `${place}${lines}${name}`;
    const highlight = highlighter(context, matched);
    const shown = shortened(snippet, matched).map((line) => `    ${highlight(line)}`);
    return [...(position > 0 ? [""] : []), header, ...shown];
  });
}

/** Lines of a snippet; of a long one, the first and those with matches. */
function shortened(snippet: string, matched: readonly Match[]): string[] {
  const lines = snippet.split("\n");
  if (lines.length <= MAX_SHOWN_LINES) return lines;
  const words = matchedTexts(matched).map((word) => word.toLowerCase());
  const kept = new Set([0]);
  for (const [at, line] of lines.entries()) {
    if (kept.size >= MAX_SHOWN_LINES) break;
    const folded = line.toLowerCase();
    if (words.some((word) => folded.includes(word))) kept.add(at);
  }
  for (let at = 1; kept.size < MAX_SHOWN_LINES && at < lines.length; at++) kept.add(at);
  const shown: string[] = [];
  let last = -1;
  for (const at of [...kept].sort((a, b) => a - b)) {
    if (at !== last + 1 && shown.at(-1) !== "…") shown.push("…");
    shown.push(lines[at] ?? "");
    last = at;
  }
  if (last < lines.length - 1) shown.push("…");
  return shown;
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
