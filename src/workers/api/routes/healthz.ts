import { HealthResponse, RETRY_AFTER_HEADER } from "../../../contract/index.ts";
import { createHealthCache, healthHttpStatus, readHealth } from "../../../service/health/index.ts";
import { limitSource } from "../middleware/authorize.ts";
import { publicRoute } from "../route.ts";

const cache = createHealthCache();
const RETRY_AFTER_SEC = "5";

/** The public health probe. It reads the monitor's last results and triggers no probes. */
export const health = publicRoute({
  id: "health",
  method: "GET",
  path: "/healthz",
  tag: "Service",
  summary: "Health of the service",
  description:
    "Public. 200 with `ok` false means that a dependency fails. Dependencies are probed in the background every 30 s, not by requests.",
  surface: "healthz",
  responses: {
    200: { description: "The service is up; `ok` and `checks` report its state.", schema: HealthResponse },
    503: { description: "Starting up or shutting down.", schema: HealthResponse },
  },
  handle: async (c) => {
    await limitSource(c, "healthz");
    const { ok, status, checks } = await readHealth(c.env.HEALTH_MONITOR, cache);
    const httpStatus = healthHttpStatus(status);
    if (httpStatus === 503) c.header(RETRY_AFTER_HEADER, RETRY_AFTER_SEC);
    return c.json({ ok, status, version: c.get("services").version, checks } satisfies HealthResponse, httpStatus);
  },
});
