import { RerankCheckResponse, RerankRequest, RerankResponse } from "../../../contract/index.ts";
import type { Reranker } from "../../../engines/embedding/index.ts";
import { ApiError } from "../../../lib/errors.ts";
import { meteredRoute, route } from "../route.ts";
import type { Services } from "../services.ts";

const TAG = "Embedding and reranking";

/** Scores documents against a query. */
export const rerank = meteredRoute({
  id: "rerank",
  method: "POST",
  path: "/rerank",
  tag: TAG,
  summary: "Score documents against a query",
  description:
    "Tokens count in the same monthly counter as those of `/embed`. The documents together may have 480,000 characters, and so may the query.",
  surface: "metered",
  body: {
    schema: RerankRequest,
    example: { query: "add two numbers", documents: ["function add(a, b)", "class Stack"] },
  },
  responses: { 200: { description: "One row per document, in the provider's order.", schema: RerankResponse } },
  errors: ["QUOTA_EXCEEDED", "UPSTREAM_ERROR", "UPSTREAM_UNREACHABLE", "UPSTREAM_TIMEOUT", "RERANK_UNAVAILABLE"],
  kind: "rerank",
  texts: ({ query, documents }) => ({ documents, query: [query] }),
  requireProvider: requireReranker,
  handle: async (c, { body: { query, documents }, charge }) => {
    const reranker = requireReranker(c.get("services"));
    const { result, credits } = await charge((options) => reranker.rerank(query, documents, options));
    return c.json({ ok: true, results: result.results, usage: { credits } } satisfies RerankResponse);
  },
});

/** Checks the key. Free. */
export const checkRerank = route({
  id: "checkRerank",
  method: "GET",
  path: "/rerank",
  tag: TAG,
  summary: "Check a key",
  description: "Free.",
  credential: "api_key",
  surface: "metered",
  responses: { 200: { description: "The key is valid, and reranking is configured.", schema: RerankCheckResponse } },
  errors: ["RERANK_UNAVAILABLE"],
  handle: async (c) => {
    requireReranker(c.get("services"));
    return c.json({ ok: true } satisfies RerankCheckResponse);
  },
});

/** Returns the reranker. Throws 503 if none is configured. */
export function requireReranker({ reranker }: Services): Reranker {
  if (!reranker) throw new ApiError("RERANK_UNAVAILABLE", "reranking is not configured on this service");
  return reranker;
}
