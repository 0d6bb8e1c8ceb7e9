import { createHash } from "node:crypto";

const FINGERPRINT_BYTES = 16;

interface FingerprintInput {
  provider: string;
  /** Base URL of the provider, or `EMBED_SPACE`; absent for a provider's default URL. */
  space?: string | undefined;
  model: string;
  /** The configured length; `undefined` for the model's default. */
  dimension: number | undefined;
  /** Incremented when the processing of texts before, or vectors after, the model changes. */
  preprocessingVersion: number;
}

/**
 * Opaque identifier of an embedding space: `emb_` and 32 hex digits of a SHA-256 over provider, model, dimension, preprocessing
 * version and address. The address is included because two servers may serve different models under one name; operators who move
 * a model to another address set `EMBED_SPACE` instead.
 */
export function computeFingerprint(input: FingerprintInput): string {
  const { provider, model, dimension = null, preprocessingVersion, space } = input;
  return digest("emb_", [provider, model, dimension, preprocessingVersion, ...(space === undefined ? [] : [space])]);
}

/** Opaque identifier of a scoring model. */
export function computeRerankFingerprint(provider: string, model: string, preprocessingVersion: number): string {
  return digest("rrk_", [provider, model, preprocessingVersion]);
}

function digest(prefix: string, fields: readonly unknown[]): string {
  const hash = createHash("sha256")
    .update(prefix + JSON.stringify(fields))
    .digest("hex");
  return prefix + hash.slice(0, FINGERPRINT_BYTES * 2);
}
