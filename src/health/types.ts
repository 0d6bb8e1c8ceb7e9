import type { CheckName, HealthCheck, HealthResponse } from "../contract/health.ts";

export type Checks = Partial<Record<CheckName, HealthCheck>>;

/** The health document but for the version, which the Worker that answers knows. */
export type HealthStatus = Omit<HealthResponse, "version">;

/** Travels through the indexing queue; its consumer hands `sentAt` to the monitor's `queueSeen`. */
export interface HealthHeartbeat {
  kind: "health";
  /** Unix time in milliseconds. */
  sentAt: number;
}

/** RPC surface of the health monitor's Durable Object. */
export interface HealthMonitorApi {
  status(): Promise<HealthStatus>;
  /** Reports that a heartbeat came out of the queue. */
  queueSeen(sentAt: number): Promise<void>;
  /** Announces a planned shutdown: the service is not ready from now on, until the object starts anew. */
  stop(): Promise<void>;
}

/** Name of the one monitor: `idFromName(MONITOR_NAME)`. */
export const MONITOR_NAME = "monitor";
