/** Entry point of the api Worker: the routes and the Durable Objects. */
import { app } from "./running-app.ts";

export { AgentMcp } from "./agent-mcp.ts";
export { DashboardSearch } from "./dashboard-search.ts";
export { RateBucket } from "../../service/gate/rate-bucket.ts";
export { TenantGate } from "../../service/gate/tenant-gate.ts";
export { HealthMonitor } from "../../service/health/health-monitor.ts";
export { TenantRuns } from "../../service/runs/tenant-runs.ts";
export { WorkspaceRuns } from "../../service/runs/workspace-runs.ts";

export default {
  fetch: (request, env, ctx) => app.fetch(request, env, ctx),
} satisfies ExportedHandler<ApiEnv>;
