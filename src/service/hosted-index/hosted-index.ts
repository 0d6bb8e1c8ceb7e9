import { sql } from "drizzle-orm";
import type { Parameters, Request } from "../../contract/questions.ts";
import type { Db } from "../db/client.ts";
import { rowsOf } from "../db/rows.ts";
import { answerFrom } from "../../interface/questions/answer.ts";
import {
  type Answered,
  type Caller,
  type CodeIndex,
  type FileLines,
  type IndexInfo,
  NotFoundError,
  type InOneIndex,
  type OpenIndexes,
  type Question,
  QuestionError,
  type RepoInfo,
  type RepoList,
  type Scope,
} from "../../interface/questions/code-index.ts";
import { hostedInfo } from "../../interface/questions/http.ts";
import type { RevisionTexts } from "../../engines/exact/types.ts";
import type { OutlineAnswer, ReferenceRequest, SearchRequest, SymbolRequest } from "../../engines/search/types.ts";
import type { QuestionFiles } from "../../engines/relations/question-files.ts";
import type { UsesIndex } from "../../engines/relations/uses-index.ts";
import {
  digestOf,
  linesIn,
  nearPathsIn,
  outlineIn,
  pathCounts,
  referencesAcross,
  type SearchDeps,
  searchTargets,
  symbolsIn,
  targetsListing,
  textDeps,
  withUsesIn,
} from "./core.ts";
import { beingRewritten, findTargets, readTargets, type Target } from "./targets.ts";
import { HostedTexts } from "./whole-texts/hosted-texts.ts";

/** A hosted revision, as answers name it. */
type HostedInfo = IndexInfo & Target;

/** The hosted indexes that a caller may read. */
export class HostedIndex implements CodeIndex<HostedInfo>, RepoList {
  readonly #deps: SearchDeps;
  readonly #caller: Caller;

  constructor(deps: SearchDeps, caller: Caller) {
    this.#deps = deps;
    this.#caller = caller;
  }

  /** Also throws `INVALID_SELECTOR`, `NO_WORKSPACE`, `NO_INDEX` and `UNAVAILABLE`, which are errors of the contract. */
  async ask<P extends Parameters, Answer extends object>(
    question: Question<P, Answer>,
    scope: Scope,
    request: Request<P>,
  ): Promise<Answered<Answer, HostedInfo>> {
    return this.#deps.cache.questions.run(this.#caller.tenantId, 1, async () => {
      const { targets, leftOut } = await findTargets(this.#deps, this.#caller, scope);
      const opened = new OpenTargets(this.#deps, targets);
      if (leftOut.length === 0) return answerFrom(opened, question, request);
      const answer = await answerFrom(opened, question, request).catch((error: unknown): never => {
        // It may be in what was left out.
        throw error instanceof NotFoundError ? beingRewritten(leftOut) : error;
      });
      return { ...answer, leftOut: leftOut.map(({ repo, workspaceId }) => ({ repo, workspaceId })) };
    });
  }

  async repos(): Promise<RepoInfo[]> {
    const { targets, outdated } = await readTargets(this.#deps.db, this.#caller, {});
    const all = [...targets, ...outdated];
    const counts = await fileCounts(this.#deps.db, all);
    return all.map((target) => Object.assign(hostedInfo(target), { fileCount: counts.get(target.workspaceId) ?? 0 }));
  }
}

/** With more indexes in scope, their lists of files are not read for what is left out. */
const MAX_LISTED = 5;

/** Revisions that were found for one question. */
class OpenTargets implements OpenIndexes<HostedInfo> {
  readonly indexes: readonly HostedInfo[];
  readonly #deps: SearchDeps;
  #digest: Promise<string> | undefined;

  constructor(deps: SearchDeps, targets: readonly Target[]) {
    this.#deps = deps;
    // Revisions of overlays have numbers below zero.
    this.indexes = targets.map((target) => hostedInfo(target, target.seq < 0));
  }

  digest(): Promise<string> {
    return (this.#digest ??= digestOf(this.#deps, this.indexes));
  }

  search(request: SearchRequest) {
    return searchTargets(this.#deps, this.indexes, request);
  }

  symbols(request: SymbolRequest) {
    return symbolsIn(this.#deps, this.indexes, request);
  }

  references(request: ReferenceRequest) {
    return referencesAcross(this.#deps, this.indexes, request);
  }

  outline(path: string): Promise<InOneIndex<OutlineAnswer> | undefined> {
    return this.#inOne(path, (target) => outlineIn(this.#deps, target, path));
  }

  async file(
    path: string,
    start?: number,
    end?: number,
    revision?: number,
  ): Promise<InOneIndex<FileLines> | undefined> {
    const linesOf = (target: Target) => linesIn(this.#deps, target, path, { start, end });
    const named = revision === undefined ? undefined : this.indexes[revision];
    if (revision === undefined || named === undefined) return this.#inOne(path, linesOf);
    const found = await linesOf(named);
    return found && { ...found, revision };
  }

  async texts(): Promise<RevisionTexts> {
    // Read meanwhile, since it is in no text; an error is thrown where it is awaited.
    this.digest().catch(() => undefined);
    return new HostedTexts(textDeps(this.#deps), this.indexes);
  }

  async tooLarge(): Promise<string[] | undefined> {
    if (this.indexes.length > MAX_LISTED) return undefined;
    const files = await (await this.texts()).files();
    return files.flatMap(({ path, reason, language }) => (reason === "too_large" && language !== null ? [path] : []));
  }

  having(paths: readonly string[]) {
    return pathCounts(this.#deps.db, this.indexes, paths);
  }

  nearPaths(path: string) {
    return nearPathsIn(this.#deps, this.indexes, path);
  }

  withUses<T>(revision: number, work: (files: UsesIndex, all: QuestionFiles) => Promise<T>): Promise<T> {
    return withUsesIn(this.#deps, this.indexes, revision, work);
  }

  /** Asks the one revision that has the path. */
  async #inOne<T>(
    path: string,
    answer: (target: Target) => Promise<T | undefined>,
  ): Promise<InOneIndex<T> | undefined> {
    const [revision, ...others] = await targetsListing(this.#deps, this.indexes, path);
    const target = revision === undefined ? undefined : this.indexes[revision];
    if (revision === undefined || target === undefined) return undefined;
    if (others.length > 0) {
      const names = [revision, ...others].map((each) => this.indexes[each]?.name);
      const message = `path: ${path} is in several repositories; name one as repo: ${names.join(", ")}`;
      throw new QuestionError("INVALID_SELECTOR", message);
    }
    const found = await answer(target);
    return found && { ...found, revision };
  }
}

async function fileCounts(db: Db, targets: readonly Pick<Target, "workspaceId">[]): Promise<Map<string, number>> {
  if (targets.length === 0) return new Map();
  const ids = targets.map(({ workspaceId }) => workspaceId);
  const rows = await rowsOf<{ id: string; count: number }>(
    db,
    sql`select r.workspace_id as id, r.file_count::int as count from revisions r join workspaces w on w.id = r.workspace_id and w.current_seq = r.seq
        where r.workspace_id = any(${`{${ids.join(",")}}`}::uuid[])`,
  );
  return new Map(rows.map(({ id, count }) => [id, count]));
}
