import { CohereEmbedFloatsResponse, CohereEmbedRequest, CohereEmbedResponse } from "../../../contract/index.ts";
import { shortDecimalsOfAll } from "../../../engines/embedding/index.ts";
import { meteredRoute } from "../route.ts";
import { requireSpace, toBase64 } from "./compat-space.ts";
import { requireEmbedder } from "./embed.ts";

/** Cohere's embeddings with our credential, limits and metering. Version 1 answers with plain vectors unless types are asked for. */
function cohereEmbedRoute(version: "1" | "2") {
  return meteredRoute({
    id: `cohereEmbedV${version}`,
    method: "POST",
    path: `/v${version}/embed`,
    tag: "Other services' formats",
    summary: `Embeddings as version ${version} of Cohere's API gives them`,
    description: "Limits, metering and vectors are those of `/embed`. Give a client the base address and an API key.",
    surface: "metered",
    errorForm: "compat",
    body: {
      schema: CohereEmbedRequest,
      example: { model: "any", texts: ["function add(a, b) { return a + b }"], input_type: "search_document" },
    },
    responses: {
      200: {
        description: "One vector per text, in the order of the texts.",
        schema: version === "1" ? CohereEmbedFloatsResponse.or(CohereEmbedResponse) : CohereEmbedResponse,
      },
    },
    errors: ["QUOTA_EXCEEDED", "UPSTREAM_ERROR", "UPSTREAM_UNREACHABLE", "UPSTREAM_TIMEOUT", "EMBED_UNAVAILABLE"],
    kind: "embed",
    texts: ({ texts }) => ({ texts }),
    requireProvider: requireEmbedder,
    handle: async (c, { body, charge }) => {
      const embedder = requireEmbedder(c.get("services"));
      await requireSpace(c, embedder, body.model, { field: "output_dimension", value: body.output_dimension });
      const { texts, embedding_types: types } = body;
      const inputType = body.input_type === "search_query" ? "query" : "document";
      const { result } = await charge((options) => embedder.embed(texts, { ...options, inputType }));
      const id = c.get("requestId");
      const meta = { api_version: { version }, billed_units: { input_tokens: result.tokens } };
      if (version === "1" && types === undefined) {
        const embeddings = await shortDecimalsOfAll(result.vectors);
        const answer = { id, response_type: "embeddings_floats" as const, embeddings, texts, meta };
        return c.json(answer satisfies CohereEmbedFloatsResponse);
      }
      const wanted = new Set(types ?? ["float"]);
      const embeddings = {
        ...(wanted.has("float") && { float: await shortDecimalsOfAll(result.vectors) }),
        ...(wanted.has("base64") && { base64: result.vectors.map(toBase64) }),
      };
      const answer = { id, response_type: "embeddings_by_type" as const, embeddings, texts, meta };
      return c.json(answer satisfies CohereEmbedResponse);
    },
  });
}

export const cohereEmbedV1 = cohereEmbedRoute("1");
export const cohereEmbedV2 = cohereEmbedRoute("2");
