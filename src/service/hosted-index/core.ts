/** Look-ups in hosted revisions that the caller has found. Each answer is wholly from the revisions it is asked of. */
import { sql } from "drizzle-orm";
import type { Db } from "../db/client.ts";
import { rowsOf } from "../db/rows.ts";
import { ApiError, invalidBody } from "../../lib/errors.ts";
import { GlobError } from "../../lib/globs.ts";
import { nearPaths } from "../../lib/near-path.ts";
import { findSymbols, outlineFrom } from "../../engines/search/lookups.ts";
import { REFERENCES } from "../../contract/questions.ts";
import { findReferences } from "../../engines/search/references.ts";
import { type InTurn, search } from "../../engines/search/search.ts";
import { digestOfTables } from "../../engines/search/search-index.ts";
import type { QueryVector } from "../../engines/search/similarity.ts";
import {
  type FoundReference,
  type OutlineAnswer,
  type ReferenceAnswer,
  type ReferenceRequest,
  type SearchAnswer,
  SearchFormatError,
  type SearchRequest,
  type SymbolAnswer,
  type SymbolRequest,
} from "../../engines/search/types.ts";
import type { QuestionFiles } from "../../engines/relations/question-files.ts";
import type { UsesIndex } from "../../engines/relations/uses-index.ts";
import type { OpenIndex, SearchCache } from "./cache.ts";
import { contentsAt } from "../revisions/content-at.ts";
import type { FileLines } from "../../interface/questions/code-index.ts";
import { readFile, readOutline } from "./file-text.ts";
import { linesOfText } from "../../interface/questions/file-lines.ts";
import { hasText, textAt } from "./whole-texts/hosted-texts.ts";
import type { TextDeps } from "./whole-texts/text-files.ts";
import type { SearchBucket } from "./store.ts";
import { MAX_NAMED, type Target, type TargetDeps, targetsReading } from "./targets.ts";
import { databaseTexts } from "./texts.ts";
import {
  databaseVectors,
  digestWithVectors,
  MAX_EMBEDDED_CHARACTERS,
  openSections,
  type QueryModel,
  targetsOf,
} from "./vectors.ts";

const REPAIR_WAIT_SEC = 30;
/** Revisions whose paths are searched for ones similar to a path that is missing. */
const MAX_NEAR_TABLES = 10;

export interface SearchDeps extends TargetDeps {
  bucket: SearchBucket;
  cache: SearchCache;
  /** The WebAssembly of regular expressions, for patterns that are more than a text. */
  regexModule: () => Promise<WebAssembly.Module>;
  /** Absent if no model is configured, or if there is no key to charge. */
  model?: QueryModel | undefined;
}

/** A search answer; `digest` covers the vectors where they took part. */
export type Searched = SearchAnswer & { degraded?: "embedding" };

/** Searches revisions. Throws `UNAVAILABLE` for a damaged index, as everything here does, and `INVALID_BODY` for path filters beyond their limits. */
export async function searchTargets(
  deps: SearchDeps,
  targets: readonly Target[],
  request: SearchRequest,
): Promise<Searched> {
  return withIndex(deps, targets, async (open) => {
    const { index } = open;
    const texts = databaseTexts(deps.db, targets);
    const vector = await queryVector(deps, targets, open, request.query);
    const inTurn: InTurn = (bytes, work) => deps.cache.turns.run(targets[0]?.tenantId ?? "", bytes, work);
    const found = vector === "failed" ? undefined : vector;
    const answer = await search(index, request, texts, found?.query, inTurn).catch(refuseGlobs);
    if (found) return { ...answer, digest: found.digest };
    return vector === "failed" ? { ...answer, degraded: "embedding" } : answer;
  });
}

function refuseGlobs(error: unknown): never {
  throw error instanceof GlobError ? invalidBody([{ path: error.field, message: error.problem }]) : error;
}

/** The query's vector and what it is compared with; undefined if the targets have no vectors of the configured model. */
async function queryVector(
  { db, bucket, cache, model, repair }: SearchDeps,
  targets: readonly Target[],
  open: OpenIndex,
  text: string,
): Promise<{ query: QueryVector; digest: string } | "failed" | undefined> {
  if (model === undefined) return undefined;
  // Sections of another version; the answer does without meanwhile.
  const without = targets.filter(({ hasVectors, fingerprint }) => !hasVectors && fingerprint === model.fingerprint);
  await Promise.all(without.map((target) => repair(target)));
  const own = targetsOf(targets, model);
  if (own.length === 0) return undefined;
  const sections = await openSections({ db, bucket, ranges: cache.ranges }, open, own);
  if (!sections) return undefined;
  const vector = await model.embed(text.slice(0, MAX_EMBEDDED_CHARACTERS).toWellFormed());
  if (!vector) return "failed";
  const revisions = own.map((target) => targets.indexOf(target));
  return {
    query: { vector, sections, vectorsOf: databaseVectors(db, targets, model.fingerprint) },
    digest: digestWithVectors(open.index.digest, model.fingerprint, revisions),
  };
}

/** Definitions by name. */
export async function symbolsIn(
  deps: SearchDeps,
  targets: readonly Target[],
  request: SymbolRequest,
): Promise<SymbolAnswer> {
  return withIndex(deps, targets, ({ index }) => findSymbols(index, request, databaseTexts(deps.db, targets)));
}

/**
 * Uses of a name in several revisions, in order of revision. They are opened one after another until the limit is
 * reached, so for a name that is used often in the first repository only that one is opened.
 */
export async function referencesAcross(
  deps: SearchDeps,
  targets: readonly Target[],
  request: ReferenceRequest,
): Promise<ReferenceAnswer> {
  const most = request.limit ?? REFERENCES.limit.default;
  const references: FoundReference[] = [];
  let truncated = false;
  let total = 0;
  for (const [revision, target] of targets.entries()) {
    const limit = most - references.length;
    if (limit <= 0) return { references, total, truncated: true };
    const answer = await withIndex(deps, [target], ({ index }) =>
      findReferences(index, { ...request, limit }, databaseTexts(deps.db, [target])),
    );
    references.push(...answer.references.map((found) => ({ ...found, revision })));
    total += answer.total;
    truncated ||= answer.truncated;
  }
  return { references, total, truncated };
}

/**
 * Gives a function the uses of the files of one of some revisions, and these with those of all of them, as they are stored: nothing is parsed
 * here.
 */
export async function withUsesIn<T>(
  deps: SearchDeps,
  targets: readonly Target[],
  revision: number,
  work: (files: UsesIndex, all: QuestionFiles) => Promise<T>,
): Promise<T> {
  const { UsesIndex } = await import("../../engines/relations/uses-index.ts");
  const target = targets[revision] as Target;
  // Opened alone, because words and names are counted over all files of an index.
  return withIndex(deps, [target], async (one) => {
    const home = new UsesIndex(one.index, databaseTexts(deps.db, [target]));
    if (targets.length === 1) return work(home, home);
    const { Repositories } = await import("../../engines/relations/repositories.ts");
    return withIndex(deps, targets, async ({ index }) => {
      const texts = databaseTexts(deps.db, targets);
      const identities = targets.map(({ repo }) => repo);
      return work(home, new Repositories({ index, texts, home, revision, identities }));
    });
  });
}

/** Symbols of a file, from the database; undefined if the revision has no such path. */
export async function outlineIn({ db }: SearchDeps, target: Target, path: string): Promise<OutlineAnswer | undefined> {
  const found = await readOutline(db, target, path);
  return found && { language: found.language, symbols: outlineFrom(found.symbols, found.signatures) };
}

/**
 * Lines of a file; undefined if the revision has no such path. Of an indexed file whose text cannot be read, they are put together from
 * its chunks.
 */
export async function linesIn(
  deps: SearchDeps,
  target: Target,
  path: string,
  { start, end }: { start?: number | undefined; end?: number | undefined },
): Promise<FileLines | undefined> {
  const found = await textAt(textDeps(deps), target, path);
  if (found !== undefined && found !== "missing") return linesOfText(found.text, found.language, start, end);
  const lines = await readFile(deps.db, target, path, start, end);
  if (lines || found === undefined) return lines;
  throw new ApiError(
    "UNAVAILABLE",
    `path: the text of ${path} is damaged: it is stored again by the workspace's next run`,
    {
      headers: { "Retry-After": String(REPAIR_WAIT_SEC) },
    },
  );
}

/** What the texts of revisions are read with. */
export function textDeps({ db, bucket, cache, repair, regexModule }: SearchDeps): TextDeps {
  return { db, bucket, texts: cache.texts, repair, regexModule };
}

/** How many of some paths each target has, in one round trip. */
export async function pathCounts(db: Db, targets: readonly Target[], paths: readonly string[]): Promise<number[]> {
  const rows = await rowsOf<{ at: number; count: number }>(
    db,
    sql`select w.at, count(*)::int as count from ${contentsAt(
      targets.flatMap((target, at) => paths.map((path) => ({ ...target, at, path }))),
      [["at", "int", ({ at }) => at]],
    )} group by w.at`,
  );
  const counts = new Map(rows.map(({ at, count }) => [at, count]));
  return targets.map((_, at) => counts.get(at) ?? 0);
}

/** Positions of the targets that have the path, whether it is indexed or only searched. */
export async function targetsListing(deps: SearchDeps, targets: readonly Target[], path: string): Promise<number[]> {
  if (targets.length <= 1) return [...targets.keys()];
  const counts = await pathCounts(deps.db, targets, [path]);
  const indexed = [...counts.keys()].filter((at) => counts[at] !== 0);
  if (indexed.length > 0) return indexed;
  const listed: number[] = [];
  for (const [at, target] of targets.entries()) if (await hasText(textDeps(deps), target, path)) listed.push(at);
  return listed;
}

/** Digest of revisions: of their open index, else from their tables, which open without the segments. */
export async function digestOf(deps: SearchDeps, targets: readonly Target[]): Promise<string> {
  const opened = deps.cache.opened(targets);
  if (opened) return opened.index.digest;
  const readDigests = () => Promise.all(targets.map((target) => deps.cache.digestOf(deps.bucket, target)));
  return digestOfTables(await withRepair(deps, targets, readDigests));
}

/** Up to five paths that may have been meant, of the first ten revisions. */
export async function nearPathsIn(deps: SearchDeps, targets: readonly Target[], path: string): Promise<string[]> {
  const known = new Set<string>();
  for (const target of targets.slice(0, MAX_NEAR_TABLES)) {
    const { paths } = await withRepair(deps, [target], () => deps.cache.openTable(deps.bucket, target));
    for (const one of paths) known.add(one);
  }
  return nearPaths(known, path);
}

function withIndex<T>(
  deps: SearchDeps,
  targets: readonly Target[],
  answer: (open: OpenIndex) => Promise<T>,
): Promise<T> {
  return withRepair(deps, targets, async () => answer(await deps.cache.open(deps.bucket, targets)));
}

/**
 * Reads an index. If an object of it is damaged, the revisions that read that object are rebuilt, and the client is told which they
 * are and to come back. An answer over all workspaces is refused too: without one of them it would be wrong and look complete.
 */
async function withRepair<T>(deps: SearchDeps, targets: readonly Target[], read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof SearchFormatError)) throw error;
    deps.cache.forget(targets, error.source);
    const damaged = await targetsReading(deps.db, targets, error.source);
    await Promise.all(damaged.map((target) => deps.repair(target)));
    const names = damaged.slice(0, MAX_NAMED).map(({ repo, workspaceId }) => repo ?? workspaceId);
    const which = names.length === 0 ? "the search index" : `the search index of ${names.join(", ")}`;
    throw new ApiError("UNAVAILABLE", `${which} is damaged and is being rebuilt; try again`, {
      headers: { "Retry-After": String(REPAIR_WAIT_SEC) },
      cause: error,
    });
  }
}
