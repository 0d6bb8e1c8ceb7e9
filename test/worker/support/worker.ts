/** The Worker under test: the Durable Objects and the queue's consumer, without the routes in front of them. */
import type { HealthHeartbeat } from "../../../src/health/index.ts";

export { SourceGate } from "../../../src/gate/source-gate.ts";
export { TenantGate } from "../../../src/gate/tenant-gate.ts";
export { HealthMonitor } from "../../../src/health/health-monitor.ts";

/** Which monitor gets the heartbeats that come out of the queue; undefined: none does. */
export const delivery: { monitor: string | undefined } = { monitor: undefined };

export default {
  fetch: () => new Response("not part of these tests", { status: 404 }),
  async queue(batch, env) {
    if (delivery.monitor === undefined) return;
    const monitor = env.HEALTH_MONITOR.get(env.HEALTH_MONITOR.idFromName(delivery.monitor));
    for (const { body } of batch.messages) await monitor.queueSeen(body.sentAt);
  },
} satisfies ExportedHandler<ApiEnv, HealthHeartbeat>;
