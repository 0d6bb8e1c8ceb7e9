/** `POST /index-snapshot` op `commit`: verified bytes become the current snapshot, in one statement. */
import { sql } from "drizzle-orm";
import { recordAudit } from "../audit/index.ts";
import type { CommitRequest, CommitResponse, SnapshotManifest } from "../../contract/index.ts";
import type { Db } from "../db/client.ts";
import { ApiError, invalidBody } from "../../lib/errors.ts";
import { answering, type Publisher, type SnapshotContext } from "./context.ts";
import { rowsOf } from "../db/rows.ts";
import { inspectArtifact } from "./inspect.ts";
import { parseSelector, selects } from "../revisions/selectors.ts";
import { checkManifest, LOOKUP_MESSAGE, noWorkspace, sharedIndexDisabled } from "./sign.ts";
import { adoptUpload, deletePrefix, UPLOAD_PREFIX, type UploadProblem } from "./storage.ts";

const COMMIT_MESSAGE = "the snapshot could not be committed; try again";

/** Pending uploads of the same bytes that a commit considers, newest first. */
const MAX_CANDIDATES = 5;

interface Candidate {
  id: string;
  state: "pending" | "committed";
  git_sha: string;
  checksum: string;
  storage_path: string;
  signed_bytes: string | null;
}

interface WorkspaceRow {
  shared_index: boolean;
  workspace_id: string | null;
  candidates: Candidate[];
}

/**
 * Verifies the upload against the manifest and makes it the current snapshot. Repeating a commit gives the same answer as the first
 * time, even if a newer snapshot is current by then. A commit that fails changes nothing.
 */
export async function commitSnapshot(
  context: SnapshotContext,
  caller: Publisher,
  request: CommitRequest,
): Promise<CommitResponse> {
  const { manifest, sizeBytes } = request;
  const selector = parseSelector(request);
  checkManifest(manifest);
  if (manifest.sizeBytes !== undefined && manifest.sizeBytes !== sizeBytes) {
    throw invalidBody([
      {
        path: "sizeBytes",
        message: "differs from sizeBytes of the manifest; send the same number, or only one of the two",
      },
    ]);
  }
  const [row] = await answering("LOOKUP_FAILED", LOOKUP_MESSAGE, () =>
    rowsOf<WorkspaceRow>(
      context.db,
      sql`with w as (select w.id from workspaces w where ${selects(caller, selector)}),
               c as (
                 select s.id, s.state, s.git_sha, s.checksum, s.storage_path, s.size_bytes::text as signed_bytes, s.created_at
                 from snapshots s join w on w.id = s.workspace_id
                 where s.state <> 'deleted' and ${
                   request.storagePath === undefined
                     ? sql`s.checksum = ${manifest.checksum} and s.git_sha = ${manifest.gitSha}`
                     : sql`s.storage_path = ${request.storagePath}`
                 }
                 order by s.created_at desc, s.id limit ${MAX_CANDIDATES}
               )
          select t.shared_index, (select id from w) as workspace_id,
            coalesce((select json_agg(c order by c.created_at desc, c.id) from c), '[]'::json) as candidates
          from tenants t where t.id = ${caller.tenantId}::uuid`,
    ),
  );
  if (row?.shared_index !== true) throw sharedIndexDisabled();
  if (row.workspace_id === null) throw noWorkspace();
  const found = await answering("COMMIT_FAILED", COMMIT_MESSAGE, () =>
    adoptCandidate(context, row.candidates, request),
  );
  if (found.state === "pending") {
    const verified = {
      id: found.id,
      workspaceId: row.workspace_id,
      storagePath: found.storage_path,
      manifest,
      sizeBytes,
    };
    await answering("COMMIT_FAILED", COMMIT_MESSAGE, () =>
      flipCurrent(context, caller, verified, request.expectedGitSha),
    );
    // The upload was copied. Without this the sweep would delete it.
    await deletePrefix(context.bucket, `${UPLOAD_PREFIX}${found.id}/`).catch((error: unknown) =>
      context.log.error("upload_not_deleted", error),
    );
  }
  return { ok: true, storagePath: found.storage_path, gitSha: found.git_sha };
}

/** The signed snapshot that the request means, its bytes verified and in place. Throws `INVALID_BODY` if there is none. */
async function adoptCandidate(
  context: SnapshotContext,
  candidates: Candidate[],
  request: CommitRequest,
): Promise<Candidate> {
  const { manifest, sizeBytes } = request;
  if (candidates.length === 0) {
    throw request.storagePath === undefined
      ? invalidBody([
          { path: "manifest.checksum", message: "no upload was signed for this checksum and gitSha; call sign first" },
        ])
      : invalidBody([{ path: "storagePath", message: "is not one that sign returned for this workspace" }]);
  }
  let rejection: ApiError | undefined;
  for (const candidate of candidates) {
    const contradiction = mismatch(candidate, request);
    if (contradiction === undefined) {
      if (candidate.state === "committed") return candidate;
      const sha256 = manifest.checksum.slice("sha256:".length);
      const problem = await adoptUpload(context.bucket, candidate.storage_path, { sizeBytes, sha256 });
      if (problem === undefined) {
        await refuseUnreadable(context, candidate, request);
        return candidate;
      }
      if (problem.problem !== "missing") throw describe(problem, sizeBytes);
      rejection ??= describe(problem, sizeBytes);
    }
    // The same bytes may have been signed twice and uploaded to the older URL.
    rejection ??= contradiction;
  }
  throw rejection ?? invalidBody([{ path: "manifest", message: "nothing was uploaded for it" }]);
}

/**
 * Throws `INVALID_BODY` if the copied artifact cannot be read or is not what the manifest says. The copy is checked,
 * not the upload, because the upload may still be exchanged.
 */
async function refuseUnreadable(
  { bucket }: SnapshotContext,
  { storage_path }: Candidate,
  { manifest, sizeBytes }: CommitRequest,
): Promise<void> {
  const issue = await inspectArtifact(bucket, storage_path, manifest, sizeBytes);
  if (issue === undefined) return;
  await bucket.delete(storage_path);
  throw invalidBody([issue]);
}

/** Where the request contradicts what was signed. */
function mismatch(candidate: Candidate, { manifest, sizeBytes }: CommitRequest): ApiError | undefined {
  if (candidate.checksum !== manifest.checksum)
    return invalidBody([{ path: "manifest.checksum", message: "is not the one that was signed" }]);
  if (candidate.git_sha !== manifest.gitSha)
    return invalidBody([{ path: "manifest.gitSha", message: "is not the one that was signed" }]);
  if (candidate.signed_bytes !== null && Number(candidate.signed_bytes) !== sizeBytes) {
    return invalidBody([{ path: "sizeBytes", message: "is not the one that was signed" }]);
  }
  return undefined;
}

function describe(problem: UploadProblem, sizeBytes: number): ApiError {
  if (problem.problem === "size") {
    return invalidBody([{ path: "sizeBytes", message: `the upload has ${problem.sizeBytes} bytes, not ${sizeBytes}` }]);
  }
  const message =
    problem.problem === "missing" ? "nothing was uploaded to the signed URL yet" : "the upload has another SHA-256";
  return invalidBody([{ path: "manifest.checksum", message }]);
}

/** A pending snapshot whose bytes are verified and in place. */
interface VerifiedSnapshot {
  id: string;
  workspaceId: string;
  storagePath: string;
  manifest: SnapshotManifest;
  sizeBytes: number;
}

/**
 * Makes a pending snapshot the workspace's current one: its row and the pointer change in one statement, or neither does.
 * Resolves to true if this call did it, to false if it was done before. With `expectedGitSha`, only if the current snapshot
 * is of that commit (null: if there is none); else `SNAPSHOT_CONFLICT`. Throws `INVALID_BODY` if the snapshot was removed.
 */
export async function flipCurrent(
  { db, now, log }: Pick<SnapshotContext, "db" | "now" | "log">,
  caller: Publisher,
  snapshot: VerifiedSnapshot,
  expectedGitSha?: string | null,
): Promise<boolean> {
  const { id, workspaceId, manifest, sizeBytes } = snapshot;
  // The lock on the workspace's row orders concurrent commits: each sees the pointer that the previous one wrote.
  const guard =
    expectedGitSha === undefined
      ? sql`true`
      : expectedGitSha === null
        ? sql`w.current_snapshot_id is null`
        : sql`(select c.git_sha from snapshots c where c.id = w.current_snapshot_id) = ${expectedGitSha}`;
  const [row] = await rowsOf<{ flipped: number }>(
    db,
    sql`with flip as (
          update workspaces w set current_snapshot_id = ${id}::uuid
          where w.id = ${workspaceId}::uuid and w.tenant_id = ${caller.tenantId}::uuid and ${guard}
            and exists (select 1 from snapshots s where s.id = ${id}::uuid and s.workspace_id = w.id and s.state = 'pending' for update)
          returning w.id
        ), done as (
          update snapshots s set state = 'committed', committed_at = to_timestamp(${now() / 1000}::float8),
            storage_path = ${snapshot.storagePath}, checksum = ${manifest.checksum}, size_bytes = ${sizeBytes}::bigint,
            git_sha = ${manifest.gitSha}, fingerprint = ${manifest.embedding.fingerprint}, manifest = ${JSON.stringify(manifest)}::jsonb
          from flip where s.id = ${id}::uuid returning s.id
        )
        select count(*)::int as flipped from done`,
  );
  if (row?.flipped !== 1) return explainRefusal(db, snapshot, expectedGitSha);
  const details = { snapshotId: id, workspaceId, gitSha: manifest.gitSha, sizeBytes };
  await recordAudit(db, { event: "SNAPSHOT_PUBLISHED", ...caller, details }).catch((error: unknown) =>
    log.error("audit_failed", error),
  );
  return true;
}

/** Why nothing was flipped: false if it had been before, else thrown. */
async function explainRefusal(
  db: Db,
  { id, workspaceId }: VerifiedSnapshot,
  expectedGitSha?: string | null,
): Promise<false> {
  const [row] = await rowsOf<{ state: string; current_sha: string | null }>(
    db,
    sql`select s.state, c.git_sha as current_sha from snapshots s
        join workspaces w on w.id = s.workspace_id left join snapshots c on c.id = w.current_snapshot_id
        where s.id = ${id}::uuid and s.workspace_id = ${workspaceId}::uuid`,
  );
  if (row?.state === "committed") return false;
  if (row?.state !== "pending") {
    throw invalidBody([
      { path: "storagePath", message: "the upload was removed because it was not committed in time; sign again" },
    ]);
  }
  if (expectedGitSha === undefined) throw new Error("a pending snapshot could not be made current");
  throw new ApiError("SNAPSHOT_CONFLICT", "another snapshot has become current; pull it and decide again", {
    details: { currentGitSha: row.current_sha },
  });
}
