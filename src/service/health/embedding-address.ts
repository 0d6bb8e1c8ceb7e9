import { readEmbedConfig } from "../../engines/embedding/config.ts";
import { COHERE_BASE_URL } from "../../engines/embedding/providers/cohere.ts";
import { JINA_BASE_URL } from "../../engines/embedding/providers/jina.ts";
import { OPENAI_BASE_URL } from "../../engines/embedding/providers/openai.ts";
import { VOYAGE_BASE_URL } from "../../engines/embedding/providers/voyage.ts";
import type { ProviderName } from "../../engines/embedding/types.ts";

const DEFAULT_ADDRESS: Partial<Record<ProviderName, string>> = {
  openai: OPENAI_BASE_URL,
  voyage: VOYAGE_BASE_URL,
  cohere: COHERE_BASE_URL,
  jina: JINA_BASE_URL,
};

/**
 * Address of the configured embedding provider; undefined if it needs no network (builtin, a Worker binding, or none). Throws
 * `Error` if the `EMBED_*` variables are invalid.
 */
export function embeddingAddress(vars: Readonly<Record<string, unknown>>): string | undefined {
  const { provider, baseUrl } = readEmbedConfig(vars);
  const fallback = DEFAULT_ADDRESS[provider];
  return fallback === undefined ? undefined : (baseUrl ?? fallback);
}
