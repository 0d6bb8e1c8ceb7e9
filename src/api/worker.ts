/** Entry point of the api Worker: the routes and the Durable Objects. */
import { createApp } from "./app.ts";

export { DashboardSearch } from "./dashboard-search.ts";
export { RateBucket } from "../gate/rate-bucket.ts";
export { TenantGate } from "../gate/tenant-gate.ts";
export { HealthMonitor } from "../health/health-monitor.ts";
export { TenantRuns } from "../indexing/tenant-runs.ts";
export { WorkspaceRuns } from "../indexing/workspace-runs.ts";

const app = createApp();

export default {
  fetch: (request, env, ctx) => app.fetch(request, env, ctx),
} satisfies ExportedHandler<ApiEnv>;
