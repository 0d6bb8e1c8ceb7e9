/** Request limits of the interface. Characters are UTF-16 code units (JavaScript `length`). */
export const MAX_BODY_BYTES = 4 * 1024 * 1024;
/**
 * Values of a JSON body, arrays and objects included. A validator takes 5 to 20 µs for a value that it rejects, so a body of 4 MiB could
 * take seconds. Lists of globs and manifests may be longer.
 */
export const MAX_BODY_VALUES = 5_000;
export const MAX_LIST_VALUES = 10_000;
/** A manifest without unknown fields has 12. */
export const MAX_MANIFEST_VALUES = 2_000;
export const MAX_MCP_BODY_BYTES = 256 * 1024;
/** The MCP SDK takes 10 µs for each value of a message, whether it knows it or not. A tool call has 200 at most. */
export const MAX_MCP_VALUES = 1_000;
export const MAX_EMBED_INPUTS = 128;
export const MAX_RERANK_DOCUMENTS = 1_000;
export const MAX_INPUT_CHARACTERS = 480_000;
export const DEFAULT_MAX_FILE_SIZE_BYTES = 524_288;
/** Larger files are never indexed, whatever the request allows: several copies of a file must fit the indexer's memory. */
export const MAX_FILE_SIZE_BYTES = 4 * 1024 * 1024;
export const MAX_REPO_CHARACTERS = 2_000;
export const MAX_GLOB_CHARACTERS = 500;
/** Total length of a list of globs, which is stored with each run. */
export const MAX_GLOBS_CHARACTERS = 500_000;
export const MAX_MANIFEST_BYTES = 64 * 1024;
export const MAX_SNAPSHOT_BYTES = 4 * 1024 * 1024 * 1024;
/** Total size of a tenant's snapshots, unless `STORAGE_LIMIT_BYTES` is set. */
export const DEFAULT_STORAGE_LIMIT_BYTES = 20 * 1024 * 1024 * 1024;
export const MAX_PROVISIONED_WORKSPACES = 100;
export const UPLOAD_URL_TTL_SEC = 15 * 60;
export const DOWNLOAD_URL_TTL_SEC = 60 * 60;
export const SNAPSHOTS_KEPT = 5;
export const MAX_OVERLAY_FILES = 1_000;
/** Live overlays of a tenant; beyond, those that would expire first end. */
export const MAX_OVERLAYS = 500;
export const OVERLAY_TTL_SEC = 60 * 60;
export const TOKENS_PER_CREDIT = 1_000;
export const DEFAULT_MONTHLY_CREDITS = 10_000;
