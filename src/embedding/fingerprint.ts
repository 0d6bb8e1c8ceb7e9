import { createHash } from "node:crypto";

const FINGERPRINT_BYTES = 16;

export interface FingerprintInput {
  provider: string;
  model: string;
  /** The configured length; `undefined` where the model's own is taken. */
  dimension: number | undefined;
  /** Bumped whenever what we do to a text before or to a vector after the model changes. */
  preprocessingVersion: number;
}

/**
 * Opaque identifier of an embedding space: `emb_` and 32 hex digits of a SHA-256 over provider, model, dimension and
 * preprocessing version. Address and key are no part of it: the same model behind another address is the same space.
 */
export function computeFingerprint(input: FingerprintInput): string {
  return digest("emb_", [input.provider, input.model, input.dimension ?? null, input.preprocessingVersion]);
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
