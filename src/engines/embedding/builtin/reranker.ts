import { UpstreamError } from "../errors.ts";
import { computeRerankFingerprint } from "../fingerprint.ts";
import { estimateTokens } from "../tokens.ts";
import type { CallOptions, RerankResult, Reranker } from "../types.ts";
import { scoreDocuments } from "./bm25.ts";

const PREPROCESSING_VERSION = 1;

/** The lexical reranker: `scoreDocuments` behind the provider interface. Results are in the order of the documents. */
export class BuiltinReranker implements Reranker {
  readonly fingerprint = computeRerankFingerprint("builtin", "lexical", PREPROCESSING_VERSION);

  async rerank(query: string, documents: readonly string[], options: CallOptions = {}): Promise<RerankResult> {
    if (options.signal?.aborted === true) throw new UpstreamError("ABORTED");
    const results = Array.from(await scoreDocuments(query, documents), (relevanceScore, index) => ({
      index,
      relevanceScore,
    }));
    return { results, tokens: estimateTokens([query, ...documents]) };
  }
}
