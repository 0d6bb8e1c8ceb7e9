import { RETRY_AFTER_HEADER, UsageResponse } from "../../../contract/index.ts";
import { ApiError } from "../../../lib/errors.ts";
import { usage as readUsage } from "../../../service/gate/client.ts";
import { route } from "../route.ts";

/** The tenant's counters of the current month. */
export const usage = route({
  id: "usage",
  method: "GET",
  path: "/usage",
  tag: "Embedding and reranking",
  summary: "Credits and calls of the current month",
  description: "Free. Credits reserved by requests in flight are not included.",
  credential: "api_key",
  surface: "metered",
  responses: { 200: { description: "The tenant's counters.", schema: UsageResponse } },
  handle: async (c, { principal: { tenantId, credentialId } }) => {
    const figures = await readUsage(c.env.TENANT_GATE, tenantId, credentialId);
    if ("outcome" in figures) {
      const headers = { [RETRY_AFTER_HEADER]: "5" };
      throw new ApiError("UNAVAILABLE", "the usage cannot be read right now; try again", { headers });
    }
    const { limit, used } = figures;
    return c.json({
      ok: true,
      period: { start: figures.periodStart, end: figures.periodEnd },
      credits: { limit, used, remaining: Math.max(0, limit - used) },
      tokens: { embed: figures.embedTokens, rerank: figures.rerankTokens },
      calls: figures.calls,
      indexTokens: figures.indexTokens,
    } satisfies UsageResponse);
  },
});
