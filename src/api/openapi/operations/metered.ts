import {
  EmbedCheckResponse,
  EmbedRequest,
  EmbedResponse,
  RerankCheckResponse,
  RerankRequest,
  RerankResponse,
  UsageResponse,
} from "../../../contract/index.ts";
import type { Operation } from "../types.ts";

const UPSTREAM = ["UPSTREAM_ERROR", "UPSTREAM_UNREACHABLE", "UPSTREAM_TIMEOUT"] as const;
const METERED = { credential: "apiKey", surface: "metered" } as const;

export const meteredOperations: Operation[] = [
  {
    ...METERED,
    id: "embed",
    method: "POST",
    path: "/embed",
    tag: "Embedding and reranking",
    summary: "Turn texts into vectors",
    description:
      "Costs one credit for each started 1,000 tokens, at least one. Characters are counted as UTF-16 code units. A failed call costs nothing.",
    request: {
      schema: EmbedRequest,
      example: { input: ["function add(a, b) { return a + b }"], inputType: "document" },
    },
    responses: { 200: { description: "One vector per input, in input order.", schema: EmbedResponse } },
    errors: ["QUOTA_EXCEEDED", ...UPSTREAM, "EMBED_UNAVAILABLE"],
  },
  {
    ...METERED,
    id: "checkEmbed",
    method: "GET",
    path: "/embed",
    tag: "Embedding and reranking",
    summary: "Check a key and pin the embedding space",
    description: "Free. Vectors with different fingerprints cannot be compared: embed again when it changes.",
    responses: { 200: { description: "The embedding space.", schema: EmbedCheckResponse } },
    errors: [...UPSTREAM, "EMBED_UNAVAILABLE"],
  },
  {
    ...METERED,
    id: "rerank",
    method: "POST",
    path: "/rerank",
    tag: "Embedding and reranking",
    summary: "Score documents against a query",
    description:
      "Tokens count in the same monthly counter as those of `/embed`. The cap of 480,000 characters is on the documents together; the query has the same cap to itself.",
    request: {
      schema: RerankRequest,
      example: { query: "add two numbers", documents: ["function add(a, b)", "class Stack"] },
    },
    responses: { 200: { description: "One row per document, in the provider's order.", schema: RerankResponse } },
    errors: ["QUOTA_EXCEEDED", ...UPSTREAM, "RERANK_UNAVAILABLE"],
  },
  {
    ...METERED,
    id: "checkRerank",
    method: "GET",
    path: "/rerank",
    tag: "Embedding and reranking",
    summary: "Check a key",
    description: "Free.",
    responses: { 200: { description: "The key is valid, and reranking is configured.", schema: RerankCheckResponse } },
    errors: ["RERANK_UNAVAILABLE"],
  },
  {
    ...METERED,
    id: "usage",
    method: "GET",
    path: "/usage",
    tag: "Embedding and reranking",
    summary: "Credits and calls of the current month",
    description: "Free. What is reserved by requests under way is not in it.",
    responses: { 200: { description: "The tenant's counters.", schema: UsageResponse } },
  },
];
