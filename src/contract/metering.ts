import * as z from "zod";
import { MAX_EMBED_INPUTS, MAX_RERANK_DOCUMENTS } from "./limits.ts";
import { inputText } from "./text.ts";

export const EmbedRequest = z
  .object({
    input: z
      .array(inputText)
      .min(1, "needs at least one string")
      .max(MAX_EMBED_INPUTS, `takes at most ${MAX_EMBED_INPUTS} strings; split the request`)
      .describe("Texts to embed, at most 480,000 characters together."),
    inputType: z.enum(["document", "query"]).default("document").describe("What the texts will be used as."),
  })
  .meta({ id: "EmbedRequest" });
export type EmbedRequest = z.infer<typeof EmbedRequest>;

const usage = z.object({ credits: z.int().min(0).describe("Credits charged.") });

export const EmbedResponse = z
  .object({
    ok: z.literal(true),
    fingerprint: z.string().describe("Opaque id of the embedding space; re-embed when it changes."),
    dimension: z.int().positive(),
    embeddings: z.array(z.object({ index: z.int().min(0), vector: z.array(z.number()) })),
    usage,
  })
  .meta({ id: "EmbedResponse" });
export type EmbedResponse = z.infer<typeof EmbedResponse>;

export const EmbedCheckResponse = z
  .object({ ok: z.literal(true), fingerprint: z.string(), dimension: z.int().positive() })
  .meta({ id: "EmbedCheckResponse" });
export type EmbedCheckResponse = z.infer<typeof EmbedCheckResponse>;

export const RerankRequest = z
  .object({
    query: inputText,
    documents: z
      .array(inputText)
      .min(1, "needs at least one document")
      .max(MAX_RERANK_DOCUMENTS, `takes at most ${MAX_RERANK_DOCUMENTS} documents; split the request`),
  })
  .meta({ id: "RerankRequest" });
export type RerankRequest = z.infer<typeof RerankRequest>;

export const RerankResponse = z
  .object({
    ok: z.literal(true),
    results: z
      .array(z.object({ index: z.int().min(0), relevanceScore: z.number() }))
      .describe("In the provider's order; sort by relevanceScore."),
    usage,
  })
  .meta({ id: "RerankResponse" });
export type RerankResponse = z.infer<typeof RerankResponse>;

export const RerankCheckResponse = z.object({ ok: z.literal(true) }).meta({ id: "RerankCheckResponse" });
export type RerankCheckResponse = z.infer<typeof RerankCheckResponse>;

const count = z.int().min(0);

export const UsageResponse = z
  .object({
    ok: z.literal(true),
    period: z
      .object({ start: z.iso.datetime(), end: z.iso.datetime() })
      .describe("The UTC calendar month; `end` is exclusive."),
    credits: z.object({ limit: count, used: count, remaining: count }),
    tokens: z.object({ embed: count, rerank: count }),
    calls: z.object({ embed: count, rerank: count, index: count, snapshot: count, search: count }),
    indexTokens: count.describe("Tokens of hosted indexing; they do not draw on the quota."),
  })
  .meta({ id: "UsageResponse" });
export type UsageResponse = z.infer<typeof UsageResponse>;
