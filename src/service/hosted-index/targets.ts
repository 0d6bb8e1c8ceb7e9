/** Which revisions a request reads: one round trip to the database, by tenant always. */
import { type SQL, sql } from "drizzle-orm";
import type { SearchedIndex } from "../../contract/search.ts";
import { unnest } from "../db/arrays.ts";
import type { Db } from "../db/client.ts";
import { rowsOf } from "../db/rows.ts";
import { ApiError } from "../../lib/errors.ts";
import { endingWith, nearRepo } from "../../lib/near-repo.ts";
import { normalizeRepo } from "../../lib/repo.ts";
import { isUuid } from "../../lib/uuid.ts";
import { revisionOf } from "../revisions/refs.ts";
import type { Caller, Scope } from "../../interface/questions/code-index.ts";
import { owns, parseSelector, selects } from "../revisions/selectors.ts";
import { NO_TABLE, TABLE_ID_PREFIX, VECTOR_ID_PREFIX } from "./store.ts";

/** A revision to read. */
export interface Target extends Omit<SearchedIndex, "digest"> {
  tenantId: string;
  seq: number;
  /** As in `src/service/revisions/files.ts`. */
  baseSeq: number | null;
  /** Id of its table. */
  table: string;
  /** Id of its file list; null if whole texts are not stored. */
  textList: string | null;
  /** Whether its segments have vector sections of this version. */
  hasVectors: boolean;
}

interface TargetRow {
  id: string;
  repo: string | null;
  default_branch: string | null;
  seq: number | null;
  base_seq: number | null;
  git_sha: string | null;
  indexed_at: string | null;
  fingerprint: string | null;
  search_table: string | null;
  text_list: string | null;
  has_vectors: boolean;
}

/** What finding targets needs. */
export interface TargetDeps {
  db: Db;
  /** Has the search index of a revision checked, and rebuilt if it is damaged or of another version. */
  repair: (revision: Pick<Target, "tenantId" | "workspaceId" | "seq">) => Promise<void>;
}

/** A revision whose search index is of another version of the service. */
type Outdated = Omit<Target, "table" | "hasVectors">;

/** Seconds after which a client may ask again for a revision whose search index is being rewritten. */
const REWRITE_WAIT_SEC = 10;
/** Workspaces that an error names, and an answer as left out. */
export const MAX_NAMED = 5;
/**
 * Rewrites that one question requests, each with a message. After an upgrade all repositories of a tenant are outdated; `requestRebuilds`
 * finds those that no question has requested.
 */
const MAX_REPAIRS = 20;

/**
 * The revisions that a request reads, in order of repository and workspace. Throws `INVALID_SELECTOR`, `NO_WORKSPACE` for a selector
 * that the tenant does not own, `NO_INDEX` for a workspace or ref that is not indexed. If another version of the service wrote the
 * search index of some of them, has those rewritten and names them in `leftOut`; throws `UNAVAILABLE` if nothing else is left to read.
 */
export async function findTargets(
  deps: TargetDeps,
  caller: Caller,
  request: Scope,
): Promise<{ targets: Target[]; leftOut: Outdated[] }> {
  const { targets, outdated } = await readTargets(deps.db, caller, await named(deps.db, caller, request)).catch(
    async (error: unknown) => {
      throw (await withNeighbour(deps.db, caller, request, error)) ?? error;
    },
  );
  await Promise.all(outdated.slice(0, MAX_REPAIRS).map((revision) => deps.repair(revision)));
  if (targets.length === 0 && outdated.length > 0) throw beingRewritten(outdated);
  return { targets, leftOut: outdated };
}

/** The scope with the whole identity of a repository that is named in short: `owner/name` or `name`. Throws `INVALID_SELECTOR` if several end so. */
async function named(db: Db, caller: Caller, scope: Scope): Promise<Scope> {
  const { repo } = scope;
  if (repo === undefined || scope.workspaceId !== undefined || normalizeRepo(repo) !== undefined) return scope;
  const [identity, ...others] = endingWith(repo, await identitiesOf(db, caller));
  if (identity === undefined) return scope;
  if (others.length === 0) return { ...scope, repo: identity };
  const all = [identity, ...others].slice(0, MAX_NAMED).join(", ");
  throw new ApiError("INVALID_SELECTOR", `repo: several repositories end with ${repo}; name one: ${all}`);
}

/** The error of a repository that the caller does not have, with the one of the caller that was probably meant; undefined without one. */
async function withNeighbour(db: Db, caller: Caller, { repo }: Scope, error: unknown): Promise<ApiError | undefined> {
  const isMissing = error instanceof ApiError && (error.code === "NO_WORKSPACE" || error.code === "INVALID_SELECTOR");
  if (!isMissing || repo === undefined) return undefined;
  const near = nearRepo(normalizeRepo(repo) ?? repo, await identitiesOf(db, caller));
  return near === undefined ? undefined : new ApiError(error.code, `${error.message}; similar: ${near}`);
}

/** The indexed repositories of a caller; none if nothing can be read. */
async function identitiesOf(db: Db, caller: Caller): Promise<string[]> {
  const { targets, outdated } = await readTargets(db, caller, {}).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === "NO_INDEX") return { targets: [], outdated: [] };
    throw error;
  });
  return [...targets, ...outdated].flatMap(({ repo }) => repo ?? []);
}

/** The error of a request that needs revisions whose search index is being rewritten. */
export function beingRewritten(outdated: readonly Outdated[]): ApiError {
  const names = outdated.slice(0, MAX_NAMED).map(({ repo, workspaceId }) => repo ?? workspaceId);
  return new ApiError(
    "UNAVAILABLE",
    `the search index of ${names.join(", ")} is being rewritten for this version of the service; try again`,
    { headers: { "Retry-After": String(REWRITE_WAIT_SEC) } },
  );
}

/**
 * As `findTargets`, but reports revisions of another version instead of having them rewritten. The one place that keeps a caller to
 * its tenant and its repositories: all other reads are of targets that were found here.
 */
export async function readTargets(
  db: Db,
  caller: Caller,
  request: Scope,
): Promise<{ targets: Target[]; outdated: Outdated[] }> {
  const { repo, workspaceId, ref, overlay } = request;
  const isOne = repo !== undefined || workspaceId !== undefined || overlay !== undefined;
  const ofScope =
    repo !== undefined || workspaceId !== undefined
      ? selects(caller, parseSelector({ repo, workspaceId }))
      : owns(caller);
  const live = overlay === undefined ? undefined : liveOverlay(caller, overlay, ref);
  const where = live === undefined ? ofScope : sql`${ofScope} and w.id = (select o.workspace_id ${live})`;
  const rows = await rowsOf<TargetRow>(
    db,
    sql`select w.id, w.repo, w.default_branch, r.seq, r.base_seq, r.git_sha, r.fingerprint, r.search_table, r.text_list,
          coalesce(r.search_vectors[1] like ${`${VECTOR_ID_PREFIX}%`}, r.search_vectors = '{}', false) as has_vectors,
          to_char(r.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as indexed_at
        from workspaces w left join lateral (${live === undefined ? revisionOf(ref) : sql`select r.* ${live}`}) r on true
        where ${where} order by w.repo collate "C" nulls last, w.id`,
  );
  const [row] = rows;
  if (overlay !== undefined && !row) throw noOverlay(overlay);
  if (isOne && !row) throw new ApiError("NO_WORKSPACE", "no workspace of this tenant matches the selector");
  const targets: Target[] = [];
  const outdated: Outdated[] = [];
  for (const each of rows) {
    const found = targetOf(caller.tenantId, each, ref);
    if (!found) continue;
    if ("table" in found) targets.push(found);
    else outdated.push(found);
  }
  // A workspace without an index is left out of an answer over all, unless it is all there is.
  const isEmpty = targets.length + outdated.length === 0;
  const waiting = rows.find(({ search_table: table }) => table === NO_TABLE);
  if (isEmpty && isOne && row) throw new ApiError("NO_INDEX", explainMissing(row, ref));
  if (isEmpty && waiting) throw new ApiError("NO_INDEX", explainMissing(waiting, ref));
  if (isEmpty && row && ref !== undefined)
    throw new ApiError(
      "NO_INDEX",
      `ref: ${ref} is not indexed in any repository: name another branch, tag or full commit`,
    );
  return { targets, outdated };
}

/** The rest of a query, from `from` on, for the revision `r` of an overlay `o` of the caller. */
function liveOverlay({ credentialId = "" }: Caller, overlay: string, ref: string | undefined): SQL {
  if (ref !== undefined) throw new ApiError("INVALID_SELECTOR", "send ref or overlay, not both");
  if (!isUuid(overlay)) throw noOverlay(overlay);
  return sql`from overlays o join revisions r on r.workspace_id = o.workspace_id and r.seq = o.seq
    where o.id = ${overlay}::uuid and o.credential_id = ${credentialId} and o.state = 'ready' and o.expires_at > now()`;
}

function noOverlay(overlay: string): ApiError {
  return new ApiError(
    "NO_INDEX",
    `overlay: ${overlay.slice(0, 64)} has expired, or is not of this credential and repository: send the edits again (POST /overlays)`,
  );
}

/** Undefined if there is no revision, or its search index waits for the next run. */
function targetOf(tenantId: string, row: TargetRow, ref: string | undefined): Target | Outdated | undefined {
  const { seq, git_sha: gitSha, indexed_at: indexedAt, fingerprint, search_table: table } = row;
  if (seq === null || gitSha === null || indexedAt === null || fingerprint === null) return undefined;
  if (table === NO_TABLE) return undefined;
  const revision = {
    tenantId,
    workspaceId: row.id,
    repo: row.repo,
    ref: ref ?? row.default_branch,
    gitSha,
    indexedAt,
    fingerprint,
    seq,
    baseSeq: row.base_seq,
    textList: row.text_list,
  };
  return table?.startsWith(TABLE_ID_PREFIX) === true ? { ...revision, table, hasVectors: row.has_vectors } : revision;
}

/**
 * The targets that read an object of the search index, given by its key; none if they have been rebuilt since. All of them if the key
 * is not known.
 */
export async function targetsReading(
  db: Db,
  targets: readonly Target[],
  object: string | undefined,
): Promise<readonly Target[]> {
  if (object === undefined || targets.length <= 1) return targets;
  const id = object.slice(object.lastIndexOf("/") + 1);
  const rows = await rowsOf<{ workspace: string; seq: number }>(
    db,
    sql`select r.workspace_id as workspace, r.seq from ${unnest(targets, [
      ["uuid", ({ workspaceId }) => workspaceId],
      ["int", ({ seq }) => seq],
    ])} as t(workspace, seq) join revisions r on r.workspace_id = t.workspace and r.seq = t.seq
        where r.search_table = ${id} or ${id} = any(r.search_segments) or ${id} = any(r.search_vectors)`,
  );
  const reading = new Set(rows.map(({ workspace, seq }) => `${workspace} ${seq}`));
  return targets.filter(({ workspaceId, seq }) => reading.has(`${workspaceId} ${seq}`));
}

function explainMissing(row: TargetRow, ref: string | undefined): string {
  if (row.seq !== null) {
    const name = row.repo ?? row.id;
    return `the search index of ${name} cannot be written from what is stored: it waits for the workspace's next run (POST /index)`;
  }
  if (ref === undefined) return "the workspace has not been indexed yet: index it first (POST /index)";
  return `ref: ${ref} of this workspace is not indexed: index it (POST /index with source.ref), or name another branch, tag or full commit`;
}
