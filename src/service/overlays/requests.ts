/**
 * Overlays: edits on top of an indexed revision. The indexer parses them as it parses the files of a run and writes a revision whose
 * number is below zero, so every question is answered from it as from a commit. Only the credential that sent the edits can name the
 * overlay, for an hour.
 */
import { createHash } from "node:crypto";
import { sql } from "drizzle-orm";
import { MAX_OVERLAYS, OVERLAY_TTL_SEC } from "../../contract/limits.ts";
import type { OverlayRequest } from "../../contract/overlays.ts";
import { backoffMs } from "../../lib/backoff.ts";
import { ApiError } from "../../lib/errors.ts";
import { pause } from "../../lib/pause.ts";
import { bytesToUuid } from "../../lib/uuid.ts";
import type { Db } from "../db/client.ts";
import { rowsOf } from "../db/rows.ts";
import { putJson, type StagingBucket } from "../indexing/staging.ts";

export type EditedFiles = OverlayRequest["files"];

const OVERLAY_PREFIX = "overlays/";

/** Key of the edits in the bucket, until the indexer has read them. */
export const editsKey = (tenantId: string, overlayId: string) => `${OVERLAY_PREFIX}${tenantId}/${overlayId}`;

/** Time in which the edits of one request are indexed, usually: 4 MB take some 8 s. */
const WAIT_MS = 25_000;
const POLL = { baseMs: 40, capMs: 500 };
const RETRY_AFTER_SEC = 5;
/** Numbers of overlays are random, so that concurrent ones of a workspace do not wait for each other. */
const SEQS = 2 ** 31 - 1;

/** The revision that edits are relative to, and whose they are. */
interface Edited {
  tenantId: string;
  credentialId: string;
  workspaceId: string;
  seq: number;
}

interface OverlayDeps {
  db: Db;
  bucket: Pick<StagingBucket, "put">;
  /** Has the indexer make the overlay. */
  send: (message: { kind: "overlay"; tenantId: string; overlayId: string }) => Promise<unknown>;
  now: () => number;
}

/**
 * Makes an overlay and waits until it can be asked. The same edits of the same revision are indexed once, however often they are sent;
 * each time they are kept for another hour. Throws `UNAVAILABLE` if they are not indexed in time; sending them again continues.
 */
export async function createOverlay(
  deps: OverlayDeps,
  edited: Edited,
  files: EditedFiles,
): Promise<{ id: string; expiresAt: Date }> {
  const { db, now } = deps;
  const id = overlayId(edited, files);
  const expiresAt = new Date(now() + OVERLAY_TTL_SEC * 1_000);
  const seq = -1 - Math.floor(Math.random() * SEQS);
  const [state] = await rowsOf<{ state: string }>(
    db,
    sql`insert into overlays (id, tenant_id, workspace_id, credential_id, seq, edited_seq, state, expires_at)
        values (${id}, ${edited.tenantId}, ${edited.workspaceId}, ${edited.credentialId}, ${seq}::int, ${edited.seq}::int, 'pending', ${expiresAt.toISOString()})
        on conflict (id) do update set expires_at = excluded.expires_at,
          state = case when overlays.state = 'failed' then 'pending' else overlays.state end
        returning state`,
  );
  await db.execute(sql`update overlays set expires_at = now() where id = any(array(
      select id from overlays where tenant_id = ${edited.tenantId} and expires_at > now() order by expires_at desc offset ${MAX_OVERLAYS}))`);
  if (state?.state !== "ready") {
    await putJson(deps.bucket, editsKey(edited.tenantId, id), files);
    await deps.send({ kind: "overlay", tenantId: edited.tenantId, overlayId: id });
    await untilReady(deps, id);
  }
  return { id, expiresAt };
}

function overlayId({ tenantId, credentialId, workspaceId, seq }: Edited, files: EditedFiles): string {
  const ordered = files.toSorted((a, b) => (a.path < b.path ? -1 : 1)).map(({ path, text }) => [path, text]);
  const name = JSON.stringify([tenantId, credentialId, workspaceId, seq, ordered]);
  return bytesToUuid(createHash("sha256").update(name).digest());
}

async function untilReady({ db, now }: OverlayDeps, id: string): Promise<void> {
  const deadline = now() + WAIT_MS;
  for (let attempt = 1; ; attempt++) {
    await pause(backoffMs(attempt, POLL));
    const [row] = await rowsOf<{ state: string }>(db, sql`select state from overlays where id = ${id}`);
    if (row?.state === "ready") return;
    if (row?.state !== "pending") throw unavailable("the edits could not be indexed; send them again");
    if (now() > deadline) throw unavailable("the edits are still being indexed; send the same request again");
  }
}

function unavailable(message: string): ApiError {
  return new ApiError("UNAVAILABLE", message, { headers: { "Retry-After": String(RETRY_AFTER_SEC) } });
}
