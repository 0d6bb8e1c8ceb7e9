/** The search routes' answers. */
import type {
  FileQuery,
  FileResponse,
  OutlineQuery,
  OutlineResponse,
  ReferencesQuery,
  ReferencesResponse,
  SearchedIndex,
  SearchRequest,
  SearchResponse,
  SymbolsQuery,
  SymbolsResponse,
} from "../contract/search.ts";
import type { Db } from "../db/client.ts";
import { ApiError, invalidBody } from "../errors.ts";
import {
  digestOf,
  linesIn,
  nearPathsIn,
  outlineIn,
  referencesIn,
  type SearchDeps,
  searchTargets,
  symbolsIn,
} from "./core.ts";
import { findTargets, type Target, type TargetRequest } from "./targets.ts";

/** `POST /search`. Throws `INVALID_SELECTOR`, `NO_WORKSPACE`, `NO_INDEX`, `UNAVAILABLE`. */
export async function search(deps: SearchDeps, tenantId: string, request: SearchRequest): Promise<SearchResponse> {
  const targets = await findTargets(deps.db, tenantId, request);
  const answer = await searchTargets(deps, targets, request);
  const results = answer.results.map(({ revision, ...result }) => {
    const { repo, workspaceId, gitSha } = targets[revision] as Target;
    return { repo, workspaceId, gitSha, ...result };
  });
  return {
    ok: true,
    results,
    indexes: indexesOf(targets, answer.digest),
    truncated: answer.truncated,
    tokens: answer.tokens,
    ...(answer.degraded !== undefined && { degraded: answer.degraded }),
  };
}

/** `GET /symbols`. Throws as `search` does, and `NOT_FOUND` with near names. */
export async function symbols(deps: SearchDeps, tenantId: string, query: SymbolsQuery): Promise<SymbolsResponse> {
  const target = await findOne(deps.db, tenantId, query);
  const answer = await symbolsIn(deps, [target], query);
  if (answer.symbols.length === 0) throw notFound("name", query.name, answer.near);
  return {
    ok: true,
    symbols: answer.symbols.map(({ name, qualifiedName, kind, signature, path, startLine, endLine }) => ({
      name,
      qualifiedName,
      kind,
      signature,
      path,
      startLine,
      endLine,
    })),
    match: answer.match,
    truncated: answer.truncated,
    indexes: indexesOf([target], answer.digest),
  };
}

/** `GET /references`. Throws as `symbols` does. */
export async function references(
  deps: SearchDeps,
  tenantId: string,
  query: ReferencesQuery,
): Promise<ReferencesResponse> {
  const target = await findOne(deps.db, tenantId, query);
  const answer = await referencesIn(deps, target, query);
  if (!answer.isKnown) throw notFound("name", query.name, answer.near);
  return {
    ok: true,
    references: answer.references.map(({ path, line, text, enclosing }) => ({ path, line, text, enclosing })),
    by: "name",
    truncated: answer.truncated,
    indexes: indexesOf([target], answer.digest),
  };
}

/** `GET /outline`. Throws as `search` does, and `NOT_FOUND` with near paths. */
export async function outline(deps: SearchDeps, tenantId: string, query: OutlineQuery): Promise<OutlineResponse> {
  const { path } = query;
  const target = await findOne(deps.db, tenantId, query);
  const [answer, digest] = await Promise.all([outlineIn(deps, target, path), digestOf(deps, target)]);
  if (!answer) throw notFound("path", path, await nearPathsIn(deps, [target], path));
  const { language, symbols: found } = answer;
  return { ok: true, path, language, outline: found, indexes: indexesOf([target], digest) };
}

/** `GET /file`. Throws as `outline` does. */
export async function file(deps: SearchDeps, tenantId: string, query: FileQuery): Promise<FileResponse> {
  const { path, start, end } = query;
  if (start !== undefined && end !== undefined && end < start)
    throw invalidBody([{ path: "end", message: "must not be below start" }]);
  const target = await findOne(deps.db, tenantId, query);
  const [lines, digest] = await Promise.all([linesIn(deps, target, path, { start, end }), digestOf(deps, target)]);
  if (!lines) throw notFound("path", path, await nearPathsIn(deps, [target], path));
  return { ok: true, path, ...lines, indexes: indexesOf([target], digest) };
}

/** The revision of a request that must name a workspace. */
async function findOne(db: Db, tenantId: string, request: TargetRequest): Promise<Target> {
  if (request.repo === undefined && request.workspaceId === undefined) {
    throw new ApiError("INVALID_SELECTOR", "send exactly one of workspaceId and repo");
  }
  const [target] = await findTargets(db, tenantId, request);
  if (target) return target;
  throw new ApiError("NO_WORKSPACE", "no workspace of this tenant matches the selector");
}

function indexesOf(targets: readonly Target[], digest: string): SearchedIndex[] {
  return targets.map(({ repo, workspaceId, ref, gitSha, indexedAt, fingerprint }) => ({
    repo,
    workspaceId,
    ref,
    gitSha,
    indexedAt,
    fingerprint,
    digest,
  }));
}

function notFound(field: "name" | "path", value: string, near: readonly string[]): ApiError {
  const hint = near.length === 0 ? "" : `; near: ${near.join(", ")}`;
  return new ApiError("NOT_FOUND", `${field}: the revision has no ${value}${hint}`, { details: { near: [...near] } });
}
