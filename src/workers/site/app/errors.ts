/** Errors of the dashboard, with HTTP status and code. */
import { isUnreachable } from "../../../service/db/errors.ts";
import type { Logger } from "../../../lib/log.ts";
import { GitError } from "../../../engines/git/errors.ts";
import { GithubError } from "../../../service/github/client.ts";
import { TenancyError } from "../../../service/tenancy/errors.ts";

const STATUS = {
  INVALID_BODY: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  CONFLICT: 409,
  INPUT_TOO_LARGE: 413,
  RATE_LIMITED: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503,
} as const;

const RETRY_AFTER_SEC = 5;

export type DashboardErrorCode = keyof typeof STATUS;

/** An error whose message is shown to the user. */
export class DashboardError extends Error {
  override readonly name = "DashboardError";
  readonly code: DashboardErrorCode;
  readonly status: (typeof STATUS)[DashboardErrorCode];
  /** The rejected form field, if there is one. */
  readonly field: string | undefined;
  readonly retryAfterSec: number | undefined;

  constructor(
    code: DashboardErrorCode,
    message: string,
    more: { field?: string | undefined; retryAfterSec?: number } = {},
  ) {
    super(message);
    this.code = code;
    this.status = STATUS[code];
    this.field = more.field;
    this.retryAfterSec = more.retryAfterSec;
  }

  /** The message without the field's name in the interface: as it is shown beside the field. */
  get plainMessage(): string {
    const { field, message } = this;
    return field !== undefined && message.startsWith(`${field}: `) ? message.slice(field.length + 2) : message;
  }

  toBody(): Record<string, unknown> {
    return {
      ok: false,
      code: this.code,
      error: this.message,
      ...(this.field === undefined ? {} : { details: { issues: [{ path: this.field, message: this.message }] } }),
      ...(this.retryAfterSec === undefined ? {} : { retryAfterSec: this.retryAfterSec }),
    };
  }
}

/** Converts a domain error to a `DashboardError`; undefined for unexpected errors. */
export function asRefusal(error: unknown): DashboardError | undefined {
  if (error instanceof DashboardError) return error;
  if (error instanceof TenancyError) {
    const code = error.code === "INVALID" ? "INVALID_BODY" : error.code;
    return new DashboardError(code, error.message, { field: error.field });
  }
  if (error instanceof GithubError) return new DashboardError("UNAVAILABLE", error.message, { retryAfterSec: 5 });
  if (error instanceof GitError) return new DashboardError("INVALID_BODY", error.message, { field: "url" });
  return undefined;
}

/** Converts any error to one that may be shown; unexpected ones are logged with the path of the request. */
export function toRefusal(error: unknown, log: Logger, path: string): DashboardError {
  const known = asRefusal(error);
  if (known) return known;
  log.error("request_failed", error, { path });
  return isUnreachable(error)
    ? new DashboardError("UNAVAILABLE", "the service cannot reach its database right now; try again", {
        retryAfterSec: RETRY_AFTER_SEC,
      })
    : new DashboardError("INTERNAL", "something went wrong on our side; try again");
}
