import { join, resolve } from "node:path";
import { GAPS } from "../../contract/not-searched.ts";
import { GREP, type Request } from "../../contract/questions.ts";
import { linesByFile } from "../../engines/exact/lines.ts";
import type { FoundLine, GrepAnswer } from "../../engines/exact/types.ts";
import type { IndexInfo } from "../../interface/questions/code-index.ts";
import { answerGrep, grepWithin } from "../../interface/questions/exact.ts";
import { noteSubmodules } from "../submodules.ts";
import { requestOf } from "../request.ts";
import type { Context } from "../context.ts";
import { folderPathOf, type Project } from "../project.ts";
import { CliError, EXIT, toCliError } from "../exit-codes.ts";
import { askTexts } from "../exact/ask-texts.ts";
import type { RemoteOption } from "../remote/remote-search.ts";
import { showPaged } from "../terminal/pager.ts";
import { formatCount, plural } from "../terminal/ui.ts";

export interface GrepFlags extends RemoteOption {
  path?: string[];
  language?: string[];
  onlyMatching?: boolean;
  count?: boolean;
}

/** Exit codes of `rg`. */
const GREP_EXIT = { found: 0, none: 1, failure: EXIT.usage } as const;
/** Files that were not searched and are named. */
const MAX_NAMED = 5;
/** A person waits for all lines; nothing else shares this process. */
const WITHOUT_LIMIT = Number.MAX_SAFE_INTEGER;
// The clock is not `performance`, which takes 3 ms to load.
const WITHOUT_BUDGET = { maxBytes: Infinity, maxMs: Infinity, now: () => Date.now() };

/** What is shown as text. */
interface Found {
  answer: GrepAnswer & { indexes: readonly Pick<IndexInfo, "name" | "submodules">[] };
  root: string | undefined;
}

/** `codectx grep <pattern> [paths…]`: every line that matches. Its exit codes are those of `rg`, whatever fails. */
export async function grepCommand(
  context: Context,
  pattern: string,
  paths: readonly string[],
  options: GrepFlags,
): Promise<void> {
  try {
    if (options.language) (await import("../command-line/filters.ts")).checkLanguages(options.language);
    if (paths.length > 0 && options.path)
      throw new CliError(EXIT.usage, "USAGE", "give files and folders as arguments, or globs with --path, not both");
    let root: string | undefined;
    const requestIn = (project: Project | undefined): GrepWithoutLimit => {
      root = project?.root;
      const path = paths.length === 0 ? options.path : paths.map((own) => pathGlob(context, project, own, options));
      return { ...requestOf(GREP, { pattern }, { ...options, path }), offset: 0 };
    };
    const { answer } = await (asksTexts(context, options) ? showTexts : showIndex)(context, requestIn, options);
    const { files, notSearched } = answer.coverage;
    if (paths.length > 0 && files === 0 && options.ref === undefined) await refuseInner(context, root, paths);
    if (paths.length > 0 && files === 0 && Object.keys(notSearched).length === 0)
      throw new CliError(EXIT.usage, "NOT_FOUND", `no file of the tree is at or below ${paths.join(", ")}`);
    process.exitCode = report(context, answer);
    if (paths.length === 0) noteSubmodules(context, answer.indexes);
  } catch (error) {
    const { code, message, requestId, details } = toCliError(error);
    throw new CliError(GREP_EXIT.failure, code, message, { requestId, details, cause: error });
  }
}

/** Throws if one of the paths is in a repository of its own, where nothing is searched from outside. */
async function refuseInner({ cwd }: Context, root: string | undefined, paths: readonly string[]): Promise<void> {
  if (root === undefined) return;
  const [{ innerRepository, innerText }, { pathWithin, realPath }] = await Promise.all([
    import("../missing-path.ts"),
    import("../machine/platform.ts"),
  ]);
  for (const path of paths) {
    const own = pathWithin(root, resolve(realPath(cwd), path));
    const inner = own && innerRepository(root, own);
    if (own && inner) throw new CliError(EXIT.usage, "NOT_FOUND", innerText(own, inner));
  }
}

/** The glob of a file, or of all files below a folder. */
function pathGlob(context: Context, project: Project | undefined, path: string, options: GrepFlags): string {
  const own = folderPathOf(context, project, path, options) ?? "";
  return own === "" ? "**" : `/${own.replaceAll(/[\\*?[\]{}]/g, String.raw`\$&`)}`;
}

/** Whether texts are enough: nothing of the search index is in the lines that are shown, so it is neither made nor opened. */
function asksTexts({ ui }: Context, { remote, repo }: GrepFlags): boolean {
  return !ui.json && remote !== true && repo === undefined;
}

type GrepWithoutLimit = Omit<Request<typeof GREP>, "limit">;

type RequestIn = (project: Project | undefined) => GrepWithoutLimit;

async function showTexts(context: Context, requestIn: RequestIn, options: GrepFlags): Promise<Found> {
  const found = await askTexts(
    context,
    async (texts, project) => {
      const whole = { ...requestIn(project), limit: WITHOUT_LIMIT };
      return { ...(await answerGrep(texts, whole, WITHOUT_BUDGET)), indexes: texts.indexes };
    },
    options,
  );
  await showPaged(context, {}, () => describe(context, found, options));
  return found;
}

async function showIndex(context: Context, requestIn: RequestIn, options: GrepFlags): Promise<Found> {
  // Loaded here: most runs ask texts.
  const [{ ask, show }, { grepResponse }] = await Promise.all([
    import("../ask.ts"),
    import("../../interface/questions/exact-http.ts"),
  ]);
  const limit = options.remote === true ? GREP.limit.max : WITHOUT_LIMIT;
  const request = (project: Project | undefined) => ({ ...requestIn(project), limit });
  const found = await ask(context, grepWithin(WITHOUT_BUDGET), { options, request });
  await show(context, found, grepResponse, () => describe(context, found, options));
  return found;
}

/** Says what was not searched, and returns the exit code. */
function report({ ui }: Context, { total, coverage, complete, gaps, withheldIn, truncated }: GrepAnswer): number {
  const notSearched = gaps.slice(0, MAX_NAMED).map(({ path, reason }) => `${path} (${reason})`);
  const { submodule: _, ...leftOut } = coverage.notSearched;
  const count = Object.values(leftOut).reduce((sum, files) => sum + files, 0);
  const missing = [
    ...(gaps.length === 0 && !complete ? reasonsOf(coverage) : []),
    ...(gaps.length === 0 ? [] : [`${notSearched.join(", ")}${gaps.length > MAX_NAMED ? ", …" : ""} not searched`]),
    ...(coverage.withheldLines === 0
      ? []
      : [`${plural(coverage.withheldLines, "line")} withheld, which may hold secrets${placesOf(withheldIn)}`]),
  ];
  if (truncated) ui.warn("there are more lines than the answer holds");
  if (total.lines > 0) {
    if (!complete) ui.warn(`not complete: ${missing.join("; ")}`);
    return GREP_EXIT.found;
  }
  const where = `no match in ${plural(coverage.files, "file")}`;
  if (complete) {
    ui.note(count === 0 ? where : `${where}; ${formatCount(count)} without text left out`);
    return GREP_EXIT.none;
  }
  ui.warn(`${where}; not complete: ${missing.join("; ")}`);
  return GREP_EXIT.failure;
}

/** The first files with withheld lines, and how many of them each has. */
function placesOf(withheldIn: GrepAnswer["withheldIn"]): string {
  if (withheldIn.length === 0) return "";
  const named = withheldIn.slice(0, MAX_NAMED).map(({ path, lines }) => `${path}${lines === 1 ? "" : ` (${lines})`}`);
  const more = withheldIn.length > MAX_NAMED ? ", …" : "";
  return `: ${named.join(", ")}${more}`;
}

/** The reasons that make an answer incomplete, where no paths are at hand. */
function reasonsOf({ notSearched }: GrepAnswer["coverage"]): string[] {
  const counts = GAPS.map((reason) => [reason, notSearched[reason] ?? 0] as const).filter(([, files]) => files > 0);
  return counts.map(([reason, files]) => `${plural(files, "file")} not searched: ${reason}`);
}

function describe(context: Context, { answer, root }: Found, options: GrepFlags): string[] {
  const { ui } = context;
  const severalRepos = answer.indexes.length > 1;
  const placeOf = ({ revision, path }: { revision: number; path: string }): string => {
    const shown = ui.style("magenta", severalRepos ? `${answer.indexes[revision]?.name} ${path}` : path);
    return root === undefined ? shown : ui.link(join(root, path), shown);
  };
  if (answer.files)
    return answer.files.map((file) => (options.count === true ? `${placeOf(file)}:${file.lines}` : placeOf(file)));
  const hasContext = answer.matches.some(({ before, after }) => before.length + after.length > 0);
  return linesByFile(answer.matches).flatMap((group, position) => {
    const place = placeOf(group[0]);
    const own = fileRows(context, group, { onlyMatching: options.onlyMatching === true, hasContext });
    // A terminal has the next file's name here.
    const rows = hasContext && position > 0 && !ui.terminal ? [GAP, ...own] : own;
    if (!ui.terminal) return rows.map(({ mark, text }) => (mark === "" ? text : `${place}${mark}${text}`));
    const shown = rows.map(({ text }) => text);
    return (position > 0 ? ["", place] : [place]).concat(shown);
  });
}

interface Row {
  /** Between the path and the line: `:` of a match, `-` of a line around one, empty of a gap. */
  mark: string;
  text: string;
}

const GAP: Row = { mark: "", text: "--" };

/** The lines of a file, with those around them, each once. */
function fileRows(
  { ui }: Context,
  group: readonly FoundLine[],
  { onlyMatching, hasContext }: { onlyMatching: boolean; hasContext: boolean },
): Row[] {
  const rows: Row[] = [];
  let last = 0;
  const reach = (line: number): void => {
    if (hasContext && last > 0 && line > last + 1) rows.push(GAP);
    last = line;
  };
  const around = (first: number, lines: readonly string[], end: number): void => {
    for (const [i, shown] of lines.entries()) {
      const line = first + i;
      if (line <= last || line >= end) continue;
      reach(line);
      rows.push({ mark: "-", text: `${ui.style("green", String(line))}-${shown}` });
    }
  };
  for (const [i, match] of group.entries()) {
    const { line, endLine = line, before, after } = match;
    around(line - before.length, before, line);
    reach(line);
    for (const text of matchTexts(ui, match, onlyMatching)) rows.push({ mark: ":", text });
    last = endLine;
    around(endLine + 1, after, group[i + 1]?.line ?? Infinity);
  }
  return rows;
}

/** A match with its place: its lines, or what matches in them. */
function matchTexts(ui: Context["ui"], match: FoundLine, onlyMatching: boolean): string[] {
  const { line, text, ranges, byteRanges } = match;
  const placeOf = (range: number): string => `${ui.style("green", String(line))}:${byteRanges[range]?.[0] ?? 1}:`;
  if (onlyMatching) {
    const matched = matchedTexts(match);
    return ranges.map((_, i) => `${placeOf(i)}${ui.style("red", matched[i] ?? "")}`);
  }
  return text.split("\n").map((own, i) =>
    // As in rg, the further lines of a match begin with their first column.
    i === 0 ? `${placeOf(0)}${highlight(ui, match, own)}` : `${ui.style("green", String(line + i))}:1:${own}`,
  );
}

function matchedTexts({ text, textStart = 1, ranges }: FoundLine): string[] {
  return ranges.map(([from, to]) => text.slice(Math.max(0, from - textStart), Math.max(0, to - textStart)));
}

function highlight(ui: Context["ui"], { textStart = 1, ranges }: FoundLine, line: string): string {
  let shown = "";
  let at = 0;
  for (const [from, to] of ranges) {
    const [start, end] = [Math.max(at, from - textStart), Math.min(line.length, to - textStart)];
    if (end <= start) continue;
    shown += line.slice(at, start) + ui.style("red", line.slice(start, end));
    at = end;
  }
  return shown + line.slice(at);
}
