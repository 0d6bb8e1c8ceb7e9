import { createHash } from "node:crypto";
import { sql } from "drizzle-orm";
import { flipCurrent } from "./commit.ts";
import { type Publisher, type SnapshotContext } from "./context.ts";
import type { CodeParser } from "../../engines/parsing/parser.ts";
import type { SearchBucket } from "../hosted-index/store.ts";
import { StalePlanError } from "../indexing/context.ts";
import { rowsOf } from "../db/rows.ts";
import { bytesToUuid } from "../../lib/uuid.ts";
import { MultipartSink } from "./multipart.ts";
import { findRevision, type Revision, revisionSource } from "./revision.ts";
import { deletePrefix, newStoragePath, SNAPSHOT_PREFIX } from "./storage.ts";
import { writeSnapshot, type WrittenSnapshot } from "../../engines/snapshot/writer.ts";

interface BuildRequest extends Publisher {
  workspaceId: string;
  /** The run that requested the build. A second call with the same id returns the first one's snapshot. */
  runId: string;
  /** The revision: its number, or the newest one of a commit. */
  revision: { seq: number } | { gitSha: string };
  /** Called every few hundred files. Throwing cancels the build. */
  onProgress?: (progress: { filesDone: number; filesTotal: number }) => Promise<void> | void;
  signal?: AbortSignal;
}

interface BuiltSnapshot {
  snapshotId: string;
  gitSha: string;
  storagePath: string;
  checksum: string;
  sizeBytes: number;
  fileCount: number;
  symbolCount: number;
}

const PROGRESS_EVERY_FILES = 250;

interface BuildContext extends Pick<SnapshotContext, "db" | "bucket" | "now" | "log"> {
  /** Where the search index of the revision is: the same bucket, with the methods that its readers use. */
  search: SearchBucket;
  /** Reads the uses of contents that have no segment. */
  parser: () => Promise<CodeParser>;
}

/**
 * Builds the artifact of an indexed revision, uploads it to the bucket and makes it the workspace's current snapshot, in the same
 * way as a client's commit. Memory is bounded by one row group or search segment, one batch of rows and two upload parts.
 *
 * A queue message may arrive twice and a job may be killed: every attempt writes to its own storage path, and one of them becomes
 * current. After that, calls with the same `runId` return that snapshot and change nothing. Throws {@link StalePlanError} if the
 * revision does not exist (any more), the reason of `signal`, and errors of database and bucket; the current snapshot is then unchanged.
 */
export async function buildSnapshot(context: BuildContext, request: BuildRequest): Promise<BuiltSnapshot> {
  const { db, bucket } = context;
  const snapshotId = snapshotIdFor(request.runId);
  const done = await findBuilt(context, request, snapshotId);
  if (done !== undefined) return done;
  const revision = await findRevision(db, request, request.revision);
  if (revision === undefined) throw new StalePlanError("the revision to publish is not indexed");

  const storagePath = newStoragePath(snapshotId);
  await reserve(context, request, revision, { snapshotId, storagePath });
  const written = await upload(context, request, revision, storagePath);
  // If this fails, the pointer may or may not have moved, so the artifact is kept: the next call or the sweep decides.
  await flipCurrent(context, request, {
    id: snapshotId,
    workspaceId: request.workspaceId,
    storagePath,
    manifest: written.manifest,
    sizeBytes: written.sizeBytes,
  });
  const built = await findBuilt(context, request, snapshotId);
  if (built === undefined) throw new Error("a committed snapshot is missing");
  // Deletes the artifacts of other attempts, and this one's if another attempt committed first.
  await deletePrefix(bucket, `${SNAPSHOT_PREFIX}${snapshotId}/`, built.storagePath).catch((error: unknown) =>
    context.log.error("attempts_not_deleted", error),
  );
  return built;
}

/** A UUID made from the run's id (version 8, RFC 9562), so that every attempt of a run uses the same snapshot id. */
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

/** Inserts the row before the object is written, so that every object has a row. The checksum is filled in at the end. */
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
  { db, bucket, search, parser, log }: BuildContext,
  request: BuildRequest,
  revision: Revision,
  storagePath: string,
): Promise<WrittenSnapshot> {
  const { signal, onProgress } = request;
  let filesDone = 0;
  const beat = async (): Promise<void> => {
    signal?.throwIfAborted();
    await onProgress?.({ filesDone, filesTotal: revision.fileCount });
  };
  const source = await revisionSource({ db, bucket: search, parser, beat }, revision, async () => {
    filesDone++;
    signal?.throwIfAborted();
    if (filesDone % PROGRESS_EVERY_FILES === 0) await beat();
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
      throw new StalePlanError("the revision was removed while it was read");
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
