import { setTimeout as sleep } from "node:timers/promises";
import { backoffMs } from "../../lib/backoff.ts";
import { CliError, EXIT } from "../exit-codes.ts";

const BACKOFF = { baseMs: 500, capMs: 15_000 };

/** Waits before retry number `attempt` (from 1). Throws `ABORTED` when `signal` aborts. */
export async function backOff(attempt: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(backoffMs(attempt, BACKOFF), undefined, { signal });
  } catch {
    throw interrupted();
  }
}

export function interrupted(): CliError {
  return new CliError(EXIT.interrupted, "ABORTED", "interrupted");
}

/** Whether the storage rejected a signed URL, most likely because it has expired. */
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
