import { EmbedCheckResponse, EmbedRequest, EmbedResponse } from "../../../contract/index.ts";
import { type Embedder, shortDecimalsOfAll } from "../../../engines/embedding/index.ts";
import { ApiError } from "../../../lib/errors.ts";
import type { ApiContext } from "../context.ts";
import { callProvider } from "../metering.ts";
import { meteredRoute, route } from "../route.ts";
import type { Services } from "../services.ts";

const TAG = "Embedding and reranking";
const UPSTREAM = ["UPSTREAM_ERROR", "UPSTREAM_UNREACHABLE", "UPSTREAM_TIMEOUT"] as const;

/** Embeds texts. */
export const embed = meteredRoute({
  id: "embed",
  method: "POST",
  path: "/embed",
  tag: TAG,
  summary: "Turn texts into vectors",
  description:
    "Costs one credit for each started 1,000 tokens, at least one. Characters are counted as UTF-16 code units. A failed call costs nothing.",
  surface: "metered",
  body: { schema: EmbedRequest, example: { input: ["function add(a, b) { return a + b }"], inputType: "document" } },
  responses: { 200: { description: "One vector per input, in input order.", schema: EmbedResponse } },
  errors: ["QUOTA_EXCEEDED", ...UPSTREAM, "EMBED_UNAVAILABLE"],
  kind: "embed",
  texts: ({ input }) => ({ input }),
  requireProvider: requireEmbedder,
  handle: async (c, { body: { input, inputType }, charge }) => {
    const embedder = requireEmbedder(c.get("services"));
    const { result, credits } = await charge((options) => embedder.embed(input, { ...options, inputType }));
    const vectors = await shortDecimalsOfAll(result.vectors);
    return c.json({
      ok: true,
      fingerprint: embedder.fingerprint,
      dimension: result.vectors[0]?.length ?? 0,
      embeddings: vectors.map((vector, index) => ({ index, vector })),
      usage: { credits },
    } satisfies EmbedResponse);
  },
});

/** Checks the key and returns the embedding space. Free. */
export const checkEmbed = route({
  id: "checkEmbed",
  method: "GET",
  path: "/embed",
  tag: TAG,
  summary: "Check a key and pin the embedding space",
  description: "Free. Vectors with different fingerprints cannot be compared: embed again when it changes.",
  credential: "api_key",
  surface: "metered",
  responses: { 200: { description: "The embedding space.", schema: EmbedCheckResponse } },
  errors: [...UPSTREAM, "EMBED_UNAVAILABLE"],
  handle: async (c) => {
    const embedder = requireEmbedder(c.get("services"));
    const dimension = await probeDimension(c, embedder);
    return c.json({ ok: true, fingerprint: embedder.fingerprint, dimension } satisfies EmbedCheckResponse);
  },
});

/** Returns the embedder. Throws 503 if none is configured. */
export function requireEmbedder({ embedder }: Services): Embedder {
  if (!embedder) throw new ApiError("EMBED_UNAVAILABLE", "embedding is not configured on this service");
  return embedder;
}

/** The vectors' length; determined by a call to the provider if it is not configured or cached. */
export function probeDimension(c: ApiContext, embedder: Embedder): Promise<number> {
  return callProvider(c, (options) => embedder.probeDimension(options));
}
