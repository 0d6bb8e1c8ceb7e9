/** What the embedding routes in other services' formats share. */
import type { Embedder } from "../../../engines/embedding/index.ts";
import { invalidBody } from "../../../lib/errors.ts";
import type { ApiContext } from "../context.ts";
import { probeDimension } from "./embed.ts";

const FINGERPRINT = /^emb_[0-9a-f]{32}$/;

/** The field of a request that sets the length of the vectors, and its value. */
interface WantedDimension {
  field: "dimensions" | "output_dimension";
  value: number | undefined;
}

/** Rejects a request that names another embedding space than the current one. Any other model name is accepted. */
export async function requireSpace(
  c: ApiContext,
  embedder: Embedder,
  model: string | undefined,
  { field, value }: WantedDimension,
): Promise<void> {
  if (model !== undefined && FINGERPRINT.test(model) && model !== embedder.fingerprint) {
    const message = `names an embedding space that is no longer available; the current one is ${embedder.fingerprint}`;
    throw invalidBody([{ path: "model", message }]);
  }
  if (value === undefined) return;
  const dimension = await probeDimension(c, embedder);
  if (value !== dimension) {
    const mend = `set the dimension in the client's settings to ${dimension}, or leave it empty`;
    throw invalidBody([{ path: field, message: `must be ${dimension}, as vectors are not shortened: ${mend}` }]);
  }
}

/** Base64 of little-endian float32, the memory layout of every supported platform. */
export function toBase64({ buffer, byteOffset, byteLength }: Float32Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("base64");
}
