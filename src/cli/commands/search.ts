import { join } from "node:path";
import {
  type IncludeKind,
  type Match,
  matchedTexts,
  type SearchRequest,
  type SearchResult,
} from "../../retrieval/types.ts";
import type { Context } from "../context.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import { stateOf, withLocalIndex, withoutRevision } from "../local-search.ts";
import { showPaged } from "../pager.ts";
import type { Project } from "../project.ts";
import { type RemoteIndex, remoteIndex, type RemoteOption } from "../remote-search.ts";
import type { LocalIndex } from "../search-index/local-index.ts";

export interface SearchOptions extends RemoteOption {
  limit?: number;
  path?: string[];
  language?: string[];
  kind?: string[];
  include?: IncludeKind[];
  maxTokens?: number;
}

/** Longer than any issue text; the engine uses the strongest terms of a long query. */
const MAX_QUERY_CHARACTERS = 1_000_000;
/** Lines shown of a snippet; of a longer one, those with matches. */
const MAX_SHOWN_LINES = 12;

type Shown = Pick<SearchResult, "path" | "startLine" | "endLine" | "symbol" | "snippet" | "matched">;

/** `codectx search <query…>`: from the local index, or from the service with `--remote`. */
export async function search(context: Context, words: readonly string[], options: SearchOptions): Promise<void> {
  const query = await queryOf(words);
  const { limit, path, language, kind, include, maxTokens } = options;
  const request: SearchRequest = { query, limit, paths: path, languages: language, kinds: kind, include, maxTokens };
  if (kind || language) {
    const { checkKinds, checkLanguages } = await import("../filters.ts");
    checkKinds(kind ?? []);
    checkLanguages(language ?? []);
  }
  const remote = await remoteIndex(context, options);
  if (remote) return searchRemote(context, request, remote);
  const ask = async (index: LocalIndex, { root }: Project) => {
    const answer = await index.search(request);
    if (answer.results.length === 0 && index.info.stale !== undefined)
      throw new CliError(EXIT.notFound, "NOT_FOUND", "no results");
    return { ...answer, state: stateOf(index), root };
  };
  const { state, digest, root, results, truncated, tokens } = await withLocalIndex(context, ask, { ref: options.ref });
  const shown = withoutRevision(results);
  await showPaged(context, { ...state, results: shown, truncated, tokens, digest }, () =>
    describeResults(context, shown, root),
  );
}

async function queryOf(words: readonly string[]): Promise<string> {
  const query = (words.length === 1 && words[0] === "-" ? await readStdin() : words.join(" ")).trim();
  if (query === "") throw new CliError(EXIT.usage, "NO_QUERY", "the query is empty");
  if (query.length > MAX_QUERY_CHARACTERS) {
    throw new CliError(EXIT.usage, "QUERY_TOO_LONG", `the query is longer than ${MAX_QUERY_CHARACTERS} characters`);
  }
  return query;
}

async function readStdin(): Promise<string> {
  const { text } = await import("node:stream/consumers");
  return text(process.stdin);
}

async function searchRemote(context: Context, request: SearchRequest, remote: RemoteIndex): Promise<void> {
  const { client, selector, call } = remote;
  const { query, limit, maxTokens, paths, languages, kinds, include } = request;
  const answer = await client.search(
    {
      query,
      ...selector,
      ...(limit === undefined ? {} : { limit }),
      ...(maxTokens === undefined ? {} : { maxTokens }),
      ...(paths ? { paths: [...paths] } : {}),
      ...(languages ? { languages: [...languages] } : {}),
      ...(kinds ? { kinds: [...kinds] } : {}),
      ...(include ? { include: [...include] } : {}),
    },
    call,
  );
  const { ok: _, ...document } = answer;
  const gitSha = answer.indexes[0]?.gitSha ?? null;
  await showPaged(context, { gitSha, ...document }, () => describeResults(context, answer.results, undefined));
}

/** Formats results as text; `root` is the work tree of the paths, for links. */
function describeResults(context: Context, results: readonly Shown[], root: string | undefined): string[] {
  const { ui } = context;
  if (results.length === 0) return ["No results."];
  return results.flatMap(({ path, startLine, endLine, symbol, snippet, matched }, position) => {
    const place = ui.style("cyan", `${path}:${startLine}`);
    const lines = endLine > startLine ? ui.style("dim", `-${endLine}`) : "";
    const name = symbol ? `  ${ui.style("bold", symbol.qualifiedName)}` : "";
    const header = `${root === undefined ? place : ui.link(join(root, path), place)}${lines}${name}`;
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
