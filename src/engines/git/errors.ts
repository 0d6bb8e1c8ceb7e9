import { Buffer } from "node:buffer";
import { STDERR_MAX_BYTES } from "./limits.ts";

export type GitErrorCode =
  | "URL_FORBIDDEN"
  | "AUTH"
  | "NOT_FOUND"
  | "REF_NOT_FOUND"
  | "EMPTY_REPOSITORY"
  | "PROTOCOL"
  | "CORRUPT"
  | "NETWORK"
  | "TIMEOUT"
  | "LIMIT"
  | "ABORTED";

/** Failure of an operation on a remote repository. `stderr` is what git would print: the server's message if it sent one, else ours. */
export class GitError extends Error {
  readonly code: GitErrorCode;
  readonly stderr: string;
  readonly retryable: boolean;
  /** HTTP status of the failed response; 0 when the failure is not an HTTP status. */
  readonly status: number;

  constructor(
    code: GitErrorCode,
    message: string,
    options: { stderr?: string; retryable?: boolean; status?: number } = {},
  ) {
    super(message);
    this.name = "GitError";
    this.code = code;
    this.stderr = options.stderr === undefined || options.stderr === "" ? message : options.stderr;
    this.status = options.status ?? 0;
    this.retryable = options.retryable ?? (code === "NETWORK" || code === "TIMEOUT");
  }
}

export const corrupt = (message: string): GitError => new GitError("CORRUPT", message);
export const overLimit = (message: string): GitError => new GitError("LIMIT", message);
export const protocolError = (message: string, stderr?: string): GitError =>
  new GitError("PROTOCOL", message, stderr === undefined ? {} : { stderr });

/** Makes server text safe to show: blanks secrets, drops control characters, caps the length. */
export type Scrub = (text: string) => string;

/** Blanks the token in every form in which a server could echo it, and any credentials inside a URL. */
export function makeScrub(auth: { token: string; username?: string | undefined } | undefined): Scrub {
  const secrets: string[] = [];
  if (auth !== undefined && auth.token !== "") {
    const pair = `${auth.username ?? ""}:${auth.token}`;
    secrets.push(
      Buffer.from(pair).toString("base64"),
      Buffer.from(pair).toString("base64url"),
      Buffer.from(auth.token).toString("base64"),
      encodeURIComponent(auth.token),
      auth.token,
    );
  }
  return (text) => {
    let out = text;
    for (const secret of secrets) out = out.replaceAll(secret, "***");
    out = out.replaceAll(/:\/\/[^/\s@]+@/g, "://***@");
    out = out.replaceAll(/\r\n?/g, "\n");
    // oxlint-disable-next-line no-control-regex -- removes control characters on purpose
    out = out.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f]/g, "").trim();
    return out.length > STDERR_MAX_BYTES ? `${out.slice(0, STDERR_MAX_BYTES)}…` : out;
  };
}
