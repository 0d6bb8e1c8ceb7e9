/** Request limits of the interface. Characters are UTF-16 code units (JavaScript `length`). */
export const MAX_BODY_BYTES = 4 * 1024 * 1024;
export const MAX_EMBED_INPUTS = 128;
export const MAX_RERANK_DOCUMENTS = 1_000;
export const MAX_INPUT_CHARACTERS = 480_000;
export const DEFAULT_MAX_FILE_SIZE_BYTES = 524_288;
/** Above this a file is never indexed, whatever the request says: one file must fit the indexer's memory many times over. */
export const MAX_FILE_SIZE_BYTES = 4 * 1024 * 1024;
export const MAX_GLOB_CHARACTERS = 500;
/** Of all globs of a list together: what a run's coordinator stores with it. */
export const MAX_GLOBS_CHARACTERS = 500_000;
export const MAX_MANIFEST_BYTES = 64 * 1024;
export const MAX_SNAPSHOT_BYTES = 4 * 1024 * 1024 * 1024;
/** Of all snapshots of a tenant, unless configured otherwise. */
export const DEFAULT_STORAGE_LIMIT_BYTES = 20 * 1024 * 1024 * 1024;
export const MAX_PROVISIONED_WORKSPACES = 100;
export const UPLOAD_URL_TTL_SEC = 15 * 60;
export const DOWNLOAD_URL_TTL_SEC = 60 * 60;
export const SNAPSHOTS_KEPT = 5;
export const TOKENS_PER_CREDIT = 1_000;
export const DEFAULT_MONTHLY_CREDITS = 10_000;
