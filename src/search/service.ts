/** The answers of hosted search. Each is wholly from the revisions that it names. */
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
import { ApiError } from "../errors.ts";
import { findSymbols, nearPaths, outlineOf } from "../retrieval/lookups.ts";
import { findReferences } from "../retrieval/references.ts";
import { search as searchIndex } from "../retrieval/search.ts";
import type { SearchIndex } from "../retrieval/search-index.ts";
import { SearchFormatError } from "../retrieval/types.ts";
import type { SearchCache } from "./cache.ts";
import { readFile } from "./file-text.ts";
import type { SearchBucket } from "./store.ts";
import { findTargets, type Target, type TargetRequest } from "./targets.ts";
import { databaseTexts } from "./texts.ts";

const NEAR_NAMES = 5;
const REPAIR_WAIT_SEC = 30;

export interface SearchDeps {
  db: Db;
  bucket: SearchBucket;
  cache: SearchCache;
  /** Has the search index of a revision rebuilt; called when it turns out to be damaged. */
  repair: (target: Target) => Promise<void>;
}

/** `POST /search`. Throws `INVALID_SELECTOR`, `NO_WORKSPACE`, `NO_INDEX`, `UNAVAILABLE`. */
export async function search(deps: SearchDeps, tenantId: string, request: SearchRequest): Promise<SearchResponse> {
  const targets = await findTargets(deps.db, tenantId, request);
  return withIndex(deps, targets, async (index) => {
    const answer = await searchIndex(index, request, databaseTexts(deps.db, targets));
    const results = answer.results.map(({ revision, ...result }) => {
      const { repo, workspaceId, gitSha } = targets[revision] as Target;
      return { repo, workspaceId, gitSha, ...result };
    });
    return {
      ok: true,
      results,
      indexes: indexesOf(targets, index),
      truncated: answer.truncated,
      tokens: answer.tokens,
    };
  });
}

/** `GET /symbols`. Throws as `search` does, and `NOT_FOUND` with near names. */
export async function symbols(deps: SearchDeps, tenantId: string, query: SymbolsQuery): Promise<SymbolsResponse> {
  const targets = await findOne(deps.db, tenantId, query);
  return withIndex(deps, targets, async (index) => {
    const texts = databaseTexts(deps.db, targets);
    const answer = await findSymbols(index, query, texts);
    if (answer.symbols.length === 0) throw await noSuchName(index, query.name, texts);
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
      indexes: indexesOf(targets, index),
    };
  });
}

/** `GET /references`. Throws as `symbols` does. */
export async function references(
  deps: SearchDeps,
  tenantId: string,
  query: ReferencesQuery,
): Promise<ReferencesResponse> {
  const targets = await findOne(deps.db, tenantId, query);
  return withIndex(deps, targets, async (index) => {
    const texts = databaseTexts(deps.db, targets);
    const answer = await findReferences(index, query, texts);
    if (answer.references.length === 0) {
      // A name that is defined and never used is an answer; one that nobody knows is not.
      const { symbols: known } = await findSymbols(index, { name: query.name, match: "exact", limit: 1 }, texts);
      if (known.length === 0) throw await noSuchName(index, query.name, texts);
    }
    return {
      ok: true,
      references: answer.references.map(({ path, line, text, enclosing }) => ({ path, line, text, enclosing })),
      by: "name",
      truncated: answer.truncated,
      indexes: indexesOf(targets, index),
    };
  });
}

/** `GET /outline`. Throws as `search` does, and `NOT_FOUND` with near paths. */
export async function outline(deps: SearchDeps, tenantId: string, query: OutlineQuery): Promise<OutlineResponse> {
  const targets = await findOne(deps.db, tenantId, query);
  return withIndex(deps, targets, async (index) => {
    const answer = await outlineOf(index, 0, query.path, databaseTexts(deps.db, targets));
    if (!answer) throw noSuchPath(index, query.path);
    const { language, symbols: found } = answer;
    return { ok: true, path: query.path, language, outline: found, indexes: indexesOf(targets, index) };
  });
}

/** `GET /file`. Throws as `outline` does. */
export async function file(deps: SearchDeps, tenantId: string, query: FileQuery): Promise<FileResponse> {
  const { path, start, end } = query;
  if (start !== undefined && end !== undefined && end < start)
    throw new ApiError("INVALID_BODY", "end: must not be below start");
  const targets = await findOne(deps.db, tenantId, query);
  return withIndex(deps, targets, async (index) => {
    const text = await readFile(deps.db, targets[0] as Target, path, start, end);
    if (!text) throw noSuchPath(index, path);
    return { ok: true, path, ...text, indexes: indexesOf(targets, index) };
  });
}

/** The revision of a request that must name a workspace. */
async function findOne(db: Db, tenantId: string, request: TargetRequest): Promise<Target[]> {
  if (request.repo === undefined && request.workspaceId === undefined) {
    throw new ApiError("INVALID_SELECTOR", "send exactly one of workspaceId and repo");
  }
  return findTargets(db, tenantId, request);
}

/** Opens the index and answers; a damaged one is rebuilt, and the client told to come back. */
export async function withIndex<T>(
  deps: SearchDeps,
  targets: readonly Target[],
  answer: (index: SearchIndex) => Promise<T>,
): Promise<T> {
  try {
    return await answer(await deps.cache.open(deps.bucket, targets));
  } catch (error) {
    if (!(error instanceof SearchFormatError)) throw error;
    await Promise.all(targets.map((target) => deps.repair(target)));
    throw new ApiError("UNAVAILABLE", "the search index is damaged and is being rebuilt; try again", {
      headers: { "Retry-After": String(REPAIR_WAIT_SEC) },
      cause: error,
    });
  }
}

function indexesOf(targets: readonly Target[], index: SearchIndex): SearchedIndex[] {
  return targets.map(({ repo, workspaceId, ref, gitSha, indexedAt, fingerprint }) => ({
    repo,
    workspaceId,
    ref,
    gitSha,
    indexedAt,
    fingerprint,
    digest: index.digest,
  }));
}

function noSuchPath(index: SearchIndex, path: string): ApiError {
  const near = nearPaths(index, 0, path);
  return new ApiError("NOT_FOUND", `path: the revision has no ${path}${didYouMean(near)}`, { details: { near } });
}

async function noSuchName(
  index: SearchIndex,
  name: string,
  texts: Parameters<typeof findSymbols>[2],
): Promise<ApiError> {
  const { symbols: found } = await findSymbols(index, { name, match: "fuzzy", limit: 50 }, texts);
  const near = [...new Set(found.map(({ qualifiedName }) => qualifiedName))].slice(0, NEAR_NAMES);
  return new ApiError("NOT_FOUND", `name: the revision has no ${name}${didYouMean(near)}`, { details: { near } });
}

function didYouMean(near: readonly string[]): string {
  return near.length === 0 ? "" : `; near: ${near.join(", ")}`;
}
