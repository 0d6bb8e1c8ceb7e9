import { basename } from "node:path";
import type { Answered, CodeSource, FileText, IndexInfo, RepoInfo, Scope } from "../mcp/source.ts";
import { SourceError } from "../mcp/source.ts";
import type { OutlineAnswer, ReferenceRequest, SearchRequest, SymbolRequest } from "../retrieval/types.ts";
import type { Context } from "./context.ts";
import { CliError } from "./exit-codes.ts";
import { withLocalIndex } from "./local-search.ts";
import type { LocalIndex } from "./search-index/local-index.ts";

/**
 * The index of the current work tree, for the MCP tools. Each request updates the index first, so it finds the latest edits.
 */
export class LocalSource implements CodeSource {
  readonly #context: Context;
  /** The previous request; requests run one after another, since each may write the index. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(context: Context) {
    this.#context = context;
  }

  search(scope: Scope, request: SearchRequest) {
    return this.#ask(scope, (index) => index.search(request));
  }

  symbols(scope: Scope, request: SymbolRequest) {
    return this.#ask(scope, (index) => index.symbols(request));
  }

  references(scope: Scope, request: ReferenceRequest) {
    return this.#ask(scope, (index) => index.references(request));
  }

  outline(scope: Scope, path: string): Promise<Answered<OutlineAnswer>> {
    return this.#ask(scope, async (index) => (await index.outline(path)) ?? notIndexed(index, path));
  }

  readFile(scope: Scope, path: string, startLine?: number, endLine?: number): Promise<Answered<FileText>> {
    return this.#ask(
      scope,
      async (index) => (await index.readFile(path, startLine, endLine)) ?? notIndexed(index, path),
    );
  }

  listRepos(): Promise<RepoInfo[]> {
    return this.#withIndex((index) => Promise.resolve([{ ...describe(index), fileCount: index.info.fileCount }]));
  }

  /** Updates the index ahead of the first request, which reports any failure. */
  async warmUp(): Promise<void> {
    await this.listRepos().catch(() => undefined);
  }

  async #ask<T extends object>(scope: Scope, ask: (index: LocalIndex) => Promise<T>): Promise<Answered<T>> {
    return this.#withIndex(async (index) => {
      const info = describe(index);
      checkScope(scope, info);
      return { ...(await ask(index)), indexes: [info] };
    });
  }

  #withIndex<T>(ask: (index: LocalIndex) => Promise<T>): Promise<T> {
    const run = this.#last.then(async () => {
      try {
        return await withLocalIndex(this.#context, ask);
      } catch (error) {
        throw error instanceof CliError ? new SourceError(error.message) : error;
      }
    });
    this.#last = run.catch(() => undefined);
    return run;
  }
}

function describe({ info }: LocalIndex): IndexInfo {
  const { repo, root, gitSha, indexedAtMs } = info;
  return { repo: repo ?? basename(root), gitSha, indexedAtMs, isWorkTree: true };
}

function checkScope(scope: Scope, { repo, gitSha }: IndexInfo): void {
  if (scope.repo !== undefined && scope.repo.toLowerCase() !== repo.toLowerCase()) {
    throw new SourceError(`${scope.repo} is not indexed here: this server only knows the work tree of ${repo}.`);
  }
  if (scope.ref !== undefined && (gitSha === null || !gitSha.startsWith(scope.ref.toLowerCase()))) {
    throw new SourceError(
      `${scope.ref} is not indexed here: this server only knows the files of the work tree. Leave out ref.`,
    );
  }
}

function notIndexed(index: LocalIndex, path: string): never {
  const near = index.nearPaths(path);
  const hint = near.length === 0 ? "search_code finds files by name and content." : `Similar: ${near.join(", ")}`;
  throw new SourceError(`${path} is not in the index. ${hint}`);
}
