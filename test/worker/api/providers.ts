import type { ModelApi } from "../../support/model-server.ts";

/** What no tenant may ever see. */
export const SECRETS = { model: "secret-model-9000", key: "sk-very-secret-key" };

/** Variables of an embedding provider that speaks OpenAI's format at this address. */
export function embedVars(baseUrl: string, provider: ModelApi = "openai"): Record<string, string> {
  return { EMBED_PROVIDER: provider, EMBED_BASE_URL: baseUrl, EMBED_MODEL: SECRETS.model, EMBED_API_KEY: SECRETS.key };
}

export function rerankVars(baseUrl: string, provider: ModelApi = "jina"): Record<string, string> {
  return {
    RERANK_PROVIDER: provider,
    RERANK_BASE_URL: baseUrl,
    RERANK_MODEL: SECRETS.model,
    RERANK_API_KEY: SECRETS.key,
  };
}
