import type { CallLimits } from "./batching.ts";
import type { CallContext } from "./call.ts";
import type { InputType, RerankRow } from "./types.ts";

/** Interface of a provider's file; splitting, retries and validation are shared. */

interface Protocol {
  /** Model requested from the provider. */
  readonly model: string;
  /** Incremented when a change of the provider's file alters vectors or scores. */
  readonly preprocessingVersion: number;
  readonly limits: CallLimits;
}

export interface EmbedProtocol extends Protocol {
  /** Path below the base URL, with its slash; the model name for a binding. */
  readonly path: string;
  request(inputs: readonly string[], inputType: InputType): Record<string, unknown>;
  /** Reads the vectors, in input order. Throws `UpstreamError` if malformed. `tokens` is undefined if the provider reports none. */
  read(answer: unknown, count: number): { vectors: Float32Array[]; tokens: number | undefined };
}

export interface RerankProtocol extends Protocol {
  readonly path: string;
  request(query: string, documents: readonly string[]): Record<string, unknown>;
  /** Reads the results in the provider's order; indices are relative to this call's documents. */
  read(answer: unknown, count: number): { results: RerankRow[]; tokens: number | undefined };
}

/** Sends one request to the provider and returns the parsed answer. */
export type Transport = (
  context: CallContext,
  path: string,
  body: Record<string, unknown>,
  maxResponseBytes: number,
) => Promise<unknown>;

export interface ProtocolConfig {
  model: string | undefined;
  dimension: number | undefined;
}
