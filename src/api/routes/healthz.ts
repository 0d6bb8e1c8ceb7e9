import { Hono } from "hono";
import { takeFromSource } from "../../gate/client.ts";
import { createHealthCache, healthHttpStatus, readHealth } from "../../health/index.ts";
import type { ApiHono } from "../context.ts";
import { exchangeOf } from "../exchange.ts";
import { RateLimitedError, setRateHeaders } from "../middleware/authorize.ts";

/** The public health probe. It reads what the monitor's background probes found; it probes nothing itself. */
export const health = new Hono<ApiHono>();

const cache = createHealthCache();

health.get("/healthz", async (c) => {
  const taken = await takeFromSource(
    c.env.SOURCE_GATE,
    c.env.ENCRYPTION_KEY,
    c.req.header("CF-Connecting-IP"),
    "healthz",
  );
  // A probe must not fail because its rate limit cannot be counted.
  if ("rate" in taken) {
    setRateHeaders(exchangeOf(c), taken.rate);
    if (!taken.allowed) throw new RateLimitedError(taken.retryAfterSec);
  }
  const status = await readHealth(c.env.HEALTH_MONITOR, cache);
  c.header("Cache-Control", "no-store");
  const { ok, status: name, checks } = status;
  return c.json({ ok, status: name, version: c.get("services").version, checks }, healthHttpStatus(name));
});
