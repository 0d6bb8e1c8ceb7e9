/** The interface of model providers. */

export type ProviderName = "builtin" | "openai" | "voyage" | "cohere" | "jina" | "workers-ai" | "none";

/** Configuration of a provider, from `readEmbedConfig` or `readRerankConfig`. */
export interface ProviderConfig {
  provider: ProviderName;
  /** Includes the version segment, without a trailing slash: `http://127.0.0.1:9000/v1`. */
  baseUrl?: string;
  model?: string;
  apiKey?: string;
  /** Requested length of the vectors; default: the model's. */
  dimension?: number;
  /** Replaces the base URL in the fingerprint; see `computeFingerprint`. */
  space?: string;
  /** Time limit of one `embed` or `rerank`, including retries; see `CallOptions.patienceMs`. */
  timeoutMs: number;
}

export type InputType = "document" | "query";

export interface CallOptions {
  /** Aborts the upstream call at once; the promise rejects with code `ABORTED`. */
  signal?: AbortSignal;
  /** Retries of each upstream call; overrides the default of `ProviderDeps`. */
  maxRetries?: number;
  /**
   * Time limit of the whole call, including retries and waits. If it is longer than `timeoutMs`, the latter limits each attempt. For
   * callers that can wait, such as index runs.
   */
  patienceMs?: number;
}

export interface EmbedOptions extends CallOptions {
  inputType: InputType;
}

export interface EmbedResult {
  /** One vector per input, in input order, all of the same length, every component finite. */
  vectors: Float32Array[];
  /** As reported by the upstream, else `estimateTokens`. */
  tokens: number;
}

/** An embedding provider. Keeps no I/O between calls, so one instance may serve many requests of a Worker. */
export interface Embedder {
  /** False for the builtin ones: they do not improve the ranking of files, so search ranks without them. */
  readonly isModel: boolean;
  /** Opaque identifier of the embedding space. */
  readonly fingerprint: string;
  /** `undefined` until the first answer, if the provider decides it. */
  readonly dimension: number | undefined;
  /** Returns the dimension; determines it with one short call if it is not known yet. Throws `UpstreamError`. */
  probeDimension(options?: CallOptions): Promise<number>;
  /** Embeds all inputs. Throws `UpstreamError`; never returns a partial result. */
  embed(inputs: readonly string[], options: EmbedOptions): Promise<EmbedResult>;
}

export interface RerankRow {
  /** Position of the document in the request. */
  index: number;
  relevanceScore: number;
}

export interface RerankResult {
  /** One row per document, in the provider's order (not sorted). */
  results: RerankRow[];
  tokens: number;
}

export interface Reranker {
  /** Opaque identifier of the scoring model. */
  readonly fingerprint: string;
  /** Scores all documents. Throws `UpstreamError`; never returns a partial result. */
  rerank(query: string, documents: readonly string[], options?: CallOptions): Promise<RerankResult>;
}

/** The subset of a Workers AI binding that the provider uses. */
export interface AiBinding {
  run(model: string, inputs: Record<string, unknown>, options?: { signal?: AbortSignal }): Promise<unknown>;
}

export type FetchLike = (input: string, init: RequestInit) => Promise<Response>;

/** Dependencies of the providers. */
export interface ProviderDeps {
  fetch: FetchLike;
  /** Uniform in [0, 1); spreads the waits between retries. Default `Math.random`. */
  random?: () => number;
  /** Waits `ms`, or until `signal` aborts. Default: a timer. */
  sleep?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
  /** Milliseconds since the epoch. Default `Date.now`. */
  now?: () => number;
  /** The Workers AI binding; needed by provider `workers-ai` only. */
  ai?: AiBinding;
  /** Reads the builtin models' table of terms; needed by provider `builtin`, except for its model `lexical`. */
  terms?: () => Promise<ArrayBuffer>;
  /** Concurrent upstream calls of one request. Default 4. */
  concurrency?: number;
  /** Retries of each upstream call. Default 2, for interactive routes; indexing uses more. */
  maxRetries?: number;
}
