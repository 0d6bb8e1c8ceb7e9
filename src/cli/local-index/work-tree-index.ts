import type { Parameters, Request } from "../../contract/questions.ts";
import { answerFrom } from "../../interface/questions/answer.ts";
import {
  type Answered,
  type IndexInfo,
  type Question,
  QuestionError,
  type RepoInfo,
  type Scope,
} from "../../interface/questions/code-index.ts";
import { endingWith } from "../../lib/near-repo.ts";
import { normalizeRepo } from "../../lib/repo.ts";
import type { Context } from "../context.ts";
import type { ServedIndex } from "./late-index.ts";
import { infoOf, openIndexes } from "./local-indexes.ts";
import { withLocalIndex } from "./local-search.ts";
import type { IndexingListener } from "../../interface/mcp/progress.ts";
import type { LocalIndex } from "./local-index.ts";

/** The index of this work tree. Each request updates it first, so that the latest edits are found. */
export class WorkTreeIndex implements ServedIndex {
  readonly #context: Context;
  readonly #room: () => Promise<void>;
  /** The previous request; requests run one after another, since each may write the index. */
  #last: Promise<unknown> = Promise.resolve();

  #waiting = 0;
  readonly #listeners = new Set<IndexingListener>();

  /** Each request waits for `room` first: that its answer can be sent. */
  constructor(context: Context, room: () => Promise<void>) {
    const onIndexing: IndexingListener = (done, total) => {
      for (const listener of this.#listeners) listener(done, total);
    };
    this.#context = { ...context, onIndexing };
    this.#room = room;
  }

  /** Requests that are not answered yet. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Calls a listener while files are indexed, whichever request waits for it, until the returned function is called. */
  onIndexing(listener: IndexingListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
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
    return this.#withIndex(async (index) => {
      const opened = openIndexes(index);
      checkScope(scope, opened.indexes);
      return answerFrom(opened, question, request);
    }, scope.ref);
  }

  repos(): Promise<RepoInfo[]> {
    return this.#withIndex((index) => Promise.resolve([{ ...infoOf(index), fileCount: index.info.fileCount }]));
  }

  /** Updates the index ahead of the first request, which reports any failure. */
  async warmUp(): Promise<void> {
    await this.repos().catch(() => undefined);
  }

  #withIndex<T>(ask: (index: LocalIndex) => Promise<T>, ref?: string): Promise<T> {
    this.#waiting++;
    const run = this.#last
      .then(this.#room)
      .then(() => withLocalIndex(this.#context, ask, { ref }))
      .finally(() => this.#waiting--);
    this.#last = run.catch(() => undefined);
    return run;
  }
}

function checkScope({ repo, overlay }: Scope, [index]: readonly IndexInfo[]): void {
  if (overlay !== undefined)
    throw new QuestionError(
      "NO_INDEX",
      `ref: ${overlay} is not indexed here: overlays are the service's; a work tree's index has its edits`,
    );
  if (repo === undefined || index === undefined) return;
  const name = index.name.toLowerCase();
  if (repo.toLowerCase() === name || normalizeRepo(repo) === name || endingWith(repo, [name]).length > 0) return;
  const known = `this server only knows the work tree of ${index.name}`;
  throw new QuestionError("NO_WORKSPACE", `repo: ${repo} is not indexed here: ${known}`);
}
