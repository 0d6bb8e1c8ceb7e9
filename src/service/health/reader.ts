import type { HealthCheck } from "../../contract/health.ts";
import { createLogger } from "../../lib/log.ts";
import { raceTimeout } from "../../lib/pause.ts";
import { MONITOR_NAME, type HealthMonitorApi, type HealthStatus } from "./types.ts";

/** The subset of the monitor's namespace that the reader uses. */
interface MonitorNamespace<Id = unknown> {
  idFromName(name: string): Id;
  get(id: Id): unknown;
}

/** An isolate's cache of the monitor's last answer. Holds values only, since requests cannot share I/O. */
interface HealthCache {
  status?: HealthStatus;
  /** When `status` was read, Unix time in milliseconds. */
  readAtMs: number;
  /** When a request last started to read. */
  askedAtMs: number;
}

export function createHealthCache(): HealthCache {
  return { readAtMs: -Infinity, askedAtMs: -Infinity };
}

/** An isolate asks the monitor about once in this time, however many requests it serves. */
const FRESH_MS = 1_000;
const READ_TIMEOUT_MS = 2_000;

const log = createLogger({ component: "health" });

/**
 * Reads the monitor's status, at most about a second old. While one request refreshes it, others use the last answer. If the
 * monitor is unreachable, the service is degraded, not down: this Worker is up.
 */
export async function readHealth(
  monitors: MonitorNamespace,
  cache: HealthCache,
  now: () => number = Date.now,
): Promise<HealthStatus> {
  const nowMs = now();
  const readBySomeone = nowMs - cache.askedAtMs < READ_TIMEOUT_MS && cache.askedAtMs > cache.readAtMs;
  if (cache.status && (nowMs - cache.readAtMs < FRESH_MS || readBySomeone)) return cache.status;
  cache.askedAtMs = nowMs;
  const status = (await ask(monitors)) ?? unreachable(cache.status);
  cache.status = status;
  cache.readAtMs = now();
  return status;
}

async function ask(monitors: MonitorNamespace): Promise<HealthStatus | undefined> {
  try {
    const monitor = monitors.get(monitors.idFromName(MONITOR_NAME)) as HealthMonitorApi;
    return await raceTimeout(monitor.status(), READ_TIMEOUT_MS);
  } catch (error) {
    log.error("health_monitor_unavailable", error);
    return undefined;
  }
}

function unreachable(last: HealthStatus | undefined): HealthStatus {
  const checks: Record<string, HealthCheck> = last?.checks ?? {};
  return { ok: false, status: "degraded", checks };
}
