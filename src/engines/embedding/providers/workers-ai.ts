import { unusableAnswer } from "../errors.ts";
import type { EmbedProtocol, ProtocolConfig, RerankProtocol } from "../protocol.ts";
import { reportedTokens } from "../tokens.ts";
import { dig, readRows, readScores, readVector } from "../vectors.ts";

/** Workers AI through its binding: `ai.run(model, …)`. The model is used as the path. */

export function workersAiEmbedding(config: ProtocolConfig): EmbedProtocol {
  const model = config.model ?? "@cf/baai/bge-m3";
  return {
    model,
    preprocessingVersion: 1,
    path: model,
    limits: { maxItems: 100, maxTokens: 60_000 },
    request: (inputs) => ({ text: inputs }),
    read: (answer, count) => {
      const rows = dig(answer, "data");
      if (!Array.isArray(rows)) throw unusableAnswer(`answer has no array "data"`);
      if (rows.length !== count) throw unusableAnswer(`${rows.length} vectors for ${count} texts`);
      return { vectors: rows.map(readVector), tokens: reportedTokens(dig(answer, "usage", "total_tokens")) };
    },
  };
}

export function workersAiRerank(config: ProtocolConfig): RerankProtocol {
  const model = config.model ?? "@cf/baai/bge-reranker-base";
  return {
    model,
    preprocessingVersion: 1,
    path: model,
    limits: { maxItems: 100, maxTokens: 60_000 },
    request: (query, documents) => ({
      query,
      contexts: documents.map((text) => ({ text })),
      // Without it, the model's default limits the number of rows.
      top_k: documents.length,
    }),
    read: (answer, count) => ({
      results: readScores(readRows(answer, "response"), count, "id", "score"),
      tokens: reportedTokens(dig(answer, "usage", "total_tokens")),
    }),
  };
}
