/** Entry of the api Worker: the routes, and the Durable Objects they stand on. */
import { createApi } from "./app.ts";

export { SourceGate } from "../gate/source-gate.ts";
export { TenantGate } from "../gate/tenant-gate.ts";
export { HealthMonitor } from "../health/health-monitor.ts";
export { TenantRuns } from "../indexing/tenant-runs.ts";
export { WorkspaceRuns } from "../indexing/workspace-runs.ts";

export default {
  fetch: createApi(),
} satisfies ExportedHandler<ApiEnv>;
