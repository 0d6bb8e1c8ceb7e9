/** Wire formats of other services that this one also accepts: OpenAI's embeddings, Cohere's and Jina's reranking. */
import * as z from "zod";
import { MAX_BODY_VALUES, MAX_EMBED_INPUTS, MAX_RERANK_DOCUMENTS } from "./limits.ts";
import { inputText, isCleanText, nonEmptyText, UNCLEAN_TEXT } from "./text.ts";

/** LangChain sends 512 texts a request and the Vercel AI SDK 2,048, unless they are told otherwise. */
const TOO_MANY_INPUTS = `takes at most ${MAX_EMBED_INPUTS} strings: split the request, or lower the client's batch size (LangChain.js: batchSize)`;
const model = nonEmptyText.max(200);

export const EmbeddingsRequest = z
  .object({
    input: z
      .union(
        [inputText, z.array(inputText).min(1, "needs at least one string").max(MAX_EMBED_INPUTS, TOO_MANY_INPUTS)],
        {
          error: ({ input }) => describeInput(input),
        },
      )
      .transform((input) => (typeof input === "string" ? [input] : input))
      .describe("One text or many, at most 480,000 characters together. Arrays of token ids are not taken."),
    model: model.describe("Any name will do; a fingerprint (`emb_…`) must be the current one."),
    encoding_format: z.enum(["float", "base64"], { error: 'must be "float" or "base64"' }).default("float"),
    dimensions: z.int().positive().optional().describe("Taken only if it is the dimension of the vectors anyway."),
    input_type: z
      .enum(["document", "query"], { error: 'must be "document" or "query"' })
      .default("document")
      .describe("Not part of OpenAI's format: what the texts will be used as."),
    user: z.string().optional().describe("Ignored."),
  })
  .meta({ id: "EmbeddingsRequest" });
export type EmbeddingsRequest = z.infer<typeof EmbeddingsRequest>;

function describeInput(input: unknown): string {
  if (input === undefined) return "is required";
  if (typeof input === "string" && !isCleanText(input)) return UNCLEAN_TEXT;
  if (!Array.isArray(input)) return "must be a string or an array of strings";
  if (input.some((item) => typeof item === "number" || Array.isArray(item))) {
    return "holds token ids, which are not taken: send the text itself (LangChain for Python: check_embedding_ctx_length=False)";
  }
  if (input.some((item) => typeof item === "string" && !isCleanText(item))) return UNCLEAN_TEXT;
  return input.length > MAX_EMBED_INPUTS ? TOO_MANY_INPUTS : "must be a string or an array of strings";
}

const count = z.int().min(0);

export const EmbeddingsResponse = z
  .object({
    object: z.literal("list"),
    data: z.array(
      z.object({
        object: z.literal("embedding"),
        index: count,
        embedding: z.union([z.array(z.number()), z.string().describe("Base64 of little-endian float32.")]),
      }),
    ),
    model: z.string().describe("The fingerprint of the embedding space."),
    usage: z.object({ prompt_tokens: count, total_tokens: count }),
  })
  .meta({ id: "EmbeddingsResponse" });
export type EmbeddingsResponse = z.infer<typeof EmbeddingsResponse>;

const COHERE_INPUT_TYPES = ["search_document", "search_query", "classification", "clustering"] as const;
const NO_IMAGES = "is not taken: this service embeds texts";

/** Cohere's `inputs`: parts of text, one vector for each input. */
const CohereInput = z.object({
  content: z
    .array(z.object({ type: z.literal("text", { error: NO_IMAGES }), text: inputText }))
    .min(1)
    .max(MAX_BODY_VALUES),
});

export const CohereEmbedRequest = z
  .object({
    model: model.optional().describe("Any name will do; a fingerprint (`emb_…`) must be the current one."),
    texts: z
      .array(inputText)
      .min(1, "needs at least one string")
      .max(MAX_EMBED_INPUTS, TOO_MANY_INPUTS)
      .optional()
      .describe("At most 480,000 characters together."),
    inputs: z
      .array(CohereInput)
      .min(1, "needs at least one input")
      .max(MAX_EMBED_INPUTS, TOO_MANY_INPUTS)
      .optional()
      .describe("In place of `texts`: the texts in the parts of each input."),
    images: z.undefined(NO_IMAGES).optional(),
    input_type: z
      .enum(COHERE_INPUT_TYPES, { error: `must be one of ${COHERE_INPUT_TYPES.join(", ")}` })
      .default("search_document")
      .describe("Everything but `search_query` is embedded as a document."),
    embedding_types: z
      .array(z.enum(["float", "base64"], { error: 'must be "float" or "base64": vectors are not quantized' }))
      .max(MAX_BODY_VALUES)
      .optional()
      .describe("Default: `float`."),
    output_dimension: z
      .int()
      .positive()
      .optional()
      .describe("Taken only if it is the dimension of the vectors anyway."),
    truncate: z.string().optional().describe("Ignored: what is too long for the model is an error."),
    max_tokens: z.int().positive().optional().describe("Ignored."),
  })
  .transform(({ texts, inputs, ...rest }, context) => {
    if ((texts === undefined) === (inputs === undefined)) {
      const message = texts === undefined ? "is required" : "cannot be given together with inputs";
      context.addIssue({ code: "custom", path: ["texts"], message });
      return z.NEVER;
    }
    const parts = inputs?.map(({ content }) => content.map(({ text }) => text).join("\n"));
    return { ...rest, texts: texts ?? parts ?? [] };
  })
  .meta({ id: "CohereEmbedRequest" });
export type CohereEmbedRequest = z.infer<typeof CohereEmbedRequest>;

const vectors = z.array(z.array(z.number()));
const cohereMeta = z.object({
  api_version: z.object({ version: z.string() }),
  billed_units: z.object({ input_tokens: count }),
});

/** Answer of version 2, and of version 1 where `embedding_types` is given. */
export const CohereEmbedResponse = z
  .object({
    id: z.string(),
    response_type: z.literal("embeddings_by_type"),
    embeddings: z.object({
      float: vectors.optional(),
      base64: z.array(z.string()).optional().describe("Base64 of little-endian float32."),
    }),
    texts: z.array(z.string()),
    meta: cohereMeta,
  })
  .meta({ id: "CohereEmbedResponse" });
export type CohereEmbedResponse = z.infer<typeof CohereEmbedResponse>;

/** Answer of version 1 without `embedding_types`. */
export const CohereEmbedFloatsResponse = z
  .object({
    id: z.string(),
    response_type: z.literal("embeddings_floats"),
    embeddings: vectors,
    texts: z.array(z.string()),
    meta: cohereMeta,
  })
  .meta({ id: "CohereEmbedFloatsResponse" });
export type CohereEmbedFloatsResponse = z.infer<typeof CohereEmbedFloatsResponse>;

export const ModelsResponse = z
  .object({
    object: z.literal("list"),
    data: z.array(
      z.object({ id: z.string(), object: z.literal("model"), created: count, owned_by: z.literal("code-context") }),
    ),
  })
  .meta({ id: "ModelsResponse" });
export type ModelsResponse = z.infer<typeof ModelsResponse>;

export const CompatRerankRequest = z
  .object({
    model: model.optional().describe("Any name will do; a fingerprint (`rrk_…`) must be the current one."),
    query: inputText,
    documents: z
      .array(
        z
          .union([inputText, z.looseObject({ text: inputText })], {
            error: "must be a string or an object with a text",
          })
          .transform((document) => (typeof document === "string" ? document : document.text)),
      )
      .min(1, "needs at least one document")
      .max(MAX_RERANK_DOCUMENTS, `takes at most ${MAX_RERANK_DOCUMENTS} documents; split the request`),
    top_n: z.int().positive().optional().describe("Only the best so many; default: all."),
    return_documents: z.boolean().default(false).describe("Send each document's text back with its row."),
  })
  .meta({ id: "CompatRerankRequest" });
export type CompatRerankRequest = z.infer<typeof CompatRerankRequest>;

export const CompatRerankResponse = z
  .object({
    id: z.string(),
    model: z.string().describe("The fingerprint of the scoring model."),
    results: z
      .array(
        z.object({ index: count, relevance_score: z.number(), document: z.object({ text: z.string() }).optional() }),
      )
      .describe("Best first."),
    meta: z.object({ billed_units: z.object({ input_tokens: count }) }).describe("As Cohere reports it."),
    usage: z.object({ total_tokens: count }).describe("As Jina reports it."),
  })
  .meta({ id: "CompatRerankResponse" });
export type CompatRerankResponse = z.infer<typeof CompatRerankResponse>;

/** Error body of these routes. `message` repeats the text at the place where Cohere's clients read it. */
export const CompatErrorBody = z
  .object({
    error: z.object({ message: z.string(), type: z.string(), code: z.string(), param: z.string().nullable() }),
    message: z.string(),
  })
  .meta({ id: "CompatErrorBody" });
export type CompatErrorBody = z.infer<typeof CompatErrorBody>;
