import { Hono } from "hono";
import { RETRY_AFTER_HEADER, type UsageResponse } from "../../contract/index.ts";
import { ApiError } from "../../errors.ts";
import { usage as readUsage } from "../../gate/client.ts";
import type { ApiHono } from "../context.ts";
import { exchangeOf } from "../exchange.ts";
import { authorize } from "../middleware/authorize.ts";

/** `GET /usage`: the tenant's counters of the current month. */
export const usage = new Hono<ApiHono>();

usage.get("/usage", async (c) => {
  const {
    principal: { tenantId },
  } = await authorize(exchangeOf(c), { credential: "api_key", surface: "metered" });
  const snapshot = await readUsage(c.env.TENANT_GATE, tenantId, c.get("services").settlements.pending(tenantId));
  if (!("periodStart" in snapshot)) {
    throw new ApiError("UNAVAILABLE", "the usage cannot be read right now; try again", {
      headers: { [RETRY_AFTER_HEADER]: "5" },
    });
  }
  const { limit, used } = snapshot;
  const answer: UsageResponse = {
    ok: true,
    period: { start: snapshot.periodStart, end: snapshot.periodEnd },
    credits: { limit, used, remaining: Math.max(0, limit - used) },
    tokens: { embed: snapshot.embedTokens, rerank: snapshot.rerankTokens },
    calls: snapshot.calls,
    indexTokens: snapshot.indexTokens,
  };
  return c.json(answer, 200, { "Cache-Control": "no-store" });
});
