import type { ErrorCode } from "../contract/index.ts";

/** Failures that are not errors of the service. */
export type ClientErrorCode =
  /** No answer: DNS, connection, TLS, or a body that broke off. */
  | "NETWORK_ERROR"
  /** No complete answer within the time given. */
  | "TIMEOUT"
  /** The caller's `AbortSignal` fired. */
  | "ABORTED"
  /** An answer that is not what the contract says: a proxy's page, another service. */
  | "BAD_RESPONSE"
  /** The embedding space is not the pinned one any more: stored vectors and new ones do not compare. */
  | "FINGERPRINT_CHANGED";

export interface CodeContextErrorOptions {
  /** HTTP status; 0 where there was no answer. */
  status?: number;
  requestId?: string | undefined;
  details?: Record<string, unknown> | undefined;
  retryAfterSec?: number | undefined;
  cause?: unknown;
}

/** The one error class that the client throws. `code` decides, the message is for people. */
export class CodeContextError extends Error {
  override readonly name = "CodeContextError";
  /** A code of the contract, of the client, or one that a newer service added. */
  readonly code: ErrorCode | ClientErrorCode | (string & {});
  readonly status: number;
  /** `X-Request-Id` of the answer: what to quote to support. */
  readonly requestId: string | undefined;
  readonly details: Record<string, unknown> | undefined;
  /** Seconds after which a new try makes sense, where the service said so. */
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
