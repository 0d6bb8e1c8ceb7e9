/** Converts failed calls to {@link CodeContextError}s. */
import { isRecord } from "../../lib/shape.ts";
import { type AnswerLike, type Call, readText } from "./call.ts";
import { CodeContextError } from "./errors.ts";

const GATEWAY_ERRORS = new Set([502, 504]);
const MAX_ERROR_CHARACTERS = 300;
/** No answer of the service is nested more deeply. */
const MAX_DEPTH = 64;
/** Longer bodies are no errors of this service. */
const MAX_ERROR_BYTES = 256 * 1024;

export function isTransient(error: CodeContextError): boolean {
  return GATEWAY_ERRORS.has(error.status) || error.code === "NETWORK_ERROR" || error.code === "TIMEOUT";
}

/** Node's codes of connections that cannot be made, of servers without TLS, and of certificates that it refuses. */
const UNREACHABLE = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EPROTO",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "ERR_TLS_CERT_ALTNAME_INVALID",
]);

/** Whether no connection could be made, as opposed to one that was lost later. */
export function isUnreachable({ code, cause }: CodeContextError): boolean {
  if (code !== "NETWORK_ERROR" || !(cause instanceof Error)) return false;
  return UNREACHABLE.has(codeOf(cause.cause) ?? codeOf(cause) ?? "");
}

export function aborted(call: Call, signal: AbortSignal): CodeContextError {
  return new CodeContextError("ABORTED", `${call.method} ${call.path} was aborted`, { cause: signal.reason });
}

export function noAnswer(call: Call, baseUrl: string, cause: unknown, timeoutMs: number | undefined): CodeContextError {
  if (timeoutMs !== undefined) {
    return new CodeContextError("TIMEOUT", `${call.method} ${call.path}: no answer within ${timeoutMs / 1_000} s`, {
      cause,
    });
  }
  const reason = cause instanceof Error ? (codeOf(cause.cause) ?? codeOf(cause) ?? cause.message) : String(cause);
  return new CodeContextError("NETWORK_ERROR", `cannot reach ${baseUrl} (${reason})`, { cause });
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

export async function readError(
  call: Call,
  response: AnswerLike,
  requestId: string | undefined,
  retryAfterMs: number | undefined,
): Promise<CodeContextError> {
  const body = parseJson((await readText(response, MAX_ERROR_BYTES)) ?? "");
  const retryAfterSec = retryAfterMs === undefined ? undefined : Math.ceil(retryAfterMs / 1_000);
  const options = { status: response.status, requestId, retryAfterSec };
  if (typeof body !== "object" || body === null || !("code" in body) || typeof body.code !== "string") {
    const code = response.status === 429 ? "RATE_LIMITED" : "BAD_RESPONSE";
    const target = response.status < 400 ? response.headers.get("Location") : null;
    const where = target === null ? "" : `, but with a redirect to ${target.slice(0, MAX_ERROR_CHARACTERS)}`;
    return new CodeContextError(
      code,
      `${call.method} ${call.path} answered ${response.status} without an error of this service${where}`,
      options,
    );
  }
  const message =
    "error" in body && typeof body.error === "string" ? body.error.slice(0, MAX_ERROR_CHARACTERS) : body.code;
  const details = "details" in body && isRecord(body.details) ? body.details : undefined;
  const inBody = "retryAfterSec" in body && typeof body.retryAfterSec === "number" ? body.retryAfterSec : undefined;
  return new CodeContextError(body.code, message, { ...options, details, retryAfterSec: retryAfterSec ?? inBody });
}

/** Undefined if the text is not JSON, or nested so deeply that recursive code could overflow the stack. */
export function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isShallow(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isShallow(value: unknown): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0 && depth < MAX_DEPTH; depth++) {
    const next: unknown[] = [];
    for (const outer of level)
      for (const inner of Object.values(outer ?? {})) if (typeof inner === "object" && inner !== null) next.push(inner);
    level = next;
  }
  return level.length === 0;
}
