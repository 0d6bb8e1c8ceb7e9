/** The Worker under test: the Durable Objects without the routes in front of them. */
export { SourceGate } from "../../../src/gate/source-gate.ts";
export { TenantGate } from "../../../src/gate/tenant-gate.ts";
export { HealthMonitor } from "../../../src/health/health-monitor.ts";

export default {
  fetch: () => new Response("not part of these tests", { status: 404 }),
};
