import {
  CompatRerankRequest,
  CompatRerankResponse,
  EmbeddingsRequest,
  EmbeddingsResponse,
  ModelsResponse,
} from "../../../contract/index.ts";
import type { Operation } from "../types.ts";

const UPSTREAM = ["UPSTREAM_ERROR", "UPSTREAM_UNREACHABLE", "UPSTREAM_TIMEOUT"] as const;
const SHARED = {
  credential: "apiKey",
  surface: "metered",
  tag: "Other services' formats",
  errorForm: "compat",
} as const;

export const compatOperations: Operation[] = [
  {
    ...SHARED,
    id: "openaiEmbeddings",
    method: "POST",
    path: "/v1/embeddings",
    aliases: ["/api/v1/embeddings"],
    summary: "Embeddings as OpenAI's clients ask for them",
    description:
      "Limits, metering and vectors are those of `/embed`. Give a client `<base address>/v1` or `<site>/api/v1` as its base URL and an API key as its key.",
    request: { schema: EmbeddingsRequest, example: { model: "any", input: ["function add(a, b) { return a + b }"] } },
    responses: { 200: { description: "One vector per input.", schema: EmbeddingsResponse } },
    errors: ["QUOTA_EXCEEDED", ...UPSTREAM, "EMBED_UNAVAILABLE"],
  },
  {
    ...SHARED,
    id: "openaiModels",
    method: "GET",
    path: "/v1/models",
    aliases: ["/api/v1/models"],
    summary: "The one model there is",
    description: "Its name is the fingerprint of the embedding space.",
    responses: { 200: { description: "A list of one.", schema: ModelsResponse } },
    errors: ["EMBED_UNAVAILABLE"],
  },
  {
    ...SHARED,
    id: "compatRerank",
    method: "POST",
    path: "/v1/rerank",
    aliases: ["/v2/rerank", "/api/v1/v2/rerank"],
    summary: "Reranking as Cohere's and Jina's clients ask for it",
    description: "Limits, metering and scores are those of `/rerank`, but rows come best first.",
    request: {
      schema: CompatRerankRequest,
      example: { query: "add two numbers", documents: ["function add(a, b)", "class Stack"], top_n: 1 },
    },
    responses: { 200: { description: "The best documents.", schema: CompatRerankResponse } },
    errors: ["QUOTA_EXCEEDED", ...UPSTREAM, "RERANK_UNAVAILABLE"],
  },
];
