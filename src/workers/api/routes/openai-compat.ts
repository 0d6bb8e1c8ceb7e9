import { EmbeddingsRequest, EmbeddingsResponse, ModelsResponse } from "../../../contract/index.ts";
import { shortDecimalsOfAll } from "../../../engines/embedding/index.ts";
import { meteredRoute, route } from "../route.ts";
import { requireSpace, toBase64 } from "./compat-space.ts";
import { requireEmbedder } from "./embed.ts";

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
    await requireSpace(c, embedder, body.model, { field: "dimensions", value: body.dimensions });
    const { input, input_type: inputType, encoding_format: format } = body;
    const { result } = await charge((options) => embedder.embed(input, { ...options, inputType }));
    const embeddings = format === "base64" ? result.vectors.map(toBase64) : await shortDecimalsOfAll(result.vectors);
    return c.json({
      object: "list",
      data: embeddings.map((embedding, index) => ({ object: "embedding", index, embedding })),
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
  summary: "The model of the service",
  description: "Its name is the fingerprint of the embedding space.",
  credential: "api_key",
  surface: "metered",
  errorForm: "compat",
  responses: { 200: { description: "A list with one model.", schema: ModelsResponse } },
  errors: ["EMBED_UNAVAILABLE"],
  handle: async (c) => {
    const { fingerprint } = requireEmbedder(c.get("services"));
    return c.json({
      object: "list",
      data: [{ id: fingerprint, object: "model", created: 0, owned_by: "code-context" }],
    } satisfies ModelsResponse);
  },
});
