import type { CallLimits } from "./batching.ts";
import type { CallContext } from "./call.ts";
import type { InputType, RerankRow } from "./types.ts";

/** What each provider's file implements; splitting, retries and checks are shared. */

export interface Protocol {
  /** Model actually asked for. */
  readonly model: string;
  /** Bumped when what this file does to inputs or answers changes the vectors or scores. */
  readonly preprocessingVersion: number;
  readonly limits: CallLimits;
}

export interface EmbedProtocol extends Protocol {
  /** Last part of the address, with its slash; model name for a binding. */
  readonly path: string;
  request(inputs: readonly string[], inputType: InputType): Record<string, unknown>;
  /** Vectors in input order; throws `UpstreamError` on anything doubtful. `tokens` where the provider reports them. */
  read(answer: unknown, count: number): { vectors: Float32Array[]; tokens: number | undefined };
}

export interface RerankProtocol extends Protocol {
  readonly path: string;
  request(query: string, documents: readonly string[]): Record<string, unknown>;
  /** Rows in the provider's own order, indices relative to this call's documents. */
  read(answer: unknown, count: number): { results: RerankRow[]; tokens: number | undefined };
}

/** Carries one request to the provider and brings back the decoded answer. */
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
