import type { Caller } from "../../interface/questions/code-index.ts";
import type { Db } from "../db/client.ts";
import type { ErrorCode } from "../../contract/index.ts";
import { ApiError } from "../../lib/errors.ts";
import type { Logger } from "../../lib/log.ts";
import type { Presigner } from "./presign.ts";
import type { SnapshotBucket } from "./storage.ts";

/** Dependencies of the snapshot operations. */
export interface SnapshotContext {
  db: Db;
  bucket: SnapshotBucket;
  /** Undefined if the store's S3 endpoint is not configured; URLs cannot be signed then. */
  presigner: Presigner | undefined;
  /** Most bytes that the snapshots of one tenant may take. */
  storageLimitBytes: number;
  /** Unix milliseconds. */
  now: () => number;
  log: Logger;
}

/** The tenant and credential of a request. */
export interface Publisher extends Caller {
  /** Public id of the credential, for the audit log. */
  actor: string;
}

/** Runs a database or storage call. An error that is not an `ApiError` becomes one with `code` and `message`. */
export async function answering<T>(code: ErrorCode, message: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError(code, message, { cause: error });
  }
}
