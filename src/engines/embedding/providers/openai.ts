import type { EmbedProtocol, ProtocolConfig } from "../protocol.ts";
import { reportedTokens } from "../tokens.ts";
import { dig, readIndexedEmbeddings } from "../vectors.ts";

/** OpenAI's `POST /embeddings` and compatible servers. It has no input type: queries and documents are sent the same way. */
export const OPENAI_BASE_URL = "https://api.openai.com/v1";

export function openaiEmbedding(config: ProtocolConfig): EmbedProtocol {
  const model = config.model ?? "text-embedding-3-small";
  return {
    model,
    preprocessingVersion: 1,
    path: "/embeddings",
    // The API allows 2,048 inputs and 300,000 tokens; fewer inputs bound the size of answers in plain numbers.
    limits: { maxItems: 256, maxTokens: 300_000 },
    request: (inputs) => ({
      model,
      input: inputs,
      encoding_format: "base64",
      ...(config.dimension === undefined ? {} : { dimensions: config.dimension }),
    }),
    // Servers without base64 support answer with numbers, which are read too.
    read: (answer, count) => ({
      vectors: readIndexedEmbeddings(answer, count),
      tokens:
        reportedTokens(dig(answer, "usage", "total_tokens")) ?? reportedTokens(dig(answer, "usage", "prompt_tokens")),
    }),
  };
}
