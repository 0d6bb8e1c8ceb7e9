/** Model providers for embedding and reranking. */
export { readAiBinding, readEmbedConfig, readRerankConfig } from "./config.ts";
export { createEmbedder, createReranker } from "./create.ts";
export { shortDecimalsOfAll } from "./decimals.ts";
export { UpstreamError } from "./errors.ts";
export { decodeF16, encodeF16 } from "./f16.ts";
export { estimateTokens } from "./tokens.ts";
export type {
  AiBinding,
  CallOptions,
  EmbedOptions,
  EmbedResult,
  Embedder,
  FetchLike,
  InputType,
  ProviderConfig,
  ProviderDeps,
  ProviderName,
  RerankResult,
  RerankRow,
  Reranker,
} from "./types.ts";
