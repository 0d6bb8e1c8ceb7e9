/** Health, for the routes and the queue consumer. The Durable Object is in `health-monitor.ts`. */
export { healthHttpStatus } from "./probe.ts";
export { createHealthCache, readHealth } from "./reader.ts";
export { type HealthHeartbeat, type HealthMonitorApi, type HealthStatus, MONITOR_NAME } from "./types.ts";
