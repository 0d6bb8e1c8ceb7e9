import type { MiddlewareHandler } from "hono";
import { REQUEST_ID_HEADER } from "../../contract/index.ts";
import type { ApiHono } from "../context.ts";
import type { Exchange } from "../exchange.ts";
import { servicesOf } from "../services.ts";

const ACCEPTED = /^[\w-]{8,64}$/;

/** The id of a request: the one its client sent if that is a sane one. */
export function requestIdFor(sent: string | null | undefined): string {
  return typeof sent === "string" && ACCEPTED.test(sent) ? sent : crypto.randomUUID();
}

/**
 * Logs the end of a request unless it went well: the platform records every invocation by itself, and a line of our own
 * costs a metered request a third of its time.
 */
export function logUnlessWell(
  { request, log }: Pick<Exchange, "request" | "log">,
  status: number,
  startedAtMs: number,
): void {
  if (status < 400) return;
  const { method, url } = request;
  log.info("request", { method, path: new URL(url).pathname, status, ms: Date.now() - startedAtMs });
}

/** Gives each request its id, logger and services, and logs its end unless it went well. */
export const requestContext: MiddlewareHandler<ApiHono> = async (c, next) => {
  const requestId = requestIdFor(c.req.header(REQUEST_ID_HEADER));
  const services = servicesOf(c.env);
  const log = services.log.with({ requestId });
  c.set("requestId", requestId);
  c.set("services", services);
  c.set("log", log);
  c.header(REQUEST_ID_HEADER, requestId);
  const startedAt = Date.now();
  await next();
  logUnlessWell({ request: c.req.raw, log }, c.res.status, startedAt);
};
