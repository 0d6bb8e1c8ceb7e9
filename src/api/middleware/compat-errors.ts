import type { CompatErrorBody, ErrorCode, FieldIssue } from "../../contract/index.ts";
import type { ApiError } from "../../errors.ts";
import type { ApiContext } from "../context.ts";
import { exchangeOf } from "../exchange.ts";
import { respondToError } from "./errors.ts";

/** Names that OpenAI's clients know; every other code goes out as ours in lower case. */
const KNOWN: Partial<Record<ErrorCode, { type: string; code: string }>> = {
  INVALID_API_KEY: { type: "invalid_request_error", code: "invalid_api_key" },
  RATE_LIMITED: { type: "requests", code: "rate_limit_exceeded" },
  QUOTA_EXCEEDED: { type: "insufficient_quota", code: "insufficient_quota" },
};

/** `onError` of the routes that speak another service's wire format: the same errors in OpenAI's envelope. */
export function onCompatError(error: Error, c: ApiContext): Response {
  return respondToError(error, exchangeOf(c), (known) => {
    // Waiting out a month is no retry; OpenAI's clients heed this header.
    if (known.code === "QUOTA_EXCEEDED") c.header("X-Should-Retry", "false");
    return toCompatBody(known);
  });
}

function toCompatBody({ code, status, message, details }: ApiError): CompatErrorBody {
  const names = KNOWN[code] ?? {
    type: status < 500 ? "invalid_request_error" : "server_error",
    code: code.toLowerCase(),
  };
  const issues = details?.["issues"] as FieldIssue[] | undefined;
  const param = issues?.[0]?.path.split(".")[0];
  return { error: { message, ...names, param: param === undefined || param === "" ? null : param }, message };
}
