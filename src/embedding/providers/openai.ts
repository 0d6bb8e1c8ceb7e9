import type { EmbedProtocol, ProtocolConfig } from "../protocol.ts";
import { reportedTokens } from "../tokens.ts";
import { dig, readIndexedEmbeddings } from "../vectors.ts";

/** OpenAI's `POST /embeddings`, and every server that speaks it. It has no input type: queries and documents go alike. */
export const OPENAI_BASE_URL = "https://api.openai.com/v1";

export function openaiEmbedding(config: ProtocolConfig): EmbedProtocol {
  const model = config.model ?? "text-embedding-3-small";
  return {
    model,
    preprocessingVersion: 1,
    path: "/embeddings",
    // 2,048 inputs and 300,000 tokens are allowed; fewer inputs keep an answer in plain numbers small.
    limits: { maxItems: 256, maxTokens: 300_000 },
    request: (inputs) => ({
      model,
      input: inputs,
      encoding_format: "base64",
      ...(config.dimension === undefined ? {} : { dimensions: config.dimension }),
    }),
    // Servers that do not know base64 answer with numbers, which is read as well.
    read: (answer, count) => ({
      vectors: readIndexedEmbeddings(answer, count),
      tokens:
        reportedTokens(dig(answer, "usage", "total_tokens")) ?? reportedTokens(dig(answer, "usage", "prompt_tokens")),
    }),
  };
}
