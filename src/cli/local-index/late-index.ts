import type { Parameters, Request } from "../../contract/questions.ts";
import type { IndexingListener } from "../../interface/mcp/progress.ts";
import type { Answered, CodeIndex, Question, RepoInfo, RepoList, Scope } from "../../interface/questions/code-index.ts";

/** What `codectx mcp` serves. */
export interface ServedIndex extends CodeIndex, RepoList {
  /** Requests that are not answered yet. */
  readonly waiting: number;
  /** Calls a listener while files are indexed, until the returned function is called. */
  onIndexing(listener: IndexingListener): () => void;
  /** Resolves when the requests made so far are answered. */
  settled(): Promise<void>;
  /** Prepares for the first request, which reports any failure. */
  warmUp(): Promise<void>;
}

/** An index that is known only when the client has said which folders it works on. Requests wait until then. */
export class LateIndex implements ServedIndex {
  readonly #chosen = Promise.withResolvers<ServedIndex>();
  readonly #requests = new Set<Promise<unknown>>();
  #isChosen = false;

  constructor() {
    // Each request reports it.
    this.#chosen.promise.catch(() => undefined);
  }

  /** Sets the index; a rejection is the answer of each request. Later calls do nothing. */
  choose(open: () => Promise<ServedIndex>): void {
    if (this.#isChosen) return;
    this.#isChosen = true;
    this.#chosen.resolve(open());
  }

  /** Requests that are not answered yet. */
  get waiting(): number {
    return this.#requests.size;
  }

  /** See `WorkTreeIndex.onIndexing`. */
  onIndexing(listener: IndexingListener): () => void {
    let isStopped = false;
    let stop: (() => void) | undefined;
    const listen = (index: ServedIndex): void => {
      if (!isStopped) stop = index.onIndexing(listener);
    };
    this.#chosen.promise.then(listen, () => undefined);
    return () => {
      isStopped = true;
      stop?.();
    };
  }

  /** Resolves when the requests made so far are answered. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#requests);
  }

  ask<P extends Parameters, Answer extends object>(
    question: Question<P, Answer>,
    scope: Scope,
    request: Request<P>,
  ): Promise<Answered<Answer>> {
    return this.#counted(async () => (await this.#chosen.promise).ask(question, scope, request));
  }

  repos(): Promise<RepoInfo[]> {
    return this.#counted(async () => (await this.#chosen.promise).repos());
  }

  /** Updates the index ahead of the first request, which reports any failure. */
  async warmUp(): Promise<void> {
    await this.#chosen.promise.then(
      (index) => index.warmUp(),
      () => undefined,
    );
  }

  async #counted<T>(work: () => Promise<T>): Promise<T> {
    const request = work();
    this.#requests.add(request);
    try {
      return await request;
    } finally {
      this.#requests.delete(request);
    }
  }
}
