import type { MiddlewareHandler } from "hono";
import { routePath } from "hono/route";
import { ApiError } from "../../../lib/errors.ts";
import { RequestCounter, type RequestCounts } from "../../../service/health/request-counts.ts";
import { type HealthMonitorApi, MONITOR_NAME } from "../../../service/health/types.ts";
import type { ApiContext, ApiHono } from "../context.ts";

/** Route of requests that no route matches. */
const UNMATCHED = "unmatched";

/** The requests of this isolate. */
export const counter = new RequestCounter();

/** Counts every request and reports to the monitor now and then, without delaying an answer. */
export const countRequests: MiddlewareHandler<ApiHono> = async (c, next) => {
  const startedAt = Date.now();
  await next();
  const path = routePath(c, -1).replace(/^\/api\/v1(?=\/)/, "");
  const route = path === "*" || path === "/*" ? UNMATCHED : path;
  const code = c.error instanceof ApiError ? c.error.code : c.error === undefined ? "-" : "INTERNAL";
  counter.observe(c.req.method, route, c.res.status, code, Date.now() - startedAt);
  const counts = counter.take(Date.now());
  if (counts) c.executionCtx.waitUntil(report(c, counts));
};

async function report(c: ApiContext, counts: RequestCounts): Promise<void> {
  try {
    await monitorOf(c).record(counts);
  } catch (error) {
    c.get("log").error("metrics_not_recorded", error);
  }
}

/** The monitor that keeps the counts of the deployment. */
export const monitorOf = (c: ApiContext) =>
  c.env.HEALTH_MONITOR.get(c.env.HEALTH_MONITOR.idFromName(MONITOR_NAME)) as unknown as HealthMonitorApi;
