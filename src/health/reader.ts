import type { HealthCheck } from "../contract/health.ts";
import { raceTimeout } from "../pause.ts";
import { MONITOR_NAME, type HealthMonitorApi, type HealthStatus } from "./types.ts";

/** The part of the monitor's namespace that is used. */
export interface MonitorNamespace<Id = unknown> {
  idFromName(name: string): Id;
  get(id: Id): unknown;
}

/** What one isolate knows of the monitor's last answer. One per isolate; values only, since requests share no I/O. */
export interface HealthCache {
  status?: HealthStatus;
  /** When `status` was read, Unix time in milliseconds. */
  readAtMs: number;
  /** When a request last set out to read. */
  askedAtMs: number;
}

export function createHealthCache(): HealthCache {
  return { readAtMs: -Infinity, askedAtMs: -Infinity };
}

/** An isolate asks the monitor about once in this time, however many requests it gets. */
const FRESH_MS = 1_000;
const READ_TIMEOUT_MS = 2_000;

/**
 * The monitor's status, at most about a second old. While one request refreshes it, other requests of the isolate use the last
 * answer. An unreachable monitor means a degraded service, not a dead one: this Worker is up.
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
  } catch {
    return undefined;
  }
}

function unreachable(last: HealthStatus | undefined): HealthStatus {
  const checks: Record<string, HealthCheck> = last?.checks ?? {};
  return { ok: false, status: "degraded", checks };
}
