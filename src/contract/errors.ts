/** Every error code of the service with its HTTP status. Codes are stable; messages may change. */
export const ERROR_STATUS = {
  INVALID_BODY: 400,
  INVALID_SELECTOR: 400,
  BAD_TENANT_ID: 400,
  BAD_WORKSPACE_ID: 400,
  BAD_GIT_SHA: 400,
  BAD_SOURCE: 400,
  BAD_BODY: 400,
  INVALID_API_KEY: 401,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  FORBIDDEN_WORKSPACE: 403,
  FORBIDDEN_ORIGIN: 403,
  SHARED_INDEX_DISABLED: 403,
  WORKSPACE_LIMIT: 403,
  STORAGE_LIMIT: 403,
  NOT_FOUND: 404,
  WORKSPACE_NOT_FOUND: 404,
  NO_SNAPSHOT: 404,
  NO_WORKSPACE: 404,
  NO_INDEX: 404,
  RUN_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  RUN_CANCELLED: 409,
  SNAPSHOT_IN_PROGRESS: 409,
  SNAPSHOT_CONFLICT: 409,
  INPUT_TOO_LARGE: 413,
  CLONE_FAILED: 422,
  RATE_LIMITED: 429,
  QUOTA_EXCEEDED: 429,
  INTERNAL: 500,
  EMBED_FAILED: 500,
  LOOKUP_FAILED: 500,
  COMMIT_FAILED: 500,
  NOT_CONFIGURED: 501,
  UPSTREAM_ERROR: 502,
  UPSTREAM_UNREACHABLE: 502,
  STORAGE_UNAVAILABLE: 502,
  SIGN_FAILED: 502,
  SIGN_UPLOAD_FAILED: 502,
  EMBED_UNAVAILABLE: 503,
  RERANK_UNAVAILABLE: 503,
  UNAVAILABLE: 503,
  UPSTREAM_TIMEOUT: 504,
} as const satisfies Record<string, number>;

export type ErrorCode = keyof typeof ERROR_STATUS;

/** One rejected field of a request body. `path` is dotted, such as `source.url` or `input.3`. */
export interface FieldIssue {
  path: string;
  message: string;
}

/** Response body of every error except `RATE_LIMITED`. */
export interface ErrorBody {
  ok: false;
  code: ErrorCode;
  error: string;
  details?: Record<string, unknown>;
}

/** Response body of a 429 from a rate-limit bucket. */
export interface RateLimitedBody {
  ok: false;
  code: "RATE_LIMITED";
  error: string;
  retryAfterSec: number;
}
