import { Hono } from "hono";
import { CompatRerankRequest, type CompatRerankResponse } from "../../contract/index.ts";
import type { Reranker } from "../../embedding/index.ts";
import { invalidBody } from "../../errors.ts";
import type { ApiHono } from "../context.ts";
import { exchangeOf } from "../exchange.ts";
import { capCharacters } from "../input-cap.ts";
import { admitMetered, outliveClient, runMetered } from "../metering.ts";
import { readBody, unwrap } from "../middleware/body.ts";
import { onCompatError } from "../middleware/compat-errors.ts";
import { billedTexts, cappedFields, requireReranker } from "./rerank.ts";

/** Cohere's and Jina's reranking over the same credential, limits and metering. */
export const rerankCompat = new Hono<ApiHono>();
rerankCompat.onError(onCompatError);

rerankCompat.post("/rerank", outliveClient, async (c) => {
  const exchange = exchangeOf(c);
  const body = capCharacters(await readBody(exchange.request, CompatRerankRequest), cappedFields);
  const { reranker } = exchange.services;
  const admission = await admitMetered(exchange, body, billedTexts, reranker);
  const request = unwrap(body);
  const { query, documents } = request;
  const model = requireReranker(reranker);
  const { result, credits } = await runMetered(exchange, admission, "rerank", async (options) => {
    requireModel(request, model);
    return model.rerank(query, documents, options);
  });
  const best = result.results.toSorted((a, b) => b.relevanceScore - a.relevanceScore).slice(0, request.top_n);
  const answer: CompatRerankResponse = {
    id: c.get("requestId"),
    model: model.fingerprint,
    results: best.map(({ index, relevanceScore }) => {
      const row: CompatRerankResponse["results"][number] = { index, relevance_score: relevanceScore };
      if (request.return_documents) row.document = { text: documents[index] ?? "" };
      return row;
    }),
    meta: { billed_units: { input_tokens: result.tokens } },
    usage: { total_tokens: result.tokens },
  };
  await credits;
  return c.json(answer);
});

const FINGERPRINT = /^rrk_[0-9a-f]{32}$/;

/** Rejects a request for scores of another model than the one there is. Other names of models mean nothing here. */
function requireModel({ model }: CompatRerankRequest, reranker: Reranker): void {
  if (model !== undefined && FINGERPRINT.test(model) && model !== reranker.fingerprint) {
    throw invalidBody([{ path: "model", message: `is no more; the scoring model is now ${reranker.fingerprint}` }]);
  }
}
