/** The interface of model providers. */

export type ProviderName = "builtin" | "openai" | "voyage" | "cohere" | "jina" | "workers-ai" | "none";

/** What the operator configured; read from variables by `readEmbedConfig` and `readRerankConfig`. */
export interface ProviderConfig {
  provider: ProviderName;
  /** Carries the version segment, without a trailing slash: `http://127.0.0.1:9000/v1`. */
  baseUrl?: string;
  model?: string;
  apiKey?: string;
  /** Length of the vectors to ask for; absent means the model's own. */
  dimension?: number;
  /** Stands in for the base URL in the fingerprint; see `computeFingerprint`. */
  space?: string;
  /** Time limit of one `embed` or `rerank`, from first byte to last, retries included; see `CallOptions.patienceMs`. */
  timeoutMs: number;
}

export type InputType = "document" | "query";

export interface CallOptions {
  /** Aborts the upstream call at once; the promise rejects with code `ABORTED`. */
  signal?: AbortSignal;
  /** Retries after the first try of each upstream call; overrides the default of `ProviderDeps`. */
  maxRetries?: number;
  /**
   * Time limit of the whole, retries and their waits included, where it is longer than `timeoutMs`, which then limits each
   * attempt. For callers that can wait, such as index runs.
   */
  patienceMs?: number;
}

export interface EmbedOptions extends CallOptions {
  inputType: InputType;
}

export interface EmbedResult {
  /** One vector per input, in input order, all of the same length, every component finite. */
  vectors: Float32Array[];
  /** What the upstream reported, else `estimateTokens`. */
  tokens: number;
}

/** Holds no I/O between calls: one instance may serve many requests of a Worker. */
export interface Embedder {
  /** Opaque identifier of the embedding space. */
  readonly fingerprint: string;
  /** `undefined` until the first answer of a provider that decides it. */
  readonly dimension: number | undefined;
  /** The dimension; if no answer has shown it yet, determined by one short call and cached. Throws `UpstreamError`. */
  probeDimension(options?: CallOptions): Promise<number>;
  /** Throws `UpstreamError`; never returns part of the vectors. */
  embed(inputs: readonly string[], options: EmbedOptions): Promise<EmbedResult>;
}

export interface RerankRow {
  /** Position of the document in the request. */
  index: number;
  relevanceScore: number;
}

export interface RerankResult {
  /** One row per document, in the order the provider gave them; not sorted. */
  results: RerankRow[];
  tokens: number;
}

export interface Reranker {
  /** Opaque identifier of the scoring model. */
  readonly fingerprint: string;
  /** Throws `UpstreamError`; never returns part of the rows. */
  rerank(query: string, documents: readonly string[], options?: CallOptions): Promise<RerankResult>;
}

/** The part of a Workers AI binding that is used. */
export interface AiBinding {
  run(model: string, inputs: Record<string, unknown>, options?: { signal?: AbortSignal }): Promise<unknown>;
}

export type FetchLike = (input: string, init: RequestInit) => Promise<Response>;

/** Dependencies, passed in so that the same code runs in workerd, in Node and in tests. */
export interface ProviderDeps {
  fetch: FetchLike;
  /** Uniform in [0, 1); spreads the waits between retries. Default `Math.random`. */
  random?: () => number;
  /** Waits `ms`, or less when `signal` aborts. Default: a timer. */
  sleep?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
  /** Milliseconds since the epoch. Default `Date.now`. */
  now?: () => number;
  /** The Workers AI binding; needed by provider `workers-ai` only. */
  ai?: AiBinding;
  /** Upstream calls of one request in flight at a time. Default 4. */
  concurrency?: number;
  /** Retries after the first try of each upstream call. Default 2, meant for interactive routes; indexing asks for more. */
  maxRetries?: number;
}
