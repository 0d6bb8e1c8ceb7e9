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
import { DEFAULT_REFERENCE_LIMIT } from "../retrieval/references.ts";
import type { ReferenceRequest, SearchRequest, SymbolRequest } from "../retrieval/types.ts";
import {
  linesIn,
  nearPathsIn,
  outlineIn,
  referencesAcross,
  type SearchDeps,
  searchTargets,
  symbolsIn,
  targetsWith,
} from "./core.ts";
import { findTargets, type Target } from "./targets.ts";

/** The hosted indexes of a tenant, for the MCP tools. A workspace without a repository goes by its id. */
export class HostedSource implements CodeSource {
  readonly #deps: SearchDeps;
  readonly #tenantId: string;

  constructor(deps: SearchDeps, tenantId: string) {
    this.#deps = deps;
    this.#tenantId = tenantId;
  }

  search(scope: Scope, request: SearchRequest) {
    return this.#ask(scope, (targets) => searchTargets(this.#deps, targets, request));
  }

  symbols(scope: Scope, request: SymbolRequest) {
    return this.#ask(scope, (targets) => symbolsIn(this.#deps, targets, request));
  }

  references(scope: Scope, request: ReferenceRequest) {
    const limit = request.limit ?? DEFAULT_REFERENCE_LIMIT;
    return this.#ask(scope, (targets) => referencesAcross(this.#deps, targets, { ...request, limit }));
  }

  outline(scope: Scope, path: string) {
    return this.#askFile(scope, path, (target) => outlineIn(this.#deps, target, path));
  }

  readFile(scope: Scope, path: string, start?: number, end?: number): Promise<Answered<FileText>> {
    return this.#askFile(scope, path, async (target) => {
      const lines = await linesIn(this.#deps, target, path, { start, end });
      return lines && { path, ...lines };
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

  #ask<T extends object>(scope: Scope, answer: (targets: readonly Target[]) => Promise<T>): Promise<Answered<T>> {
    return explained(async () => {
      const targets = await this.#targets(scope);
      return { ...(await answer(targets)), indexes: targets.map(infoOf) };
    });
  }

  /** Asks for a file of the one repository that has it. */
  #askFile<T extends object>(
    scope: Scope,
    path: string,
    answer: (target: Target) => Promise<T | undefined>,
  ): Promise<Answered<T>> {
    return explained(async () => {
      const targets = await this.#targets(scope);
      const [target, ...others] = await targetsWith(this.#deps.db, targets, path);
      if (target !== undefined && others.length > 0) {
        const repos = [target, ...others].map((each) => infoOf(each).repo);
        throw new SourceError(`${path} is in several repositories; name one as repo: ${repos.join(", ")}`);
      }
      const found = target && (await answer(target));
      if (target === undefined || found === undefined) {
        const near = await nearPathsIn(this.#deps, targets, path);
        const hint = near.length === 0 ? "search_code finds files by name and content." : `Similar: ${near.join(", ")}`;
        throw new SourceError(`${path} is not in the index. ${hint}`);
      }
      return { ...found, indexes: [infoOf(target)] };
    });
  }
}

function infoOf({ repo, workspaceId, gitSha, indexedAt }: Target): IndexInfo {
  return { repo: repo ?? workspaceId, gitSha, indexedAtMs: Date.parse(indexedAt), isWorkTree: false };
}

/** Turns the contract's errors, whose texts callers may see, into errors of the source. */
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
