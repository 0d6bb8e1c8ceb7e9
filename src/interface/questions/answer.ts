/** How an adapter asks its open indexes. The caller's paths and filters are normalized and checked first. */
import type { Parameters, Request } from "../../contract/questions.ts";
import { type Answered, type IndexInfo, InvalidFieldError, type OpenIndexes, type Question } from "./code-index.ts";

/** Asks a question of open indexes. Throws what the question throws, and `InvalidFieldError` for filters that name nothing. */
export async function answerFrom<P extends Parameters, Answer extends object, Info extends IndexInfo>(
  opened: OpenIndexes<Info>,
  question: Question<P, Answer>,
  request: Request<P>,
): Promise<Answered<Answer, Info>> {
  const answer: Answer & { digest?: string } = await question.answer(opened, await understood(opened, request));
  return { ...answer, indexes: opened.indexes, digest: answer.digest ?? (await opened.digest()) };
}

/**
 * The request with its paths and globs from the root of the tree. Throws `InvalidFieldError` for a kind or language that does not exist:
 * a filter without a match would look like an answer.
 */
async function understood<P extends Parameters>(
  { root }: Pick<OpenIndexes, "root">,
  request: Request<P>,
): Promise<Request<P>> {
  const { kind, kinds, languages } = request as {
    kind?: string;
    kinds?: readonly string[];
    languages?: readonly string[];
  };
  if ((kind ?? kinds ?? languages) !== undefined) {
    const { kindProblem, languageProblem } = await import("./filters.ts");
    refuse("kind", kindProblem(kind === undefined ? [] : [kind]));
    refuse("kinds", kindProblem(kinds ?? []));
    refuse("languages", languageProblem(languages ?? []));
  }
  return { ...fromRoot(root, request), ...(kind !== undefined && { kind: kind.toLowerCase() }) };
}

/** The request with its paths and globs from the root of a tree: a folder with `/` between, or undefined where it is not on this machine. */
export function fromRoot<P extends Parameters>(root: string | undefined, request: Request<P>): Request<P> {
  const { path, paths } = request as { path?: string; paths?: readonly string[] };
  return {
    ...request,
    ...(path !== undefined && { path: treePath(path, root) }),
    ...(paths !== undefined && { paths: paths.map((glob) => treeGlob(glob, root)) }),
  };
}

function refuse(field: string, problem: string | undefined): void {
  if (problem !== undefined) throw new InvalidFieldError(field, problem);
}

/**
 * A path from the root of the tree: without its `./` or `/`, and without the folder of the work tree if it is absolute. In a work tree on
 * Windows `\\` separates folders as well.
 */
export function treePath(path: string, root: string | undefined): string {
  const given = isOnWindows(root) ? path.replaceAll("\\", "/") : path;
  return withoutRoot(given, root).replace(/^(?:\.?\/)+/, "");
}

/** Whether the root of a work tree begins with a drive. */
const isOnWindows = (root: string | undefined): boolean => root !== undefined && /^[a-z]:\//i.test(root);

/** As `treePath`, for a glob, which a leading `/` binds to the root of the tree. */
function treeGlob(glob: string, root: string | undefined): string {
  const sign = glob.startsWith("!") ? "!" : "";
  const given = glob.slice(sign.length);
  // Only in an absolute path: elsewhere in a glob `\\` is an ordinary character.
  const isAbsolute = isOnWindows(root) && /^[a-z]:\\/i.test(given);
  const body = withoutRoot(isAbsolute ? given.replaceAll("\\", "/") : given, root);
  return `${sign}${body.startsWith("./") ? body.slice(1) : body}`;
}

function withoutRoot(path: string, root: string | undefined): string {
  if (root === undefined || !startsWithRoot(path, root)) return path;
  const rest = path.slice(root.length);
  return rest === "" || rest.startsWith("/") ? `/${rest.slice(1)}` : path;
}

/** The case of a path does not matter on Windows. */
function startsWithRoot(path: string, root: string): boolean {
  if (!isOnWindows(root)) return path.startsWith(root);
  return path.slice(0, root.length).toLowerCase() === root.toLowerCase();
}
