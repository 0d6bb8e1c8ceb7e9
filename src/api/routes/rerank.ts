import { Hono } from "hono";
import { type RerankCheckResponse, RerankRequest, type RerankResponse } from "../../contract/index.ts";
import type { Reranker } from "../../embedding/index.ts";
import { ApiError } from "../../errors.ts";
import type { ApiHono } from "../context.ts";
import { exchangeOf } from "../exchange.ts";
import { capCharacters } from "../input-cap.ts";
import { admitMetered, outliveClient, runMetered } from "../metering.ts";
import { authorize } from "../middleware/authorize.ts";
import { readBody, unwrap } from "../middleware/body.ts";

/** Documents scored against a query: `POST /rerank`, and the free check `GET /rerank`. */
export const rerank = new Hono<ApiHono>();

rerank.post("/rerank", outliveClient, async (c) => {
  const exchange = exchangeOf(c);
  const body = capCharacters(await readBody(exchange.request, RerankRequest), cappedFields);
  const { reranker } = exchange.services;
  const admission = await admitMetered(exchange, body, billedTexts, reranker);
  const { query, documents } = unwrap(body);
  const model = requireReranker(reranker);
  const { result, credits } = await runMetered(exchange, admission, "rerank", (options) =>
    model.rerank(query, documents, options),
  );
  const answer: RerankResponse = { ok: true, results: result.results, usage: { credits: await credits } };
  return c.json(answer);
});

rerank.get("/rerank", async (c) => {
  await authorize(exchangeOf(c), { credential: "api_key", surface: "metered" });
  requireReranker(c.get("services").reranker);
  const answer: RerankCheckResponse = { ok: true };
  return c.json(answer, 200, { "Cache-Control": "no-store" });
});

/** The reranker, or 503 where none is configured. */
export function requireReranker(reranker: Reranker | undefined): Reranker {
  if (!reranker) throw new ApiError("RERANK_UNAVAILABLE", "reranking is not configured on this service");
  return reranker;
}

interface Scoring {
  query: string;
  documents: readonly string[];
}

/** The cap is on the documents together; the query, which they are scored against, has the same one to itself. */
export const cappedFields = ({ query, documents }: Scoring): Record<string, readonly string[]> => ({
  documents,
  query: [query],
});

/** What the estimate counts: the query once and every document, as the providers report it where they report nothing better. */
export const billedTexts = ({ query, documents }: Scoring): readonly string[] => [query, ...documents];
