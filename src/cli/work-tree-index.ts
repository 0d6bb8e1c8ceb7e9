import { basename } from "node:path";
import type { Parameters, Request } from "../contract/questions.ts";
import {
  answerFrom,
  type Answered,
  type CodeIndex,
  type IndexInfo,
  type OpenIndexes,
  type Question,
  QuestionError,
  type RepoInfo,
  type Scope,
} from "../questions/code-index.ts";
import type { Context } from "./context.ts";
import { withLocalIndex } from "./local-search.ts";
import type { LocalIndex } from "./search-index/local-index.ts";

/** The index of this work tree. Each request updates it first, so that the latest edits are found. */
export class WorkTreeIndex implements CodeIndex {
  readonly #context: Context;
  readonly #room: () => Promise<void>;
  /** The previous request; requests run one after another, since each may write the index. */
  #last: Promise<unknown> = Promise.resolve();

  #waiting = 0;

  /** Each request waits for `room` first: that its answer can be sent. */
  constructor(context: Context, room: () => Promise<void>) {
    this.#context = context;
    this.#room = room;
  }

  /** Requests that are not answered yet. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Resolves when the requests made so far are answered. */
  async settled(): Promise<void> {
    await this.#last;
  }

  ask<P extends Parameters, Answer extends object>(
    question: Question<P, Answer>,
    scope: Scope,
    request: Request<P>,
  ): Promise<Answered<Answer>> {
    return this.#withIndex((index) => {
      const opened = openIndexes(index);
      checkScope(scope, opened.info);
      return answerFrom(opened, question, request);
    });
  }

  repos(): Promise<RepoInfo[]> {
    return this.#withIndex((index) => Promise.resolve([{ ...infoOf(index), fileCount: index.info.fileCount }]));
  }

  /** Updates the index ahead of the first request, which reports any failure. */
  async warmUp(): Promise<void> {
    await this.repos().catch(() => undefined);
  }

  #withIndex<T>(ask: (index: LocalIndex) => Promise<T>): Promise<T> {
    this.#waiting++;
    const run = this.#last
      .then(this.#room)
      .then(() => withLocalIndex(this.#context, ask))
      .finally(() => this.#waiting--);
    this.#last = run.catch(() => undefined);
    return run;
  }
}

function openIndexes(index: LocalIndex): OpenIndexes & { info: IndexInfo } {
  const info = infoOf(index);
  const inFirst = <T>(found: T | undefined) => found && { ...found, revision: 0 };
  return {
    info,
    indexes: [info],
    digest: () => Promise.resolve(index.info.digest),
    search: (request) => index.search(request),
    symbols: (request) => index.symbols(request),
    references: (request) => index.references(request),
    outline: async (path) => inFirst(await index.outline(path)),
    file: async (path, start, end) => inFirst(await index.readFile(path, start, end)),
    nearPaths: (path) => Promise.resolve(index.nearPaths(path)),
  };
}

function infoOf({ info }: LocalIndex): IndexInfo {
  const { repo, root, gitSha, indexedAtMs, stale } = info;
  return { name: repo ?? basename(root), gitSha, indexedAtMs, isWorkTree: true, stale };
}

function checkScope(scope: Scope, { name, gitSha }: IndexInfo): void {
  if (scope.repo !== undefined && scope.repo.toLowerCase() !== name.toLowerCase()) {
    throw new QuestionError(
      "NO_WORKSPACE",
      `${scope.repo} is not indexed here: this server only knows the work tree of ${name}.`,
    );
  }
  if (scope.ref !== undefined && (gitSha === null || !gitSha.startsWith(scope.ref.toLowerCase()))) {
    throw new QuestionError(
      "NO_INDEX",
      `${scope.ref} is not indexed here: this server only knows the files of the work tree. Leave out ref.`,
    );
  }
}
