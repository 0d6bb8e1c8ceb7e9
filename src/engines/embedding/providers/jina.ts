import type { EmbedProtocol, ProtocolConfig, RerankProtocol } from "../protocol.ts";
import { reportedTokens } from "../tokens.ts";
import type { InputType } from "../types.ts";
import { dig, readIndexedEmbeddings, readRows, readScores } from "../vectors.ts";

/** Jina AI: `POST /embeddings` and `POST /rerank`. */
export const JINA_BASE_URL = "https://api.jina.ai/v1";

const TASKS: Record<InputType, string> = { document: "retrieval.passage", query: "retrieval.query" };
/** Tasks of the code models, which have no "retrieval" task. */
const CODE_TASKS: Record<InputType, string> = { document: "nl2code.passage", query: "nl2code.query" };

export function jinaEmbedding(config: ProtocolConfig): EmbedProtocol {
  const model = config.model ?? "jina-embeddings-v3";
  const tasks = model.startsWith("jina-code-") ? CODE_TASKS : TASKS;
  return {
    model,
    preprocessingVersion: 1,
    path: "/embeddings",
    limits: { maxItems: 512, maxTokens: 500_000 },
    request: (inputs, inputType) => ({
      model,
      input: inputs,
      task: tasks[inputType],
      embedding_type: "base64",
      truncate: true,
      ...(config.dimension === undefined ? {} : { dimensions: config.dimension }),
    }),
    read: (answer, count) => ({
      vectors: readIndexedEmbeddings(answer, count),
      tokens: reportedTokens(dig(answer, "usage", "total_tokens")),
    }),
  };
}

export function jinaRerank(config: ProtocolConfig): RerankProtocol {
  const model = config.model ?? "jina-reranker-v2-base-multilingual";
  return {
    model,
    preprocessingVersion: 1,
    path: "/rerank",
    limits: { maxItems: 1_000, maxTokens: Infinity },
    request: (query, documents) => ({ model, query, documents, return_documents: false }),
    read: (answer, count) => ({
      results: readScores(readRows(answer, "results"), count, "index", "relevance_score"),
      tokens: reportedTokens(dig(answer, "usage", "total_tokens")),
    }),
  };
}
