import { CodeContextError } from "../interface/client/errors.ts";
import { InvalidFieldError, NotFoundError, QuestionError } from "../interface/questions/code-index.ts";

/** Exit codes of `codectx`. Documented in docs/cli.md; their meaning is stable. */
export const EXIT = {
  ok: 0,
  /** An unexpected failure. */
  failure: 1,
  /** Wrong command line or configuration; not a repository. */
  usage: 2,
  /** No credential, or a rejected one. */
  auth: 3,
  /** No such symbol, file, snapshot or workspace. */
  notFound: 4,
  /** Rate limit or quota. */
  limit: 5,
  /** The service, its upstream or the network failed. */
  unavailable: 6,
  /** Wrong checksum or format. */
  integrity: 7,
  /** Another process or publisher is active. */
  busy: 8,
  /** This machine: disk full, no permission, read-only. */
  io: 9,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

interface CliErrorOptions {
  requestId?: string | undefined;
  details?: Record<string, unknown> | undefined;
  cause?: unknown;
}

/** An expected failure: a one-line message, an error code and an exit code. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exit: ExitCode;
  readonly code: string;
  readonly requestId: string | undefined;
  readonly details: Record<string, unknown> | undefined;

  constructor(exit: ExitCode, code: string, message: string, options: CliErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.exit = exit;
    this.code = code;
    this.requestId = options.requestId;
    this.details = options.details;
  }
}

const BY_CODE: Record<string, ExitCode> = {
  ABORTED: EXIT.interrupted,
  NETWORK_ERROR: EXIT.unavailable,
  TIMEOUT: EXIT.unavailable,
  BAD_RESPONSE: EXIT.unavailable,
  CLONE_FAILED: EXIT.unavailable,
  SHARED_INDEX_DISABLED: EXIT.auth,
  FORBIDDEN: EXIT.auth,
  FORBIDDEN_WORKSPACE: EXIT.auth,
  WORKSPACE_LIMIT: EXIT.limit,
  STORAGE_LIMIT: EXIT.limit,
  RATE_LIMITED: EXIT.limit,
  QUOTA_EXCEEDED: EXIT.limit,
  SNAPSHOT_CONFLICT: EXIT.busy,
  SNAPSHOT_IN_PROGRESS: EXIT.busy,
};

function exitOf(error: CodeContextError): ExitCode {
  const known = BY_CODE[error.code];
  if (known !== undefined) return known;
  if (error.status === 401 || error.status === 403) return EXIT.auth;
  if (error.status === 404) return EXIT.notFound;
  if (error.status >= 500) return EXIT.unavailable;
  return EXIT.failure;
}

const ADVICE: Record<string, string> = {
  INVALID_API_KEY: "the API key is missing, wrong, expired or revoked; run `codectx login` or set CODECTX_API_KEY",
  UNAUTHORIZED: "the worker token is missing or wrong; pass --worker-token or set CODECTX_WORKER_TOKEN",
  SHARED_INDEX_DISABLED: "turn the shared index on in the dashboard settings",
};

/** No service listens on this machine. */
const REFUSED_HERE = /^cannot reach https?:\/\/(?:127\.0\.0\.1|localhost|\[::1\])[:/ ].*\(ECONNREFUSED\)$/;

/** The service's certificate is signed by itself, or by an authority that Node does not know. */
const UNKNOWN_AUTHORITY =
  /\((?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_GET_ISSUER_CERT(?:_LOCALLY)?|UNABLE_TO_VERIFY_LEAF_SIGNATURE)\)$/;

/** The handshake failed, mostly because the server speaks plain http. */
const NO_TLS = /^cannot reach https:.*\(EPROTO\)$/;

/** The messages of the api and the site for an address that neither has. */
const WRONG_ADDRESS = /^there is no (?:such page$|\/)/;

/** Node uses them if NODE_USE_ENV_PROXY is 1. */
const PROXY_VARIABLES = ["https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY"];

/** Advice that follows the error's message. */
function adviceOf({ code, message, retryAfterSec }: CodeContextError): string {
  const advice = ADVICE[code];
  if (advice !== undefined) return `: ${advice}`;
  if (UNKNOWN_AUTHORITY.test(message))
    return ": set NODE_EXTRA_CA_CERTS to a file with the certificate of the authority that signed the service's";
  if (code === "NOT_FOUND" && WRONG_ADDRESS.test(message))
    return ": the address of the service is wrong (--api-url, CODECTX_API_URL or `codectx config api-url`); the api is at an address without a path, or at <site>/api/v1";
  if (NO_TLS.test(message)) return ": the TLS handshake failed; a service without TLS has an address with http://";
  const proxy = code === "NETWORK_ERROR" ? PROXY_VARIABLES.find((name) => process.env[name]) : undefined;
  if (proxy !== undefined && process.env["NODE_USE_ENV_PROXY"] === "1")
    return `: requests go to the proxy of ${proxy}; NO_PROXY lists the hosts that are reached without it`;
  if (REFUSED_HERE.test(message)) return ": start the service with `npm start`, or name another one with --api-url";
  if (proxy !== undefined) return `: ${proxy} is used if NODE_USE_ENV_PROXY=1 is set too`;
  const limited = code === "RATE_LIMITED" || code === "QUOTA_EXCEEDED";
  return limited && retryAfterSec !== undefined ? `; try again in ${describeSeconds(retryAfterSec)}` : "";
}

function describeSeconds(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.ceil(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.ceil(seconds / 3_600)} h` : `${Math.ceil(seconds / 86_400)} days`;
}

const SYSTEM_ERRORS: Record<string, string> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EROFS: "the file system is read-only",
  EACCES: "permission denied",
  EPERM: "permission denied",
  ENOTDIR: "a file is where a folder should be",
  EEXIST: "a file is where a folder should be",
  EBUSY: "another program has the file open",
  EIO: "the disk reported an error",
  EFBIG: "a file would be larger than this process may write (ulimit -f)",
  EMFILE: "too many open files",
};

/** Shown only if rebuilding the index has failed too. */
const INDEX_DAMAGED: [ExitCode, string, string] = [
  EXIT.integrity,
  "INDEX_DAMAGED",
  "the local index is damaged and could not be rebuilt; remove it with `codectx cache clean`",
];

/** Primary result codes of SQLite (the low byte of an extended one). */
const SQLITE_ERRORS: Record<number, [ExitCode, string, string]> = {
  5: [EXIT.busy, "INDEX_BUSY", "another process is writing to the local index"],
  8: [EXIT.io, "READ_ONLY", "the local index cannot be written (read-only file or folder)"],
  10: [EXIT.io, "DISK_ERROR", "the disk reported an error while the local index was in use"],
  11: INDEX_DAMAGED,
  13: [EXIT.io, "DISK_FULL", "the disk is full"],
  14: [EXIT.io, "CANNOT_OPEN", "the local index cannot be opened (missing folder or permission)"],
  26: INDEX_DAMAGED,
};

/** Converts any thrown value to a `CliError`. */
export function toCliError(error: unknown): CliError {
  if (error instanceof CliError) return error;
  if (error instanceof CodeContextError) {
    const { code, requestId, details } = error;
    return new CliError(exitOf(error), code, oneLine(error.message + adviceOf(error)), {
      requestId,
      details,
      cause: error,
    });
  }
  if (error instanceof QuestionError) {
    const details = error instanceof NotFoundError ? { near: error.near } : undefined;
    const exit = error instanceof InvalidFieldError ? EXIT.usage : EXIT.notFound;
    return new CliError(exit, error.code, oneLine(error.message), { details, cause: error });
  }
  if (!(error instanceof Error)) return new CliError(EXIT.failure, "INTERNAL", oneLine(String(error)));
  if (error.name === "SnapshotFormatError") {
    return new CliError(EXIT.integrity, "BAD_SNAPSHOT", oneLine(`the snapshot is damaged: ${error.message}`), {
      cause: error,
    });
  }
  if (error.name === "IndexDamagedError") {
    const [exit, code, text] = INDEX_DAMAGED;
    return new CliError(exit, code, text, { cause: error });
  }
  if (error.name === "GlobError") return new CliError(EXIT.usage, "INVALID_GLOB", error.message, { cause: error });
  if (error.name === "AbortError") return new CliError(EXIT.interrupted, "ABORTED", "interrupted");
  if ("errcode" in error && typeof error.errcode === "number") {
    const [exit, code, text] = SQLITE_ERRORS[error.errcode & 0xff] ?? [
      EXIT.failure,
      "INDEX_ERROR",
      `local index: ${error.message}`,
    ];
    return new CliError(exit, code, text, { cause: error });
  }
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  // Every folder is made in one that exists: file systems that cannot have any say this.
  const isNoPlace = code === "ENOENT" && "syscall" in error && error.syscall === "mkdir";
  const known = isNoPlace ? "a folder cannot be made there" : code === undefined ? undefined : SYSTEM_ERRORS[code];
  if (known !== undefined) {
    const path = "path" in error && typeof error.path === "string" ? `: ${error.path}` : "";
    return new CliError(EXIT.io, code ?? "IO", known + path, { cause: error });
  }
  return new CliError(EXIT.failure, "INTERNAL", oneLine(error.message), { cause: error });
}

export function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, " ").trim();
}
