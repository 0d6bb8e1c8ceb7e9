import { ERROR_STATUS, type ErrorBody, type ErrorCode, type FieldIssue } from "../contract/errors.ts";

interface ApiErrorOptions {
  details?: Record<string, unknown>;
  /** Extra response headers, such as `Retry-After`. */
  headers?: Record<string, string>;
  /** For the log only; never on the wire. */
  cause?: unknown;
}

/** A failure that the contract defines, as the client sees it. The message must not reveal internals. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: Record<string, unknown> | undefined;
  readonly headers: Record<string, string>;

  constructor(code: ErrorCode, message: string, options: ApiErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.status = ERROR_STATUS[code];
    this.details = options.details;
    this.headers = options.headers ?? {};
  }

  /** The response body. */
  toBody(): ErrorBody {
    const body: ErrorBody = { ok: false, code: this.code, error: this.message };
    return this.details === undefined ? body : { ...body, details: this.details };
  }
}

/** An `INVALID_BODY` error (or the route's own code for it) that lists every rejected field. */
export function invalidBody(issues: readonly FieldIssue[], code: ErrorCode = "INVALID_BODY"): ApiError {
  const text = issues
    .map((issue) => (issue.path === "" ? issue.message : `${issue.path}: ${issue.message}`))
    .join("; ");
  return new ApiError(code, text, { details: { issues } });
}
