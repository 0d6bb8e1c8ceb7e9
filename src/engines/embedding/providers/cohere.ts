import { unusableAnswer } from "../errors.ts";
import type { EmbedProtocol, ProtocolConfig, RerankProtocol } from "../protocol.ts";
import { reportedTokens } from "../tokens.ts";
import type { InputType } from "../types.ts";
import { dig, readRows, readScores, readVector } from "../vectors.ts";

/** Cohere's v2 API: `POST /embed` and `POST /rerank`. */
export const COHERE_BASE_URL = "https://api.cohere.com/v2";

const INPUT_TYPES: Record<InputType, string> = { document: "search_document", query: "search_query" };

export function cohereEmbedding(config: ProtocolConfig): EmbedProtocol {
  const model = config.model ?? "embed-v4.0";
  return {
    model,
    preprocessingVersion: 1,
    path: "/embed",
    limits: { maxItems: 96, maxTokens: 128_000 },
    request: (inputs, inputType) => ({
      model,
      texts: inputs,
      input_type: INPUT_TYPES[inputType],
      embedding_types: ["base64"],
      ...(config.dimension === undefined ? {} : { output_dimension: config.dimension }),
    }),
    // Rows have no index: they are in the order of the texts. Servers without base64 support answer with `float`.
    read: (answer, count) => {
      const rows = dig(answer, "embeddings", "base64") ?? dig(answer, "embeddings", "float");
      if (!Array.isArray(rows)) throw unusableAnswer(`answer has neither "embeddings.base64" nor "embeddings.float"`);
      if (rows.length !== count) throw unusableAnswer(`${rows.length} vectors for ${count} texts`);
      return {
        vectors: rows.map(readVector),
        tokens: reportedTokensOf(answer),
      };
    },
  };
}

export function cohereRerank(config: ProtocolConfig): RerankProtocol {
  const model = config.model ?? "rerank-v3.5";
  return {
    model,
    preprocessingVersion: 1,
    path: "/rerank",
    // Cohere recommends at most 1,000 documents and truncates each at the model's length. There is no limit on the sum.
    limits: { maxItems: 1_000, maxTokens: Infinity },
    request: (query, documents) => ({ model, query, documents }),
    // Reranking is billed in search units, which are not tokens.
    read: (answer, count) => ({
      results: readScores(readRows(answer, "results"), count, "index", "relevance_score"),
      tokens: reportedTokensOf(answer),
    }),
  };
}

/** Tokens from `meta.tokens`, else from `meta.billed_units`; undefined if neither reports them. */
function reportedTokensOf(answer: unknown): number | undefined {
  return (
    reportedTokens(dig(answer, "meta", "tokens", "input_tokens")) ??
    reportedTokens(dig(answer, "meta", "billed_units", "input_tokens"))
  );
}
