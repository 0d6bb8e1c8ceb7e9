import { createHash } from "node:crypto";
import { sql } from "drizzle-orm";
import { flipCurrent } from "./commit.ts";
import { type Caller, type SnapshotContext } from "./context.ts";
import { rowsOf } from "../../db/rows.ts";
import { bytesToUuid } from "../../uuid.ts";
import { MultipartSink } from "./multipart.ts";
import { findRevision, type Revision, revisionSource } from "./revision.ts";
import { deletePrefix, newStoragePath, SNAPSHOT_PREFIX } from "./storage.ts";
import { writeSnapshot, type WrittenSnapshot } from "../format/writer.ts";

/** The revision to build from does not exist (any more). */
export class RevisionMissingError extends Error {
  override readonly name = "RevisionMissingError";
}

export interface BuildRequest extends Caller {
  workspaceId: string;
  /** What asked for the build. The same id asks for the same build: a second call finds what the first one did. */
  runId: string;
  /** The revision: its number, or the newest one of a commit. */
  revision: { seq: number } | { gitSha: string };
  /** Told now and then; throw to give up. */
  onProgress?: (progress: { filesDone: number; filesTotal: number }) => Promise<void> | void;
  signal?: AbortSignal;
}

export interface BuiltSnapshot {
  snapshotId: string;
  gitSha: string;
  storagePath: string;
  checksum: string;
  sizeBytes: number;
  fileCount: number;
  symbolCount: number;
}

const PROGRESS_EVERY_FILES = 250;

type BuildContext = Pick<SnapshotContext, "db" | "bucket" | "now" | "log">;

/**
 * Builds the artifact of an indexed revision, streams it to the bucket and makes it the workspace's current snapshot through
 * the code that commits a client's. Memory is bounded by one row group, one batch of rows and two upload parts.
 *
 * A message delivered twice or a job killed midway costs time only: every attempt writes to a storage path of its own, one
 * of them becomes current, and once one has, later calls with the same `runId` answer with it and change nothing. Throws
 * {@link RevisionMissingError}, what `signal` aborts with, and what database and bucket throw; the old snapshot stays then.
 */
export async function buildSnapshot(context: BuildContext, request: BuildRequest): Promise<BuiltSnapshot> {
  const { db, bucket } = context;
  const snapshotId = snapshotIdFor(request.runId);
  const done = await findBuilt(context, request, snapshotId);
  if (done !== undefined) return done;
  const revision = await findRevision(db, request, request.revision);
  if (revision === undefined) throw new RevisionMissingError("the revision to publish is not indexed");

  const storagePath = newStoragePath(snapshotId);
  await reserve(context, request, revision, { snapshotId, storagePath });
  const written = await upload(context, request, revision, storagePath);
  // Should this fail, nobody knows whether the pointer moved: the artifact stays for the next call or the sweep to judge.
  await flipCurrent(context, request, {
    id: snapshotId,
    workspaceId: request.workspaceId,
    storagePath,
    manifest: written.manifest,
    sizeBytes: written.sizeBytes,
  });
  const built = await findBuilt(context, request, snapshotId);
  if (built === undefined) throw new Error("a committed snapshot is missing");
  // What other attempts left behind; and this one's artifact, if another attempt was quicker.
  await deletePrefix(bucket, `${SNAPSHOT_PREFIX}${snapshotId}/`, built.storagePath).catch((error: unknown) =>
    context.log.error("attempts_not_deleted", error),
  );
  return built;
}

/** A name-based UUID (version 8, RFC 9562), so that a run finds its snapshot again. */
function snapshotIdFor(runId: string): string {
  const bytes = createHash("sha256").update(`snapshot of run ${runId}`).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytesToUuid(bytes);
}

async function findBuilt(
  { db }: BuildContext,
  { workspaceId, tenantId }: BuildRequest,
  snapshotId: string,
): Promise<BuiltSnapshot | undefined> {
  const [row] = await rowsOf<{
    git_sha: string;
    storage_path: string;
    checksum: string;
    size_bytes: string;
    files: number;
    symbols: number;
  }>(
    db,
    sql`select git_sha, storage_path, checksum, size_bytes, (manifest ->> 'fileCount')::int as files, (manifest ->> 'symbolCount')::int as symbols
        from snapshots where id = ${snapshotId}::uuid and workspace_id = ${workspaceId}::uuid and tenant_id = ${tenantId}::uuid and state = 'committed'`,
  );
  if (row === undefined) return undefined;
  return {
    snapshotId,
    gitSha: row.git_sha,
    storagePath: row.storage_path,
    checksum: row.checksum,
    sizeBytes: Number(row.size_bytes),
    fileCount: row.files,
    symbolCount: row.symbols,
  };
}

/** The row comes before the object, so that no object is ever without one. Its checksum is known at the end only. */
async function reserve(
  { db }: BuildContext,
  { tenantId, workspaceId }: BuildRequest,
  { gitSha, fingerprint }: Revision,
  { snapshotId, storagePath }: { snapshotId: string; storagePath: string },
): Promise<void> {
  await db.execute(
    sql`insert into snapshots (id, tenant_id, workspace_id, state, git_sha, storage_path, checksum, fingerprint, manifest)
        values (${snapshotId}::uuid, ${tenantId}::uuid, ${workspaceId}::uuid, 'pending', ${gitSha}, ${storagePath}, '', ${fingerprint}, '{}'::jsonb)
        on conflict (id) do nothing`,
  );
}

async function upload(
  { db, bucket, log }: BuildContext,
  request: BuildRequest,
  revision: Revision,
  storagePath: string,
): Promise<WrittenSnapshot> {
  const { signal, onProgress } = request;
  let filesDone = 0;
  const source = await revisionSource(db, revision, async () => {
    filesDone++;
    signal?.throwIfAborted();
    if (filesDone % PROGRESS_EVERY_FILES === 0) await onProgress?.({ filesDone, filesTotal: revision.fileCount });
  });
  const sink = await MultipartSink.create(bucket, storagePath);
  try {
    const written = await writeSnapshot(source, (bytes) => sink.write(bytes));
    const { fileCount, symbolCount, chunkCount } = written.header;
    if (
      fileCount !== revision.fileCount ||
      symbolCount !== revision.symbolCount ||
      chunkCount !== revision.chunkCount
    ) {
      throw new RevisionMissingError("the revision was removed while it was read");
    }
    signal?.throwIfAborted();
    const object = await sink.finish();
    if (object.size !== written.sizeBytes) throw new Error("the store holds fewer bytes than were written");
    return written;
  } catch (error) {
    await sink.abort().catch((failure: unknown) => log.error("upload_not_aborted", failure));
    throw error;
  }
}
