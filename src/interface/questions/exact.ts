/** The questions about whole texts: `grep`, and what is searched at all. */
import { COVERAGE, FILES, GREP, type Request } from "../../contract/questions.ts";
import type { GrepOptions } from "../../engines/exact/run-grep.ts";
import type { GrepAnswer, RevisionTexts, TextFile } from "../../engines/exact/types.ts";
import { compareUtf8 } from "../../engines/search/order.ts";
import { compileGlobs, GlobError } from "../../lib/globs.ts";
import {
  InvalidFieldError,
  nothingIndexed,
  NotFoundError,
  type OpenIndexes,
  type OpenTexts,
  question,
  QuestionError,
} from "./code-index.ts";

/** State of a path, of which `absent` is in no tree. */
interface PathState {
  state: TextFile["state"] | "absent";
  reason?: string;
}

export interface CoverageAnswer {
  revision: number;
  indexed: number;
  searchedOnly: number;
  notSearched: Record<string, number>;
  path?: PathState;
  paths: (PathState & { path: string })[];
  truncated: boolean;
  /** `cursor` of the next page. */
  next?: string;
}

/** What is searched, and why the rest is not: of a whole index, a folder or a file. */
export const coverage = question({
  name: "coverage",
  parameters: COVERAGE,
  answer: async (indexes, { path, reason, limit, cursor = "" }): Promise<CoverageAnswer> => {
    const files = await filesOfOne(indexes);
    const own = path === undefined ? undefined : trimmed(path);
    const file = own === undefined ? undefined : files.find((candidate) => candidate.path === own);
    const within = own === undefined || own === "" ? files : files.filter((each) => isBelow(each.path, own));
    const counted = file ? [file] : within;
    const notSearched: Record<string, number> = {};
    for (const each of counted)
      if (each.state === "not_searched") notSearched[reasonOf(each)] = (notSearched[reasonOf(each)] ?? 0) + 1;
    const listed = counted.filter(
      (each) =>
        each.state !== "indexed" &&
        (reason === undefined || reasonOf(each) === reason) &&
        compareUtf8(each.path, cursor) > 0,
    );
    const page = listed.slice(0, limit);
    const last = page.at(-1)?.path;
    const state: PathState | undefined = file ? stateOf(file) : within.length === 0 ? { state: "absent" } : undefined;
    return {
      revision: 0,
      indexed: counted.filter(({ state }) => state === "indexed").length,
      searchedOnly: counted.filter(({ state }) => state === "searched").length,
      notSearched,
      ...(own !== undefined && state && { path: state }),
      paths: page.map((each) => Object.assign({ path: each.path }, stateOf(each))),
      truncated: listed.length > limit,
      ...(listed.length > limit && last !== undefined && { next: last }),
    };
  },
});

export interface FilesAnswer {
  revision: number;
  files: Pick<TextFile, "path" | "size" | "language" | "state">[];
  folders: { path: string; files: number }[];
  /** `cursor` of the next page. */
  next?: string;
}

/** Files of an index below a folder, or those that match a glob, in order of path. */
export const files = question({
  name: "files",
  parameters: FILES,
  answer: async (indexes, { path = "", depth, limit, cursor = "" }): Promise<FilesAnswer> => {
    const all = await filesOfOne(indexes);
    const folder = trimmed(path);
    const isGlob = /[*?[{]/.test(folder) && !all.some((file) => file.path === folder || isBelow(file.path, folder));
    const passes = isGlob
      ? globFilter(folder)
      : (own: string) => folder === "" || own === folder || isBelow(own, folder);
    const entries = new Map<string, TextFile | number>();
    let isAny = false;
    for (const file of all) {
      if (!passes(file.path)) continue;
      isAny = true;
      const entry = isGlob || depth === undefined ? file.path : cut(file.path, folder, depth);
      if (compareUtf8(entry, cursor) <= 0) continue;
      if (entry === file.path) entries.set(entry, file);
      else entries.set(entry, ((entries.get(entry) as number | undefined) ?? 0) + 1);
    }
    if (!isAny && folder !== "") throw new NotFoundError("path", path, await indexes.nearPaths(folder));
    const sorted = [...entries].sort(([a], [b]) => compareUtf8(a, b));
    const page = sorted.slice(0, limit);
    const last = page.at(-1)?.[0];
    return {
      revision: 0,
      files: page.flatMap(([, entry]) => (typeof entry === "number" ? [] : [listedFile(entry)])),
      folders: page.flatMap(([path, entry]) => (typeof entry === "number" ? [{ path, files: entry }] : [])),
      ...(sorted.length > limit && last !== undefined && { next: last }),
    };
  },
});

/** Every line that matches, or what was not searched, within the given budget. */
export const grepWithin = (budget?: GrepOptions) =>
  question({
    name: "grep",
    parameters: GREP,
    answer: (indexes, request) => answerGrep(indexes, request, budget),
  });

/** The answer of `grep`, for which texts are enough. Throws `InvalidFieldError`. */
export async function answerGrep(
  indexes: OpenTexts,
  request: Request<typeof GREP>,
  budget?: GrepOptions,
): Promise<GrepAnswer> {
  const { runGrep } = await import("../../engines/exact/run-grep.ts");
  return runGrep(await textsOf(indexes), request, budget).catch(namingField);
}

export const grep = grepWithin();

/** Throws a request's mistake that the engine has found as one of its field. */
function namingField(error: unknown): never {
  if (error instanceof GlobError) throw new InvalidFieldError(error.field, error.problem);
  if (error instanceof Error && error.name === "PatternError") throw new InvalidFieldError("pattern", error.message);
  throw error;
}

async function textsOf(indexes: OpenTexts): Promise<RevisionTexts> {
  if (indexes.indexes.length === 0) throw nothingIndexed();
  return indexes.texts();
}

async function filesOfOne(indexes: OpenIndexes): Promise<readonly TextFile[]> {
  const texts = await textsOf(indexes);
  const names = indexes.indexes.map(({ name }) => name);
  if (names.length > 1)
    throw new QuestionError("INVALID_SELECTOR", `repo: name one of the repositories: ${names.slice(0, 10).join(", ")}`);
  return texts.files();
}

/** A file as answers list it: its texts may know more of it than they hold as values. */
const listedFile = ({ path, size, language, state }: TextFile): FilesAnswer["files"][number] => ({
  path,
  size,
  language,
  state,
});

function globFilter(glob: string): (path: string) => boolean {
  try {
    return compileGlobs([glob], { field: "path" });
  } catch (error) {
    return namingField(error);
  }
}

/** The path with at most `depth` levels below the folder, as a folder with `/` where it is cut. */
function cut(path: string, folder: string, depth: number): string {
  const start = folder === "" ? 0 : folder.length + 1;
  const parts = path.slice(start).split("/");
  return parts.length <= depth ? path : `${path.slice(0, start)}${parts.slice(0, depth).join("/")}/`;
}

const trimmed = (path: string): string => path.replace(/^\.(\/|$)/, "").replace(/\/$/, "");
const isBelow = (path: string, folder: string): boolean => path.startsWith(`${folder}/`);
const reasonOf = ({ reason }: TextFile): string => reason ?? "unknown";

function stateOf({ state, reason }: TextFile): PathState {
  return reason === undefined ? { state } : { state, reason };
}
