import { BuiltinEmbedder } from "./builtin/embedder.ts";
import { BuiltinReranker } from "./builtin/reranker.ts";
import type { TableSource } from "./builtin/term-table.ts";
import { throwIfStopped } from "./call.ts";
import { UpstreamError } from "./errors.ts";
import { postJson } from "./http.ts";
import type { EmbedProtocol, RerankProtocol, Transport } from "./protocol.ts";
import { COHERE_BASE_URL, cohereEmbedding, cohereRerank } from "./providers/cohere.ts";
import { JINA_BASE_URL, jinaEmbedding, jinaRerank } from "./providers/jina.ts";
import { OPENAI_BASE_URL, openaiEmbedding } from "./providers/openai.ts";
import { VOYAGE_BASE_URL, voyageEmbedding, voyageRerank } from "./providers/voyage.ts";
import { workersAiEmbedding, workersAiRerank } from "./providers/workers-ai.ts";
import { RemoteEmbedder, RemoteReranker } from "./remote.ts";
import type { Embedder, ProviderConfig, ProviderDeps, Reranker } from "./types.ts";

/** Creates the configured embedder; `undefined` if there is none. Throws `Error` if `deps` lacks a required binding. */
export function createEmbedder(config: ProviderConfig, deps: ProviderDeps): Embedder | undefined {
  const wanted = { model: config.model, dimension: config.dimension };
  const remote = (protocol: EmbedProtocol, transport: Transport): Embedder =>
    new RemoteEmbedder(config, protocol, transport, deps);
  switch (config.provider) {
    case "builtin":
      return new BuiltinEmbedder(config.dimension, builtinTable(config, deps));
    case "openai":
      return remote(openaiEmbedding(wanted), httpTransport(config, OPENAI_BASE_URL, deps));
    case "voyage":
      return remote(voyageEmbedding(wanted), httpTransport(config, VOYAGE_BASE_URL, deps));
    case "cohere":
      return remote(cohereEmbedding(wanted), httpTransport(config, COHERE_BASE_URL, deps));
    case "jina":
      return remote(jinaEmbedding(wanted), httpTransport(config, JINA_BASE_URL, deps));
    case "workers-ai":
      return remote(workersAiEmbedding(wanted), bindingTransport(deps, "EMBED_PROVIDER"));
    case "none":
      break;
  }
  return undefined;
}

/** Creates the configured reranker; otherwise like `createEmbedder`. */
export function createReranker(config: ProviderConfig, deps: ProviderDeps): Reranker | undefined {
  const wanted = { model: config.model, dimension: undefined };
  const remote = (protocol: RerankProtocol, transport: Transport): Reranker =>
    new RemoteReranker(config, protocol, transport, deps);
  switch (config.provider) {
    case "builtin":
      return new BuiltinReranker(builtinTable(config, deps));
    case "voyage":
      return remote(voyageRerank(wanted), httpTransport(config, VOYAGE_BASE_URL, deps));
    case "cohere":
      return remote(cohereRerank(wanted), httpTransport(config, COHERE_BASE_URL, deps));
    case "jina":
      return remote(jinaRerank(wanted), httpTransport(config, JINA_BASE_URL, deps));
    case "workers-ai":
      return remote(workersAiRerank(wanted), bindingTransport(deps, "RERANK_PROVIDER"));
    case "none":
      break;
    case "openai":
      throw new Error("RERANK_PROVIDER openai does not exist: its wire format has no reranking");
  }
  return undefined;
}

/** The term table of the model `terms`; undefined for `lexical`, which needs none. */
function builtinTable({ model }: ProviderConfig, { terms }: ProviderDeps): TableSource | undefined {
  if (model === "lexical") return undefined;
  if (terms === undefined) throw new Error("the builtin model terms needs its table: pass terms, or choose lexical");
  return terms;
}

function httpTransport(config: ProviderConfig, defaultBaseUrl: string, deps: ProviderDeps): Transport {
  const baseUrl = config.baseUrl ?? defaultBaseUrl;
  return (context, path, body, maxResponseBytes) =>
    postJson(context, {
      url: baseUrl + path,
      apiKey: config.apiKey,
      body,
      maxResponseBytes,
      now: deps.now ?? Date.now,
    });
}

function bindingTransport(deps: ProviderDeps, variable: string): Transport {
  const { ai } = deps;
  if (ai === undefined) {
    throw new Error(
      `${variable} is workers-ai, but this Worker has no AI binding: add one, or choose another provider`,
    );
  }
  return async (context, model, body) => {
    try {
      return await ai.run(model, body, { signal: context.signal });
    } catch (thrown) {
      throwIfStopped(context.signal);
      // The binding has no error codes, only prose (capacity, rate, input), so every failure counts as retryable.
      const detail = thrown instanceof Error ? thrown.message : String(thrown);
      throw new UpstreamError("UPSTREAM_ERROR", { retryable: true, detail });
    }
  };
}
