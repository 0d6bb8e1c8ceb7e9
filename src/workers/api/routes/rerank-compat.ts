import { CompatRerankRequest, CompatRerankResponse } from "../../../contract/index.ts";
import type { Reranker } from "../../../engines/embedding/index.ts";
import { invalidBody } from "../../../lib/errors.ts";
import { meteredRoute } from "../route.ts";
import { requireReranker } from "./rerank.ts";

/** Cohere- and Jina-compatible reranking, with our credentials, limits and metering. */
export const compatRerank = meteredRoute({
  id: "compatRerank",
  method: "POST",
  path: "/v1/rerank",
  // The path of Cohere's v2 clients.
  aliases: ["/v2/rerank", "/api/v1/v2/rerank"],
  tag: "Other services' formats",
  summary: "Reranking as Cohere's and Jina's clients ask for it",
  description: "Limits, metering and scores are those of `/rerank`, but the best rows come first.",
  surface: "metered",
  errorForm: "compat",
  body: {
    schema: CompatRerankRequest,
    example: { query: "add two numbers", documents: ["function add(a, b)", "class Stack"], top_n: 1 },
  },
  responses: { 200: { description: "The best documents.", schema: CompatRerankResponse } },
  errors: ["QUOTA_EXCEEDED", "UPSTREAM_ERROR", "UPSTREAM_UNREACHABLE", "UPSTREAM_TIMEOUT", "RERANK_UNAVAILABLE"],
  kind: "rerank",
  texts: ({ query, documents }) => ({ documents, query: [query] }),
  requireProvider: requireReranker,
  handle: async (c, { body, charge }) => {
    const { query, documents, top_n: topN, return_documents: returnDocuments } = body;
    const reranker = requireReranker(c.get("services"));
    requireModel(body, reranker);
    const { result } = await charge((options) => reranker.rerank(query, documents, options));
    const best = result.results.toSorted((a, b) => b.relevanceScore - a.relevanceScore).slice(0, topN);
    return c.json({
      id: c.get("requestId"),
      model: reranker.fingerprint,
      results: best.map(({ index, relevanceScore }) => {
        const row = { index, relevance_score: relevanceScore };
        return returnDocuments ? Object.assign(row, { document: { text: documents[index] ?? "" } }) : row;
      }),
      meta: { billed_units: { input_tokens: result.tokens } },
      usage: { total_tokens: result.tokens },
    } satisfies CompatRerankResponse);
  },
});

const FINGERPRINT = /^rrk_[0-9a-f]{32}$/;

/** Rejects a request that names another scoring model than the current one. Any other model name is accepted. */
function requireModel({ model }: CompatRerankRequest, reranker: Reranker): void {
  if (model !== undefined && FINGERPRINT.test(model) && model !== reranker.fingerprint) {
    const message = `names a scoring model that is no longer available; the current one is ${reranker.fingerprint}`;
    throw invalidBody([{ path: "model", message }]);
  }
}
