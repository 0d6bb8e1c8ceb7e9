import { setTimeout as sleep } from "node:timers/promises";
import { CliError, EXIT } from "../exit-codes.ts";

const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 15_000;
const JITTER_SHARE = 0.25;

/** Wait before try `attempt` (1 is the first repetition), doubling, with jitter. */
export async function backOff(attempt: number, signal: AbortSignal): Promise<void> {
  const ms = Math.min(FIRST_WAIT_MS * 2 ** (attempt - 1), MAX_WAIT_MS) * (1 + JITTER_SHARE * Math.random());
  try {
    await sleep(ms, undefined, { signal });
  } catch {
    throw interrupted();
  }
}

export function interrupted(): CliError {
  return new CliError(EXIT.interrupted, "ABORTED", "interrupted");
}

/** The storage's answer to a signed URL that it does not (or no longer) accept. */
export function isExpired(status: number): boolean {
  return status === 401 || status === 403 || status === 400;
}

export function storageFailure(action: string, cause: unknown): CliError {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  const code = inner instanceof Error && "code" in inner && typeof inner.code === "string" ? inner.code : undefined;
  const reason = code ?? (inner instanceof Error ? inner.message : String(inner));
  return new CliError(
    EXIT.unavailable,
    "STORAGE_UNREACHABLE",
    `${action} failed: the storage did not answer (${reason})`,
    { cause },
  );
}
