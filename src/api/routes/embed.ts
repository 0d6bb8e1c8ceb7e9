import { Hono } from "hono";
import { type EmbedCheckResponse, EmbedRequest, plainEmbedRequest } from "../../contract/index.ts";
import type { Embedder } from "../../embedding/index.ts";
import { ApiError } from "../../errors.ts";
import type { ApiContext, ApiHono } from "../context.ts";
import { type Exchange, exchangeOf } from "../exchange.ts";
import { capCharacters } from "../input-cap.ts";
import { admitMetered, askProvider, outliveClient, runMetered } from "../metering.ts";
import { authorize } from "../middleware/authorize.ts";
import { readBody, unwrap } from "../middleware/body.ts";
import { jsonBytes } from "../vector-json.ts";

/** Room for what follows the vectors, which is known last. */
const MAX_USAGE_BYTES = 64;
const encoder = new TextEncoder();

/** Text to vectors: `POST /embed`, and the free check `GET /embed`. */
export const embed = new Hono<ApiHono>();

/** `POST /embed`, whoever found the way to it. */
export async function postEmbed(exchange: Exchange): Promise<Response> {
  const read = await readBody(exchange.request, EmbedRequest, { plain: plainEmbedRequest });
  const body = capCharacters(read, ({ input }) => ({ input }));
  const { embedder } = exchange.services;
  const admission = await admitMetered(exchange, body, ({ input }) => input, embedder);
  const { input, inputType } = unwrap(body);
  const model = requireEmbedder(embedder);
  const { result, credits } = await runMetered(exchange, admission, "embed", (options) =>
    model.embed(input, { ...options, inputType }),
  );
  const space = `"fingerprint":${JSON.stringify(model.fingerprint)},"dimension":${result.vectors[0]?.length ?? 0}`;
  const pieces: (string | Float32Array)[] = [];
  for (const [index, vector] of result.vectors.entries()) {
    pieces.push(
      index === 0 ? `{"ok":true,${space},"embeddings":[{"index":0,"vector":` : `},{"index":${index},"vector":`,
    );
    pieces.push(vector);
  }
  const bytes = jsonBytes(pieces, MAX_USAGE_BYTES);
  const start = bytes.length - MAX_USAGE_BYTES;
  const { written } = encoder.encodeInto(`}],"usage":{"credits":${await credits}}}`, bytes.subarray(start));
  return exchange.respond(bytes.subarray(0, start + written), 200, { "Content-Type": "application/json" });
}

embed.post("/embed", outliveClient, (c) => postEmbed(exchangeOf(c)));

embed.get("/embed", async (c) => {
  await authorize(exchangeOf(c), { credential: "api_key", surface: "metered" });
  const model = requireEmbedder(c.get("services").embedder);
  const dimension = await dimensionOf(c, model);
  const answer: EmbedCheckResponse = { ok: true, fingerprint: model.fingerprint, dimension };
  return c.json(answer, 200, { "Cache-Control": "no-store" });
});

/** The embedder, or 503 where none is configured. */
export function requireEmbedder(embedder: Embedder | undefined): Embedder {
  if (!embedder) throw new ApiError("EMBED_UNAVAILABLE", "embedding is not configured on this service");
  return embedder;
}

/** The length of the vectors; asks the provider the first time, if it alone knows. */
export function dimensionOf(c: ApiContext, embedder: Embedder): Promise<number> {
  return askProvider(exchangeOf(c), (options) => embedder.probeDimension(options));
}
