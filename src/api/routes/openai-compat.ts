import { EmbeddingsRequest, EmbeddingsResponse, ModelsResponse } from "../../contract/index.ts";
import { type Embedder, shortDecimals } from "../../embedding/index.ts";
import { invalidBody } from "../../errors.ts";
import type { ApiContext } from "../context.ts";
import { meteredRoute, route } from "../route.ts";
import { probeDimension, requireEmbedder } from "./embed.ts";

const TAG = "Other services' formats";

/** OpenAI-compatible embeddings, with our credentials, limits and metering. */
export const openaiEmbeddings = meteredRoute({
  id: "openaiEmbeddings",
  method: "POST",
  path: "/v1/embeddings",
  aliases: ["/api/v1/embeddings"],
  tag: TAG,
  summary: "Embeddings as OpenAI's clients ask for them",
  description:
    "Limits, metering and vectors are those of `/embed`. Give a client `<base address>/v1` or `<site>/api/v1` as its base URL and an API key as its key.",
  surface: "metered",
  errorForm: "compat",
  body: {
    schema: EmbeddingsRequest,
    example: { model: "any", input: ["function add(a, b) { return a + b }"] },
  },
  responses: { 200: { description: "One vector per input.", schema: EmbeddingsResponse } },
  errors: ["QUOTA_EXCEEDED", "UPSTREAM_ERROR", "UPSTREAM_UNREACHABLE", "UPSTREAM_TIMEOUT", "EMBED_UNAVAILABLE"],
  kind: "embed",
  texts: ({ input }) => ({ input }),
  requireProvider: requireEmbedder,
  handle: async (c, { body, charge }) => {
    const embedder = requireEmbedder(c.get("services"));
    await requireSpace(c, body, embedder);
    const { input, input_type: inputType, encoding_format: format } = body;
    const { result } = await charge((options) => embedder.embed(input, { ...options, inputType }));
    return c.json({
      object: "list",
      data: result.vectors.map((vector, index) => {
        return {
          object: "embedding",
          index,
          embedding: format === "base64" ? toBase64(vector) : shortDecimals(vector),
        };
      }),
      model: embedder.fingerprint,
      usage: { prompt_tokens: result.tokens, total_tokens: result.tokens },
    } satisfies EmbeddingsResponse);
  },
});

export const openaiModels = route({
  id: "openaiModels",
  method: "GET",
  path: "/v1/models",
  aliases: ["/api/v1/models"],
  tag: TAG,
  summary: "The one model there is",
  description: "Its name is the fingerprint of the embedding space.",
  credential: "api_key",
  surface: "metered",
  errorForm: "compat",
  responses: { 200: { description: "A list of one.", schema: ModelsResponse } },
  errors: ["EMBED_UNAVAILABLE"],
  handle: async (c) => {
    const { fingerprint } = requireEmbedder(c.get("services"));
    return c.json({
      object: "list",
      data: [{ id: fingerprint, object: "model", created: 0, owned_by: "code-context" }],
    } satisfies ModelsResponse);
  },
});

const FINGERPRINT = /^emb_[0-9a-f]{32}$/;

/** Rejects a request that names another embedding space than the current one. Any other model name is accepted. */
async function requireSpace(
  c: ApiContext,
  { model, dimensions }: EmbeddingsRequest,
  embedder: Embedder,
): Promise<void> {
  if (FINGERPRINT.test(model) && model !== embedder.fingerprint) {
    const message = `names an embedding space that is no longer available; the current one is ${embedder.fingerprint}`;
    throw invalidBody([{ path: "model", message }]);
  }
  if (dimensions === undefined) return;
  const dimension = await probeDimension(c, embedder);
  if (dimensions !== dimension) {
    const message = `must be ${dimension}, or left out: vectors are not shortened`;
    throw invalidBody([{ path: "dimensions", message }]);
  }
}

/** Base64 of little-endian float32, the memory layout of every supported platform. */
function toBase64({ buffer, byteOffset, byteLength }: Float32Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("base64");
}
