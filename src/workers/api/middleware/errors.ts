import { HTTPException } from "hono/http-exception";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { type CompatErrorBody, type ErrorCode, type FieldIssue, RETRY_AFTER_HEADER } from "../../../contract/index.ts";
import { isUnreachable } from "../../../service/db/errors.ts";
import { ApiError, invalidBody } from "../../../lib/errors.ts";
import { InvalidFieldError, NotFoundError, QuestionError } from "../../../interface/questions/code-index.ts";
import type { ApiContext } from "../context.ts";

/** nginx's status for a client that disconnected before the answer; appears in logs only. */
const CLIENT_GONE_STATUS = 499;
/** Default `Retry-After` of a 503. */
const DEFAULT_RETRY_AFTER_SEC = 30;
const DATABASE_RETRY_AFTER_SEC = "5";

/** Converts a thrown error to a response. Unexpected errors reveal no details. */
export function onError(error: Error, c: ApiContext): Response {
  if (c.req.raw.signal.aborted) return new Response(null, { status: CLIENT_GONE_STATUS });
  const known = toApiError(error);
  if (known.status >= 500) c.get("log").error("request_failed", error, { code: known.code, path: c.req.path });
  if (known.status === 503) c.header(RETRY_AFTER_HEADER, String(DEFAULT_RETRY_AFTER_SEC));
  const isCompat = c.get("errorForm") === "compat";
  // The quota resets monthly, so retrying is pointless; OpenAI's clients honour this header.
  if (isCompat && known.code === "QUOTA_EXCEEDED") c.header("X-Should-Retry", "false");
  const body = isCompat ? toCompatBody(known) : known.toBody();
  return c.body(JSON.stringify(body), known.status as ContentfulStatusCode, {
    "Content-Type": "application/json",
    ...known.headers,
  });
}

/** The contract's error of anything that was thrown; `INTERNAL` for what no caller can mend. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof NotFoundError)
    return new ApiError(error.code, error.message, { details: { near: [...error.near] } });
  if (error instanceof InvalidFieldError) return invalidBody([{ path: error.field, message: error.problem }]);
  if (error instanceof QuestionError) return new ApiError(error.code, error.message);
  if (error instanceof HTTPException && error.status === 400)
    return new ApiError("INVALID_BODY", "the request is malformed");
  if (isUnreachable(error)) {
    const headers = { [RETRY_AFTER_HEADER]: DATABASE_RETRY_AFTER_SEC };
    return new ApiError("UNAVAILABLE", "the database cannot be reached right now; try again", {
      cause: error,
      headers,
    });
  }
  return new ApiError("INTERNAL", "an unexpected error; try again, and quote the X-Request-Id when you report it", {
    cause: error,
  });
}

/** Names that OpenAI's clients know; every other code is sent in lower case. */
const COMPAT_NAMES: Partial<Record<ErrorCode, { type: string; code: string }>> = {
  INVALID_API_KEY: { type: "invalid_request_error", code: "invalid_api_key" },
  RATE_LIMITED: { type: "requests", code: "rate_limit_exceeded" },
  QUOTA_EXCEEDED: { type: "insufficient_quota", code: "insufficient_quota" },
};

/** The error body in OpenAI's format. */
function toCompatBody({ code, status, message, details }: ApiError): CompatErrorBody {
  const names = COMPAT_NAMES[code] ?? {
    type: status < 500 ? "invalid_request_error" : "server_error",
    code: code.toLowerCase(),
  };
  const issues = details?.["issues"] as FieldIssue[] | undefined;
  const param = issues?.[0]?.path.split(".")[0];
  return { error: { message, ...names, param: param === undefined || param === "" ? null : param }, message };
}
