/** `GET /index-snapshot`: pull, probe and list. */
import { sql } from "drizzle-orm";
import {
  DOWNLOAD_URL_TTL_SEC,
  type ListResponse,
  type ProbeResponse,
  type PullResponse,
  type RosterEntry,
  type SnapshotQuery,
} from "../../contract/index.ts";
import { ApiError } from "../../lib/errors.ts";
import { answering, type SnapshotContext } from "./context.ts";
import { rowsOf } from "../db/rows.ts";
import type { Caller } from "../../interface/questions/code-index.ts";
import { owns, parseSelector, type Selector, selects } from "../revisions/selectors.ts";

/** What a query of `GET /index-snapshot` asks for. */
type SnapshotMode = { mode: "list" } | { mode: "pull" | "probe"; selector: Selector };

/** Which mode a query of `GET /index-snapshot` selects. Throws `INVALID_SELECTOR`. */
export function modeOf({ workspaceId, repo, probe, list }: SnapshotQuery): SnapshotMode {
  const isProbe = probe === "1";
  if (list !== "1") return { mode: isProbe ? "probe" : "pull", selector: parseSelector({ workspaceId, repo }) };
  if (isProbe || workspaceId !== undefined || repo !== undefined)
    throw new ApiError("INVALID_SELECTOR", "list=1 takes no selector and no probe");
  return { mode: "list" };
}

const LOOKUP_MESSAGE = "the snapshot cannot be looked up right now; try again";
/** The same message for every reason, so that a caller cannot tell a missing workspace from another tenant's. */
const NO_SNAPSHOT_MESSAGE = "there is no snapshot for this selector";

/** Attempts of a pull whose snapshot is deleted while it runs. More than two are needed only while commits arrive very fast. */
const MAX_PULL_TRIES = 4;

interface PullRow {
  storage_path: string;
  manifest: PullResponse["manifest"];
  stale: boolean;
  touched: number;
}

/**
 * The current snapshot's manifest and a signed download URL. The row records when its last URL expires, because the sweep keeps
 * snapshots with a valid URL. That time is set two lifetimes ahead, so it is written at most once a lifetime however many pull.
 */
export async function pullSnapshot(context: SnapshotContext, owner: Caller, selector: Selector): Promise<PullResponse> {
  const { db, presigner, now } = context;
  for (let tries = 1; ; tries++) {
    const nowSec = now() / 1000;
    const [row] = await answering("LOOKUP_FAILED", LOOKUP_MESSAGE, () =>
      rowsOf<PullRow>(
        db,
        sql`with found as (
              select s.id, s.storage_path, s.manifest,
                s.url_expires_at is null or s.url_expires_at < to_timestamp(${nowSec + DOWNLOAD_URL_TTL_SEC}::float8) as stale
              from workspaces w
              join tenants t on t.id = w.tenant_id and t.shared_index
              join snapshots s on s.id = w.current_snapshot_id and s.state = 'committed'
              where ${selects(owner, selector)}
            ), touched as (
              update snapshots s set url_expires_at = to_timestamp(${nowSec + 2 * DOWNLOAD_URL_TTL_SEC}::float8)
              from found where found.stale and s.id = found.id and s.state = 'committed'
              returning s.id
            )
            select storage_path, manifest, stale, (select count(*)::int from touched) as touched from found`,
      ),
    );
    if (row === undefined) throw new ApiError("NO_SNAPSHOT", NO_SNAPSHOT_MESSAGE);
    // The sweep deleted the snapshot before its expiry was recorded, so a newer one is current now.
    if (row.stale && row.touched === 0 && tries < MAX_PULL_TRIES) continue;
    if (presigner === undefined)
      throw new ApiError("SIGN_FAILED", "download URLs cannot be signed: storage is not configured");
    const signedUrl = await answering("SIGN_FAILED", "the download URL could not be signed; try again", () =>
      presigner.download(row.storage_path, { expiresInSec: DOWNLOAD_URL_TTL_SEC }),
    );
    return { ok: true, manifest: row.manifest, signedUrl, expiresIn: DOWNLOAD_URL_TTL_SEC };
  }
}

interface ProbeRow {
  git_sha: string;
  committed_ms: string;
  size_bytes: string;
  file_count: string;
  symbol_count: string;
  fingerprint: string;
  revision_sha: string | null;
}

/** What the current snapshot is. Needs no opt-in. `fingerprint` is the service's own embedding space, if it has one. */
export async function probeSnapshot(
  context: SnapshotContext,
  owner: Caller,
  selector: Selector,
  fingerprint: string | undefined,
): Promise<ProbeResponse> {
  const [row] = await answering("LOOKUP_FAILED", LOOKUP_MESSAGE, () =>
    rowsOf<ProbeRow>(
      context.db,
      sql`select s.git_sha, (extract(epoch from s.committed_at) * 1000)::bigint as committed_ms, s.size_bytes,
            (s.manifest ->> 'fileCount')::bigint as file_count, (s.manifest ->> 'symbolCount')::bigint as symbol_count,
            s.fingerprint, r.git_sha as revision_sha
          from workspaces w
          join snapshots s on s.id = w.current_snapshot_id and s.state = 'committed'
          left join revisions r on r.workspace_id = w.id and r.seq = w.current_seq
          where ${selects(owner, selector)}`,
    ),
  );
  if (row === undefined) return { ok: true, exists: false };
  // A client may name a commit by a prefix of its SHA.
  const isLatest = row.revision_sha === null || row.revision_sha.startsWith(row.git_sha);
  return {
    ok: true,
    exists: true,
    gitSha: row.git_sha,
    builtAt: new Date(Number(row.committed_ms)).toISOString(),
    sizeBytes: Number(row.size_bytes),
    fileCount: Number(row.file_count),
    symbolCount: Number(row.symbol_count),
    embeddingModel: row.fingerprint,
    isCurrent: isLatest && row.fingerprint === fingerprint,
  };
}

interface RosterRow {
  shared_index: boolean;
  workspace_id: string | null;
  repo: string | null;
  default_branch: string | null;
  git_sha: string | null;
  committed_ms: string | null;
  size_bytes: string | null;
  file_count: string | null;
  symbol_count: string | null;
}

/** Every workspace of the owner with its current snapshot. Works before the opt-in. */
export async function listSnapshots(context: SnapshotContext, owner: Caller): Promise<ListResponse> {
  const rows = await answering("LOOKUP_FAILED", LOOKUP_MESSAGE, () =>
    rowsOf<RosterRow>(
      context.db,
      sql`select t.shared_index, w.id as workspace_id, w.repo, w.default_branch, s.git_sha,
            (extract(epoch from s.committed_at) * 1000)::bigint as committed_ms, s.size_bytes,
            (s.manifest ->> 'fileCount')::bigint as file_count, (s.manifest ->> 'symbolCount')::bigint as symbol_count
          from tenants t
          left join workspaces w on ${owns(owner)}
          left join snapshots s on s.id = w.current_snapshot_id and s.state = 'committed'
          where t.id = ${owner.tenantId}::uuid
          order by w.repo nulls last, w.id`,
    ),
  );
  const workspaces = rows.flatMap((row): RosterEntry[] => {
    if (row.workspace_id === null) return [];
    return [
      {
        workspaceId: row.workspace_id,
        repo: row.repo,
        defaultBranch: row.default_branch,
        inCloud: row.git_sha !== null,
        gitSha: row.git_sha,
        builtAt: row.committed_ms === null ? null : new Date(Number(row.committed_ms)).toISOString(),
        sizeBytes: numberOrNull(row.size_bytes),
        fileCount: numberOrNull(row.file_count),
        symbolCount: numberOrNull(row.symbol_count),
      },
    ];
  });
  return { ok: true, workspaces, sharedIndexEnabled: rows[0]?.shared_index ?? false };
}

const numberOrNull = (value: string | null): number | null => (value === null ? null : Number(value));
