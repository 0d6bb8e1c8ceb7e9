import { createHash } from "node:crypto";

const FINGERPRINT_BYTES = 16;

export interface FingerprintInput {
  provider: string;
  /** Address of the provider, or the operator's name for the space; absent for a provider's own address. */
  space?: string | undefined;
  model: string;
  /** The configured length; `undefined` where the model's own is taken. */
  dimension: number | undefined;
  /** Bumped whenever what we do to a text before or to a vector after the model changes. */
  preprocessingVersion: number;
}

/**
 * Opaque identifier of an embedding space: `emb_` and 32 hex digits of a SHA-256 over provider, model, dimension, preprocessing
 * version and address. Two servers may serve different models under one name, so the address counts; an operator who moves a
 * model to another address sets `EMBED_SPACE` in its place.
 */
export function computeFingerprint(input: FingerprintInput): string {
  const { provider, model, dimension = null, preprocessingVersion, space } = input;
  return digest("emb_", [provider, model, dimension, preprocessingVersion, ...(space === undefined ? [] : [space])]);
}

/** The same for a scoring model. */
export function computeRerankFingerprint(provider: string, model: string, preprocessingVersion: number): string {
  return digest("rrk_", [provider, model, preprocessingVersion]);
}

function digest(prefix: string, fields: readonly unknown[]): string {
  const hash = createHash("sha256")
    .update(prefix + JSON.stringify(fields))
    .digest("hex");
  return prefix + hash.slice(0, FINGERPRINT_BYTES * 2);
}
