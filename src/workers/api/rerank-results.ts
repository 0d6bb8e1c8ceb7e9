import type { SearchResponse } from "../../contract/index.ts";
import { ApiError } from "../../lib/errors.ts";
import type { Principal } from "../../service/gate/types.ts";
import type { ApiContext } from "./context.ts";
import { runMetered } from "./metering.ts";

/** Provider errors after which the results stay in the engine's order. */
const PROVIDER_ERRORS = new Set(["UPSTREAM_ERROR", "UPSTREAM_UNREACHABLE", "UPSTREAM_TIMEOUT"]);

/**
 * Sorts results by the reranker's scores. Metered like `POST /rerank`. The answer is `degraded` if the provider fails or none is
 * configured. Throws `QUOTA_EXCEEDED`.
 */
export async function rerankResults(
  c: ApiContext,
  principal: Principal,
  query: string,
  answer: SearchResponse,
): Promise<SearchResponse> {
  const { reranker } = c.get("services");
  if (!reranker) return { ...answer, degraded: answer.degraded ?? "rerank" };
  if (answer.results.length < 2) return answer;
  const documents = answer.results.map(({ path, symbol, excerpts }) =>
    [path, symbol?.signature ?? "", ...excerpts.map(({ text }) => text)].join("\n"),
  );
  try {
    const { result, credits } = await runMetered(c, principal, "rerank", [query, ...documents], (options) =>
      reranker.rerank(query, documents, options),
    );
    const scores = new Map(result.results.map(({ index, relevanceScore }) => [index, relevanceScore]));
    const order = answer.results.map((_, i) => i);
    // The sort is stable: equal scores keep the engine's order.
    order.sort((a, b) => (scores.get(b) ?? 0) - (scores.get(a) ?? 0));
    const results = order.flatMap((i) => answer.results[i] ?? []);
    return { ...answer, results, usage: { credits } };
  } catch (error) {
    if (!(error instanceof ApiError && PROVIDER_ERRORS.has(error.code))) throw error;
    return { ...answer, degraded: answer.degraded ?? "rerank" };
  }
}
