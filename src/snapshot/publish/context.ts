import type { Db } from "../../db/client.ts";
import type { ErrorCode } from "../../contract/index.ts";
import { ApiError } from "../../errors.ts";
import type { Logger } from "../../log.ts";
import type { Presigner } from "./presign.ts";
import type { SnapshotBucket } from "./storage.ts";

/** What the snapshot operations work with. */
export interface SnapshotContext {
  db: Db;
  bucket: SnapshotBucket;
  /** Undefined where the store's S3 side is not configured: nothing can be signed then. */
  presigner: Presigner | undefined;
  /** Most bytes that the snapshots of one tenant may take. */
  storageLimitBytes: number;
  /** Unix milliseconds. */
  now: () => number;
  log: Logger;
}

/** On whose behalf. */
export interface Caller {
  tenantId: string;
  /** Public id of the credential, for the audit log. */
  actor: string;
}

/** Does a database or storage call; a failure that is no answer yet becomes `code`. */
export async function answering<T>(code: ErrorCode, message: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError(code, message, { cause: error });
  }
}
