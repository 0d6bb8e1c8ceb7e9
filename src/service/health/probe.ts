/** Runs probes and derives the health status from their results. Platform-independent: dependencies are arguments. */
import { createLogger } from "../../lib/log.ts";
import { raceTimeout } from "../../lib/pause.ts";
import { CHECK_NAMES, type CheckName, type HealthCheck } from "../../contract/health.ts";
import type { Checks, HealthStatus } from "./types.ts";

/** Resolves if the dependency works, rejects if it does not; stops when the signal fires. */
export type Probe = (signal: AbortSignal) => Promise<void>;

export const PROBE_INTERVAL_MS = 30_000;
export const PROBE_TIMEOUT_MS = 5_000;
/** Older checks are ignored, because rounds were missed. */
export const CHECKS_VALID_MS = 3 * PROBE_INTERVAL_MS;

const log = createLogger({ component: "health" });

/** A failure with a public message, which names no host, address or provider. */
export class ProbeError extends Error {
  override readonly name = "ProbeError";
}

/** Runs one probe within `PROBE_TIMEOUT_MS`. Never rejects; passes errors to `onError` and reports errors other than `ProbeError` as "not reachable". */
export async function runProbe(
  probe: Probe,
  now: () => number = Date.now,
  onError: (error: unknown) => void = () => undefined,
): Promise<HealthCheck> {
  const startedMs = now();
  const abort = new AbortController();
  let error: string | undefined;
  try {
    await raceTimeout(probe(abort.signal), PROBE_TIMEOUT_MS);
  } catch (cause) {
    onError(cause);
    if (cause instanceof ProbeError) error = cause.message;
    else if (cause instanceof DOMException && cause.name === "TimeoutError")
      error = `no answer within ${PROBE_TIMEOUT_MS / 1_000} s`;
    else error = "not reachable";
    abort.abort();
  }
  const endedMs = now();
  const check = {
    ok: error === undefined,
    latencyMs: Math.max(0, endedMs - startedMs),
    checkedAt: new Date(endedMs).toISOString(),
  };
  return error === undefined ? check : { ...check, error };
}

/** Runs all probes at once. Logs why one failed. */
export async function runProbes(probes: Record<CheckName, Probe>, now: () => number = Date.now): Promise<Checks> {
  const checks: Checks = {};
  await Promise.all(
    CHECK_NAMES.map(async (name) => {
      checks[name] = await runProbe(probes[name], now, (error) =>
        log.error("health_check_failed", error, { check: name }),
      );
    }),
  );
  return checks;
}

/** Derives the status from the checks; `checks` is undefined before the first round. */
export function deriveStatus(checks: Checks | undefined, stopping: boolean): HealthStatus {
  if (stopping) return { ok: false, status: "stopping", checks: checks ?? {} };
  if (!checks) return { ok: false, status: "starting", checks: {} };
  const ok = CHECK_NAMES.every((name) => checks[name]?.ok === true);
  return { ok, status: ok ? "ok" : "degraded", checks };
}

/** HTTP status of a health document: 503 only if the service should receive no traffic. */
export function healthHttpStatus(status: HealthStatus["status"]): 200 | 503 {
  return status === "ok" || status === "degraded" ? 200 : 503;
}
