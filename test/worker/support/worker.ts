/** The Worker under test: the Durable Objects and the queue's consumer, without the routes in front of them. */
import type { QueueMessage, StepMessage } from "../../../src/service/runs/messages.ts";

export { RateBucket } from "../../../src/service/gate/rate-bucket.ts";
export { TenantGate } from "../../../src/service/gate/tenant-gate.ts";
export { OAuthObject } from "../../../src/service/oauth/oauth-object.ts";
export { HealthMonitor } from "../../../src/service/health/health-monitor.ts";
export { TenantRuns } from "../../../src/service/runs/tenant-runs.ts";
export { WorkspaceRuns } from "../../../src/service/runs/workspace-runs.ts";

/** Which monitor gets the heartbeats that come out of the queue; undefined: none does. */
export const delivery: { monitor: string | undefined } = { monitor: undefined };

/** Steps of index runs that came out of the queue; nobody works on them here. */
export const steps: StepMessage[] = [];
/** Requests to rebuild a search index. */
export const rebuilds: QueueMessage[] = [];

export default {
  fetch: () => new Response("not part of these tests", { status: 404 }),
  async queue(batch, env) {
    for (const { body } of batch.messages) {
      if (body.kind === "rebuild_search") rebuilds.push(body);
      else if ("runId" in body) steps.push(body);
      else if (body.kind === "health" && delivery.monitor !== undefined) {
        await env.HEALTH_MONITOR.get(env.HEALTH_MONITOR.idFromName(delivery.monitor)).queueSeen(body.sentAt);
      }
    }
  },
} satisfies ExportedHandler<ApiEnv, QueueMessage>;
