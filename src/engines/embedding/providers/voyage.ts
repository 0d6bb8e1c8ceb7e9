import type { EmbedProtocol, ProtocolConfig, RerankProtocol } from "../protocol.ts";
import { reportedTokens } from "../tokens.ts";
import { dig, readIndexedEmbeddings, readRows, readScores } from "../vectors.ts";

/** Voyage AI: `POST /embeddings` and `POST /rerank`. */
export const VOYAGE_BASE_URL = "https://api.voyageai.com/v1";

/** Token limit of a call by model (reference/embeddings-api); other models get the smallest. */
const EMBED_MAX_TOKENS: Record<string, number> = {
  "voyage-4-lite": 1_000_000,
  "voyage-3.5-lite": 1_000_000,
  "voyage-4": 320_000,
  "voyage-3.5": 320_000,
  "voyage-2": 320_000,
};
const EMBED_MAX_TOKENS_OTHER = 120_000;
const RERANK_MAX_TOKENS: Record<string, number> = { "rerank-1": 300_000, "rerank-lite-1": 300_000 };
const RERANK_MAX_TOKENS_OTHER = 600_000;

export function voyageEmbedding(config: ProtocolConfig): EmbedProtocol {
  const model = config.model ?? "voyage-code-3";
  return {
    model,
    preprocessingVersion: 1,
    path: "/embeddings",
    limits: { maxItems: 1_000, maxTokens: EMBED_MAX_TOKENS[model] ?? EMBED_MAX_TOKENS_OTHER },
    request: (inputs, inputType) => ({
      model,
      input: inputs,
      input_type: inputType,
      encoding_format: "base64",
      ...(config.dimension === undefined ? {} : { output_dimension: config.dimension }),
    }),
    read: (answer, count) => ({
      vectors: readIndexedEmbeddings(answer, count),
      tokens: reportedTokens(dig(answer, "usage", "total_tokens")),
    }),
  };
}

export function voyageRerank(config: ProtocolConfig): RerankProtocol {
  const model = config.model ?? "rerank-2.5";
  return {
    model,
    preprocessingVersion: 1,
    path: "/rerank",
    limits: { maxItems: 1_000, maxTokens: RERANK_MAX_TOKENS[model] ?? RERANK_MAX_TOKENS_OTHER },
    request: (query, documents) => ({ model, query, documents, return_documents: false }),
    read: (answer, count) => ({
      results: readScores(readRows(answer, "data"), count, "index", "relevance_score"),
      tokens: reportedTokens(dig(answer, "usage", "total_tokens")),
    }),
  };
}
