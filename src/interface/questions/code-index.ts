/**
 * The one interface through which every face (HTTP, MCP, the command line, the dashboard) asks about indexed code, and the questions'
 * own rules. Where the index lies is an adapter's business: hosted (`src/service/hosted-index`), on this machine or behind the service (`src/cli`).
 */
import type { ErrorCode } from "../../contract/errors.ts";
import type { LeftOutIndex } from "../../contract/search.ts";
import type { Parameters, Request } from "../../contract/questions.ts";
import type { RevisionTexts } from "../../engines/exact/types.ts";
import type {
  OutlineAnswer,
  ReferenceAnswer,
  ReferenceRequest,
  SearchAnswer,
  SearchRequest,
  SymbolAnswer,
  SymbolRequest,
} from "../../engines/search/types.ts";
import type { ChangeHistory } from "../../engines/impact/co-change.ts";
import type { QuestionFiles } from "../../engines/relations/question-files.ts";
import type { UsesIndex } from "../../engines/relations/uses-index.ts";

/** Who asks, which bounds what can be read. What lies outside is answered as if it did not exist. */
export interface Caller {
  tenantId: string;
  /** Normalised identities of the repositories that the caller may read; all of the tenant's if absent. */
  repos?: readonly string[] | undefined;
  /** Public id of the credential that was sent: it has its own overlays. */
  credentialId?: string | undefined;
}

/** Which index to ask; without `repo` and `workspaceId`, all that the caller has. */
export interface Scope {
  /** Repository identity (`github.com/owner/name`) or the name that `RepoInfo` gives. */
  repo?: string | undefined;
  /** UUID of a hosted workspace, instead of `repo`. */
  workspaceId?: string | undefined;
  /** Branch, tag or commit; without it the current revision. */
  ref?: string | undefined;
  /** Id of an overlay of the caller, instead of `ref`. */
  overlay?: string | undefined;
}

/** The index that an answer comes from. */
export interface IndexInfo {
  /** Normalised identity (`github.com/owner/name`); a folder's name or a workspace's id where there is none. */
  name: string;
  /** Commit that is indexed; null outside of git. */
  gitSha: string | null;
  indexedAtMs: number;
  /** The files may differ from the commit: the index is of a work tree with its uncommitted edits. */
  isWorkTree: boolean;
  /** Why later changes of the work tree are missing; undefined if there are none. */
  stale?: string | undefined;
  /** Files of the commit that could not be read, and folders, with a `/` behind them. */
  unread?: readonly string[] | undefined;
  /** Folders of submodules, which are repositories of their own and not in the index; known of a work tree only. */
  submodules?: readonly string[] | undefined;
}

export interface RepoInfo extends IndexInfo {
  /** Undefined where only the service knows it. */
  fileCount?: number | undefined;
  /** It has no index yet: it is indexed when it is first asked. */
  isPending?: true;
}

/** Lines of a file, 1-based and inclusive. */
export interface FileLines {
  language: string;
  /** Both 0 for an empty file; `endLine` is below `startLine` for a range behind the end. */
  startLine: number;
  endLine: number;
  lineCount: number;
  /** The lines; withheld ones are empty. */
  text: string;
  /** Ranges of lines that may hold a secret. */
  withheld: [from: number, to: number][];
}

/** Something that belongs to one of the indexes of a scope. */
export type InOneIndex<T> = T & { revision: number };

/**
 * The indexes of a scope, opened: every call reads the same revisions. `revision` in an answer is a position in `indexes`. Throws
 * `QuestionError` where the caller can mend the request.
 */
export interface OpenIndexes<Info extends IndexInfo = IndexInfo> {
  readonly indexes: readonly Info[];
  /** Folder of the work tree, with `/` between: absolute paths below it are understood. Undefined for a hosted index. */
  readonly root?: string | undefined;
  /** Names all that answers depend on, but for the vectors that take part in a search. */
  digest(): Promise<string>;
  search(request: SearchRequest): Promise<SearchAnswer & { degraded?: "embedding" }>;
  symbols(request: SymbolRequest): Promise<SymbolAnswer>;
  references(request: ReferenceRequest): Promise<ReferenceAnswer>;
  /** Undefined if no index has the path. Throws `QuestionError` if several have it. */
  outline(path: string): Promise<InOneIndex<OutlineAnswer> | undefined>;
  /** As `outline`; all lines without bounds. `revision` names the index to read. */
  file(path: string, start?: number, end?: number, revision?: number): Promise<InOneIndex<FileLines> | undefined>;
  /** How many of some paths each index has. */
  having(paths: readonly string[]): Promise<readonly number[]>;
  /** Up to five paths that may have been meant. */
  nearPaths(path: string): Promise<string[]>;
  /** Files that would be indexed if they were smaller; undefined where it takes long to tell. */
  tooLarge?(): Promise<readonly string[] | undefined>;
  /** All files and their whole texts, for exact search. */
  texts(): Promise<RevisionTexts>;
  /**
   * Gives a function the uses of the files of one index, and these with those of the whole scope, in which uses are followed from one
   * repository into another; it must not keep them. Where damage is found it is called again once that is repaired, so it must change
   * nothing but what it returns.
   */
  withUses<T>(revision: number, work: (files: UsesIndex, all: QuestionFiles) => Promise<T>): Promise<T>;
  /** The files of the last commits. Absent where no history is at hand; undefined if it cannot be read. */
  history?(): Promise<ChangeHistory | undefined>;
}

/** The part of open indexes that answers questions about whole texts. */
export type OpenTexts = Pick<OpenIndexes, "indexes" | "texts">;

/** A question: its parameters, and how it is answered from open indexes. */
export interface Question<P extends Parameters, Answer extends object> {
  /** Also the name of the client's method. */
  name: string;
  parameters: P;
  /** Throws `NotFoundError` for a name or path that no index has. */
  answer: (indexes: OpenIndexes, request: Request<P>) => Promise<Answer>;
}

/** A question, with the types of its request and answer checked. */
export function question<P extends Parameters, Answer extends object>(
  definition: Question<P, Answer>,
): Question<P, Answer> {
  return definition;
}

/** What a question answers. */
export type QuestionAnswer<Q> = Q extends { answer: (...given: never[]) => Promise<infer Answer> } ? Answer : never;

/** An answer, the indexes that its `revision` numbers refer to, and the digest of all that it depends on. */
export type Answered<Answer, Info extends IndexInfo = IndexInfo> = Answer & {
  indexes: readonly Info[];
  digest: string;
  /** Indexes of the scope that were not asked, because they are being rewritten. */
  leftOut?: readonly LeftOutIndex[];
};

/** Where questions are asked. It knows its caller: it has only what they may read. */
export interface CodeIndex<Info extends IndexInfo = IndexInfo> {
  /** Throws what the question throws, and `QuestionError` for a scope that the caller does not have. */
  ask<P extends Parameters, Answer extends object>(
    question: Question<P, Answer>,
    scope: Scope,
    request: Request<P>,
  ): Promise<Answered<Answer, Info>>;
}

/** The indexes that a caller has, by name. */
export interface RepoList {
  repos(): Promise<RepoInfo[]>;
}

/** A request that cannot be answered as it is. The message is for the caller and says how to mend it. */
export class QuestionError extends Error {
  override readonly name: string = "QuestionError";
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** The error of a scope without an index. */
export function nothingIndexed(): QuestionError {
  return new QuestionError("NO_INDEX", "Nothing is indexed yet.");
}

/** A field of a request that is not valid, which only the one that answers can see. */
export class InvalidFieldError extends QuestionError {
  override readonly name = "InvalidFieldError";
  readonly field: string;
  /** What is wrong, without the field. */
  readonly problem: string;

  constructor(field: string, problem: string) {
    super("INVALID_BODY", `${field}: ${problem}`);
    this.field = field;
    this.problem = problem;
  }
}

/** Files that are too large to be indexed: how many, and the first of them. */
export interface TooLarge {
  files: number;
  paths: readonly string[];
}

/** What to say of them where a name is not found. */
export function tooLargeText({ files, paths }: TooLarge): string {
  const named = `${paths.join(", ")}${files > paths.length ? ", …" : ""}`;
  return files === 1
    ? `1 file is too large to be indexed, but grep searches it: ${named}`
    : `${files} files are too large to be indexed, but grep searches them: ${named}`;
}

/** Paths that are named of those that were not searched. */
const NAMED_PATHS = 3;

/** What to say of the files and folders of a commit that could not be read. */
export function unreadText(unread: readonly string[]): string {
  const named = firstOf(unread);
  const what = unread.length === 1 ? "1 path of the commit was" : `${unread.length} paths of the commit were`;
  return `not complete: ${what} not searched, because git cannot read their objects (see \`git fsck\`): ${named}`;
}

/** What to say of submodules, which an index does not have. */
export function submodulesText(submodules: readonly string[]): string {
  return submodules.length === 1
    ? `not searched: ${firstOf(submodules)}, a submodule`
    : `not searched: ${submodules.length} submodules (${firstOf(submodules)})`;
}

function firstOf(paths: readonly string[]): string {
  return `${paths.slice(0, NAMED_PATHS).join(", ")}${paths.length > NAMED_PATHS ? ", …" : ""}`;
}

/** What is known of a name or path that no index has. */
interface Missing {
  /** Files that may define a name; undefined if there are none, or that is not known. */
  tooLarge?: TooLarge | undefined;
  /** The name is a place, `path:line`. */
  isPlace?: boolean;
}

/** A name or path that no index has. */
export class NotFoundError extends QuestionError {
  override readonly name = "NotFoundError";
  /** The parameter that named it. */
  readonly field: "name" | "path" | "from" | "to";
  readonly value: string;
  /** Up to five names or paths that may have been meant. */
  readonly near: readonly string[];
  readonly tooLarge: TooLarge | undefined;
  readonly isPlace: boolean;

  constructor(
    field: NotFoundError["field"],
    value: string,
    near: readonly string[],
    { tooLarge, isPlace = false }: Missing = {},
  ) {
    const similar = near.length === 0 ? [] : [`${isPlace ? "defined there" : "similar"}: ${near.join(", ")}`];
    const hint = [...similar, ...(tooLarge ? [tooLargeText(tooLarge)] : [])].map((part) => `; ${part}`).join("");
    const missing =
      field === "path"
        ? `the index has no file ${value}`
        : isPlace
          ? `must be a name, not a place: ${value}`
          : `nothing in the index is named ${value}`;
    super("NOT_FOUND", `${field}: ${missing}${hint}`);
    this.field = field;
    this.value = value;
    this.near = near;
    this.tooLarge = tooLarge;
    this.isPlace = isPlace;
  }
}
