/** `POST /index-snapshot` op `sign`: signs an upload URL, and creates the workspace of a new repository. */
import { sql, type SQL } from "drizzle-orm";
import { recordAudit } from "../audit/index.ts";
import {
  MAX_MANIFEST_BYTES,
  MAX_PROVISIONED_WORKSPACES,
  type SignRequest,
  type SignResponse,
  type SnapshotManifest,
  UPLOAD_URL_TTL_SEC,
} from "../../contract/index.ts";
import { ApiError, invalidBody } from "../../lib/errors.ts";
import { answering, type Publisher, type SnapshotContext } from "./context.ts";
import { mayUseRepo } from "../tenancy/restrictions.ts";
import { parseSelector, type Selector, selects } from "../revisions/selectors.ts";
import { newStoragePath, uploadKeyOf } from "./storage.ts";

export const LOOKUP_MESSAGE = "the workspace cannot be looked up right now; try again";

export function sharedIndexDisabled(): ApiError {
  return new ApiError(
    "SHARED_INDEX_DISABLED",
    "sharing snapshots is off for this tenant; switch the shared index on in its settings",
  );
}

export function noWorkspace(): ApiError {
  return new ApiError("NO_WORKSPACE", "there is no workspace for this selector");
}

/** Deeper nesting could overflow the stack when the manifest is serialized again. */
const MAX_MANIFEST_DEPTH = 64;

/** Throws `INVALID_BODY` if the manifest could not be stored and returned unchanged. */
export function checkManifest(manifest: SnapshotManifest): void {
  const open: { value: unknown; depth: number }[] = [{ value: manifest, depth: 1 }];
  for (let item = open.pop(); item !== undefined; item = open.pop()) {
    const { value, depth } = item;
    if (typeof value === "string") checkText(value);
    if (typeof value !== "object" || value === null) continue;
    if (depth > MAX_MANIFEST_DEPTH)
      throw invalidBody([{ path: "manifest", message: `must not nest deeper than ${MAX_MANIFEST_DEPTH} levels` }]);
    for (const [key, member] of Object.entries(value)) {
      checkText(key);
      open.push({ value: member, depth: depth + 1 });
    }
  }
  if (Buffer.byteLength(JSON.stringify(manifest)) > MAX_MANIFEST_BYTES) {
    throw invalidBody([{ path: "manifest", message: `must be at most ${MAX_MANIFEST_BYTES} bytes of JSON` }]);
  }
}

/** jsonb holds neither U+0000 nor half a surrogate pair. */
function checkText(text: string): void {
  if (text.includes("\0") || !text.isWellFormed())
    throw invalidBody([{ path: "manifest", message: "must not contain U+0000 or half a surrogate pair" }]);
}

interface SignRow {
  shared_index: boolean;
  /** Bytes of the tenant's snapshots before this one. */
  stored_bytes: string;
  workspace_id: string | null;
  made_id: string | null;
}

/**
 * Records a pending snapshot and signs the URL of its upload, which is bound to method, path, SHA-256 and length. A
 * repository that the tenant has no workspace for gets one, up to the cap. The bytes of all snapshots of the tenant,
 * those signed but not yet uploaded included, stay within `storageLimitBytes`: beyond that `STORAGE_LIMIT`.
 */
export async function signSnapshot(
  context: SnapshotContext,
  caller: Publisher,
  request: SignRequest,
): Promise<SignResponse> {
  const { db, presigner, now, log } = context;
  const { manifest } = request;
  const selector = parseSelector(request);
  checkManifest(manifest);
  if (request.sizeBytes !== undefined && manifest.sizeBytes !== undefined && request.sizeBytes !== manifest.sizeBytes) {
    throw invalidBody([
      {
        path: "sizeBytes",
        message: "differs from sizeBytes of the manifest; send the same number, or only one of the two",
      },
    ]);
  }
  const sizeBytes = request.sizeBytes ?? manifest.sizeBytes;
  if (sizeBytes === undefined)
    throw invalidBody([{ path: "sizeBytes", message: "is required, in the body or in the manifest" }]);
  const snapshotId = crypto.randomUUID();
  const storagePath = newStoragePath(snapshotId);
  const pending = insertPending({
    snapshotId,
    storagePath,
    tenantId: caller.tenantId,
    manifest,
    sizeBytes,
    expiresSec: now() / 1000 + UPLOAD_URL_TTL_SEC,
  });

  const room = context.storageLimitBytes - sizeBytes;
  const made = await answering("LOOKUP_FAILED", LOOKUP_MESSAGE, async () => {
    const row = await lockedRow<SignRow>(
      db,
      caller.tenantId,
      sql`with t as (select id, shared_index, (${storedBytes(caller.tenantId)}) as stored from tenants where id = ${caller.tenantId}::uuid),
               w as (select w.id from workspaces w, t where t.shared_index and t.stored <= ${room}::bigint and ${selects(caller, selector)}),
               s as (${pending})
          select t.shared_index, t.stored::text as stored_bytes, (select id from w) as workspace_id, null as made_id from t`,
    );
    if (row?.shared_index !== true) throw sharedIndexDisabled();
    if (Number(row.stored_bytes) > room) throw storageLimit(context.storageLimitBytes, Number(row.stored_bytes));
    if (row.workspace_id !== null) return null;
    if (!("repo" in selector) || !mayUseRepo(caller, selector.repo)) throw noWorkspace();
    return provision(context, caller, selector, pending, room);
  });
  if (made !== null) {
    const details = { workspaceId: made, repo: "repo" in selector ? selector.repo : null };
    await recordAudit(db, {
      event: "WORKSPACE_CREATED",
      tenantId: caller.tenantId,
      actor: caller.actor,
      details,
    }).catch((error: unknown) => log.error("audit_failed", error));
  }

  if (presigner === undefined)
    throw new ApiError("SIGN_UPLOAD_FAILED", "upload URLs cannot be signed: storage is not configured");
  const upload = await answering("SIGN_UPLOAD_FAILED", "the upload URL could not be signed; try again", () =>
    presigner.upload(uploadKeyOf(storagePath), {
      sha256: manifest.checksum.slice("sha256:".length),
      sizeBytes,
      expiresInSec: UPLOAD_URL_TTL_SEC,
    }),
  );
  return { ok: true, uploadUrl: upload.url, storagePath, uploadHeaders: upload.headers, expiresIn: UPLOAD_URL_TTL_SEC };
}

/**
 * Locks the tenant's row, then runs the statement and returns its row. Concurrent requests of a tenant run one after another and see
 * each other's changes, so limits hold.
 */
async function lockedRow<Row>(db: SnapshotContext["db"], tenantId: string, statement: SQL): Promise<Row | undefined> {
  const [, result] = await db.batch([
    db.execute(sql`select id from tenants where id = ${tenantId}::uuid for no key update`),
    db.execute(statement),
  ]);
  return ((result as { rows: unknown[] }).rows as Row[])[0];
}

/** Bytes of all snapshots of a tenant that are stored, or for which an upload is signed. */
function storedBytes(tenantId: string): SQL {
  return sql`select coalesce(sum(s.size_bytes), 0)::bigint from workspaces w join snapshots s on s.workspace_id = w.id
             where w.tenant_id = ${tenantId}::uuid and s.state <> 'deleted'`;
}

function storageLimit(limitBytes: number, usedBytes: number): ApiError {
  return new ApiError(
    "STORAGE_LIMIT",
    `the tenant's snapshots take ${usedBytes} of ${limitBytes} bytes, and this one does not fit; publish smaller ones, or remove workspaces`,
    { details: { limitBytes, usedBytes } },
  );
}

/**
 * Makes the repository's workspace and the pending snapshot in it. Resolves to the new workspace's id, or null if another
 * request made it first.
 */
async function provision(
  { db, storageLimitBytes }: SnapshotContext,
  { tenantId }: Publisher,
  { repo }: Extract<Selector, { repo: string }>,
  pending: SQL,
  room: number,
): Promise<string | null> {
  const row = await lockedRow<SignRow>(
    db,
    tenantId,
    sql`with t as (select (${storedBytes(tenantId)}) as stored),
             old as (select id from workspaces where tenant_id = ${tenantId}::uuid and repo = ${repo}),
             made as (
               insert into workspaces (id, tenant_id, repo)
               select ${crypto.randomUUID()}::uuid, ${tenantId}::uuid, ${repo}
               from t
               where t.stored <= ${room}::bigint and not exists (select 1 from old)
                 and (select count(*) from workspaces where tenant_id = ${tenantId}::uuid) < ${MAX_PROVISIONED_WORKSPACES}
               on conflict (tenant_id, repo) do nothing
               returning id
             ),
             w as (select old.id from old, t where t.stored <= ${room}::bigint union all select id from made),
             s as (${pending})
        select true as shared_index, t.stored::text as stored_bytes, (select id from w) as workspace_id, (select id from made) as made_id from t`,
  );
  if (row !== undefined && Number(row.stored_bytes) > room)
    throw storageLimit(storageLimitBytes, Number(row.stored_bytes));
  if (row === undefined || row.workspace_id === null) {
    throw new ApiError(
      "WORKSPACE_LIMIT",
      `the tenant has ${MAX_PROVISIONED_WORKSPACES} workspaces already; publish to one of them or remove some`,
    );
  }
  return row.made_id;
}

/** Inserts the pending snapshot into the workspace that the CTE `w` names, if it names one. */
function insertPending(row: {
  snapshotId: string;
  storagePath: string;
  tenantId: string;
  manifest: SnapshotManifest;
  sizeBytes: number;
  expiresSec: number;
}): SQL {
  const { manifest } = row;
  return sql`insert into snapshots (id, tenant_id, workspace_id, state, git_sha, storage_path, checksum, size_bytes, fingerprint, manifest, url_expires_at)
    select ${row.snapshotId}::uuid, ${row.tenantId}::uuid, w.id, 'pending', ${manifest.gitSha}, ${row.storagePath}, ${manifest.checksum},
      ${row.sizeBytes}::bigint, ${manifest.embedding.fingerprint}, ${JSON.stringify(manifest)}::jsonb, to_timestamp(${row.expiresSec}::float8)
    from w returning id`;
}
