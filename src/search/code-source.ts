import { Uuid } from "../contract/indexing.ts";
import type { Db } from "../db/client.ts";
import { rowsOf } from "../db/rows.ts";
import { sql } from "drizzle-orm";
import { ApiError } from "../errors.ts";
import {
  type Answered,
  type CodeSource,
  type FileText,
  type IndexInfo,
  type RepoInfo,
  type Scope,
  SourceError,
} from "../mcp/source.ts";
import { findSymbols, nearPaths, outlineOf } from "../retrieval/lookups.ts";
import { findReferences } from "../retrieval/references.ts";
import { search } from "../retrieval/search.ts";
import type { SearchIndex } from "../retrieval/search-index.ts";
import type { OutlineAnswer, ReferenceRequest, SearchRequest, SymbolRequest, TextSource } from "../retrieval/types.ts";
import { readFile } from "./file-text.ts";
import { type SearchDeps, withIndex } from "./service.ts";
import { findTargets, type Target } from "./targets.ts";
import { databaseTexts } from "./texts.ts";

/** The hosted indexes of a tenant, for the MCP tools. A workspace without a repository goes by its id. */
export class HostedSource implements CodeSource {
  readonly #deps: SearchDeps;
  readonly #tenantId: string;

  constructor(deps: SearchDeps, tenantId: string) {
    this.#deps = deps;
    this.#tenantId = tenantId;
  }

  search(scope: Scope, request: SearchRequest) {
    return this.#ask(scope, (index, texts) => search(index, request, texts));
  }

  symbols(scope: Scope, request: SymbolRequest) {
    return this.#ask(scope, (index, texts) => findSymbols(index, request, texts));
  }

  references(scope: Scope, request: ReferenceRequest) {
    return this.#ask(scope, (index, texts) => findReferences(index, request, texts));
  }

  outline(scope: Scope, path: string): Promise<Answered<OutlineAnswer>> {
    return this.#askFile(scope, path, async (index, revision, targets) =>
      outlineOf(index, revision, path, databaseTexts(this.#deps.db, targets)),
    );
  }

  readFile(scope: Scope, path: string, startLine?: number, endLine?: number): Promise<Answered<FileText>> {
    return this.#askFile(scope, path, async (_index, revision, targets) => {
      const text = await readFile(this.#deps.db, targets[revision] as Target, path, startLine, endLine);
      return text && { path, ...text };
    });
  }

  async listRepos(): Promise<RepoInfo[]> {
    const targets = await findTargets(this.#deps.db, this.#tenantId, {});
    const counts = await fileCounts(this.#deps.db, targets);
    return targets.map((target) => Object.assign(infoOf(target), { fileCount: counts.get(target.workspaceId) ?? 0 }));
  }

  async #targets({ repo, ref }: Scope): Promise<Target[]> {
    const isId = repo !== undefined && Uuid.safeParse(repo).success;
    const selector = repo === undefined ? {} : isId ? { workspaceId: repo } : { repo };
    const targets = await findTargets(this.#deps.db, this.#tenantId, { ...selector, ref });
    if (targets.length > 0) return targets;
    throw new SourceError(ref === undefined ? "Nothing is indexed yet." : `${ref} is not indexed in any repository.`);
  }

  #ask<T extends object>(
    scope: Scope,
    use: (index: SearchIndex, texts: TextSource) => Promise<T>,
  ): Promise<Answered<T>> {
    return explained(async () => {
      const targets = await this.#targets(scope);
      return withIndex(this.#deps, targets, async (index) => ({
        ...(await use(index, databaseTexts(this.#deps.db, targets))),
        indexes: targets.map(infoOf),
      }));
    });
  }

  /** Asks for a file of the one repository that has it. */
  #askFile<T extends object>(
    scope: Scope,
    path: string,
    use: (index: SearchIndex, revision: number, targets: readonly Target[]) => Promise<T | undefined>,
  ): Promise<Answered<T>> {
    return explained(async () => {
      const targets = await this.#targets(scope);
      return withIndex(this.#deps, targets, async (index) => {
        const having = targets.flatMap((_, revision) => (index.fileAt(revision, path) === undefined ? [] : [revision]));
        const [revision, ...others] = having;
        if (revision !== undefined && others.length > 0) {
          const repos = having.map((at) => infoOf(targets[at] as Target).repo);
          throw new SourceError(`${path} is in several repositories; name one as repo: ${repos.join(", ")}`);
        }
        const answer = revision === undefined ? undefined : await use(index, revision, targets);
        if (revision === undefined || answer === undefined) throw noSuchPath(index, targets, path);
        return { ...answer, indexes: [infoOf(targets[revision] as Target)] };
      });
    });
  }
}

function infoOf({ repo, workspaceId, gitSha, indexedAt }: Target): IndexInfo {
  return { repo: repo ?? workspaceId, gitSha, indexedAtMs: Date.parse(indexedAt), isWorkTree: false };
}

function noSuchPath(index: SearchIndex, targets: readonly Target[], path: string): SourceError {
  const near = targets.flatMap((_, revision) => nearPaths(index, revision, path)).slice(0, 5);
  const hint = near.length === 0 ? "search_code finds files by name and content." : `Similar: ${near.join(", ")}`;
  return new SourceError(`${path} is not in the index. ${hint}`);
}

/** Passes the texts of the contract's errors on; they are fit for strangers. */
async function explained<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw error instanceof ApiError ? new SourceError(error.message) : error;
  }
}

async function fileCounts(db: Db, targets: readonly Target[]): Promise<Map<string, number>> {
  if (targets.length === 0) return new Map();
  const ids = targets.map(({ workspaceId }) => workspaceId);
  const rows = await rowsOf<{ id: string; count: number }>(
    db,
    sql`select r.workspace_id as id, r.file_count::int as count from revisions r join workspaces w on w.id = r.workspace_id and w.current_seq = r.seq
        where r.workspace_id = any(${`{${ids.join(",")}}`}::uuid[])`,
  );
  return new Map(rows.map(({ id, count }) => [id, count]));
}
