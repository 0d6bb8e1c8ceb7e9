import type { MiddlewareHandler } from "hono";
import { REQUEST_ID_HEADER } from "../../../contract/index.ts";
import { requestIdOf } from "../../../lib/request-id.ts";
import type { ApiHono } from "../context.ts";
import { servicesOf } from "../services.ts";
import { discardBody } from "./body.ts";

/** Sets each request's id, logger and services, and every response's common headers. */
export const requestContext: MiddlewareHandler<ApiHono> = async (c, next) => {
  const requestId = requestIdOf(c.req.raw.headers);
  const services = servicesOf(c.env);
  const log = services.log.with({ requestId });
  c.set("requestId", requestId);
  c.set("services", services);
  c.set("log", log);
  c.header(REQUEST_ID_HEADER, requestId);
  c.header("X-Content-Type-Options", "nosniff");
  // Default; handlers with cacheable answers override it.
  c.header("Cache-Control", "no-store");
  const startedAt = Date.now();
  await next();
  await discardBody(c.req.raw);
  const { status } = c.res;
  // The platform records every invocation, so successes are not logged.
  if (status >= 400)
    log.info("request", { method: c.req.method, path: c.req.path, status, ms: Date.now() - startedAt });
};
