import { Hono } from "hono";
import { EmbeddingsRequest, type EmbeddingsResponse, type ModelsResponse } from "../../contract/index.ts";
import type { Embedder } from "../../embedding/index.ts";
import { invalidBody } from "../../errors.ts";
import type { ApiHono } from "../context.ts";
import { exchangeOf } from "../exchange.ts";
import { capCharacters } from "../input-cap.ts";
import { admitMetered, outliveClient, runMetered, type UpstreamOptions } from "../metering.ts";
import { authorize } from "../middleware/authorize.ts";
import { readBody, unwrap } from "../middleware/body.ts";
import { onCompatError } from "../middleware/compat-errors.ts";
import { vectorJson } from "../vector-json.ts";
import { requireEmbedder } from "./embed.ts";

/** OpenAI's embeddings over the same credential, limits and metering. Mounted where its clients look: below `/v1`. */
export const openai = new Hono<ApiHono>();
openai.onError(onCompatError);

openai.post("/embeddings", outliveClient, async (c) => {
  const exchange = exchangeOf(c);
  const body = capCharacters(await readBody(exchange.request, EmbeddingsRequest), ({ input }) => ({ input }));
  const { embedder } = exchange.services;
  const admission = await admitMetered(exchange, body, ({ input }) => input, embedder);
  const request = unwrap(body);
  const model = requireEmbedder(embedder);
  const { result, credits } = await runMetered(exchange, admission, "embed", async (options) => {
    await requireSpace(request, model, options);
    return model.embed(request.input, { ...options, inputType: request.input_type });
  });
  const write = request.encoding_format === "base64" ? vectorBase64 : vectorJson;
  const rows = result.vectors.map(
    (vector, index) => `{"object":"embedding","index":${index},"embedding":${write(vector)}}`,
  );
  const rest: Pick<EmbeddingsResponse, "model" | "usage"> = {
    model: model.fingerprint,
    usage: { prompt_tokens: result.tokens, total_tokens: result.tokens },
  };
  const text = `{"object":"list","data":[${rows.join(",")}],${JSON.stringify(rest).slice(1)}`;
  await credits;
  return c.body(text, 200, { "Content-Type": "application/json" });
});

openai.get("/models", async (c) => {
  await authorize(exchangeOf(c), { credential: "api_key", surface: "metered" });
  const { fingerprint } = requireEmbedder(c.get("services").embedder);
  const answer: ModelsResponse = {
    object: "list",
    data: [{ id: fingerprint, object: "model", created: 0, owned_by: "code-context" }],
  };
  return c.json(answer, 200, { "Cache-Control": "no-store" });
});

const FINGERPRINT = /^emb_[0-9a-f]{32}$/;

/** Rejects a request for vectors of another space than the one there is. Other names of models mean nothing here. */
async function requireSpace(
  { model, dimensions }: EmbeddingsRequest,
  embedder: Embedder,
  options: UpstreamOptions,
): Promise<void> {
  if (FINGERPRINT.test(model) && model !== embedder.fingerprint) {
    throw invalidBody([{ path: "model", message: `is no more; the embedding space is now ${embedder.fingerprint}` }]);
  }
  if (dimensions === undefined) return;
  const dimension = await embedder.probeDimension(options);
  if (dimensions !== dimension) {
    throw invalidBody([
      { path: "dimensions", message: `must be ${dimension}, or left out: vectors are not shortened` },
    ]);
  }
}

/** Base64 of little-endian float32, as every platform this runs on keeps it in memory. */
function vectorBase64({ buffer, byteOffset, byteLength }: Float32Array): string {
  return JSON.stringify(Buffer.from(buffer, byteOffset, byteLength).toString("base64"));
}
