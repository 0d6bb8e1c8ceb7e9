import type { RequestCounts } from "./request-counts.ts";
import type { CheckName, HealthCheck, HealthResponse } from "../../contract/health.ts";

export type Checks = Partial<Record<CheckName, HealthCheck>>;

/** The health document without the version, which the answering Worker adds. */
export type HealthStatus = Omit<HealthResponse, "version">;

/** Message on the indexing queue; the consumer passes `sentAt` to the monitor's `queueSeen`. */
export interface HealthHeartbeat {
  kind: "health";
  /** Unix time in milliseconds. */
  sentAt: number;
}

/** RPC surface of the health monitor's Durable Object. */
export interface HealthMonitorApi {
  status(): Promise<HealthStatus>;
  /** Adds to the deployment's counts of requests. */
  record(counts: RequestCounts): Promise<void>;
  /** All requests that were reported since the deployment began. */
  counts(): Promise<RequestCounts>;
  /** Reports that a heartbeat arrived. */
  queueSeen(sentAt: number): Promise<void>;
  /** Announces a planned shutdown: the service is not ready until the object starts again. */
  stop(): Promise<void>;
}

/** Name of the one monitor: `idFromName(MONITOR_NAME)`. */
export const MONITOR_NAME = "monitor";
