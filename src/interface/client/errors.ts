import type { ErrorCode } from "../../contract/index.ts";

/** Codes of failures that the service did not report. */
export type ClientErrorCode =
  /** No complete answer: DNS, connection, TLS, or a lost connection. */
  | "NETWORK_ERROR"
  /** No complete answer within the timeout. */
  | "TIMEOUT"
  /** The caller's `AbortSignal` fired. */
  | "ABORTED"
  /** An answer that does not follow the contract, such as a proxy's error page. */
  | "BAD_RESPONSE"
  /** The embedding space is no longer the pinned one: stored and new vectors are not comparable. */
  | "FINGERPRINT_CHANGED";

export interface CodeContextErrorOptions {
  /** HTTP status; 0 if there was no answer. */
  status?: number;
  requestId?: string | undefined;
  details?: Record<string, unknown> | undefined;
  retryAfterSec?: number | undefined;
  cause?: unknown;
}

/** The only error class that the client throws. Branch on `code`; the message is for people. */
export class CodeContextError extends Error {
  override readonly name = "CodeContextError";
  /** A code of the contract, of this client, or of a newer service. */
  readonly code: ErrorCode | ClientErrorCode | (string & {});
  readonly status: number;
  /** `X-Request-Id` of the answer; quote it when reporting a problem. */
  readonly requestId: string | undefined;
  readonly details: Record<string, unknown> | undefined;
  /** Seconds to wait before a retry, if the service said so. */
  readonly retryAfterSec: number | undefined;

  constructor(
    code: ErrorCode | ClientErrorCode | (string & {}),
    message: string,
    options: CodeContextErrorOptions = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.status = options.status ?? 0;
    this.requestId = options.requestId;
    this.details = options.details;
    this.retryAfterSec = options.retryAfterSec;
  }
}
