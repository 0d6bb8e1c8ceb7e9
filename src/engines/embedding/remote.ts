import { pessimisticTokens, splitIntoSpans, type Span } from "./batching.ts";
import { DEFAULT_CONCURRENCY, runBounded, withDeadline, type CallContext } from "./call.ts";
import { unusableAnswer, UpstreamError } from "./errors.ts";
import { computeFingerprint, computeRerankFingerprint } from "./fingerprint.ts";
import type { EmbedProtocol, RerankProtocol, Transport } from "./protocol.ts";
import { totalTokens } from "./tokens.ts";
import type {
  CallOptions,
  EmbedOptions,
  EmbedResult,
  Embedder,
  ProviderConfig,
  ProviderDeps,
  RerankResult,
  Reranker,
} from "./types.ts";

/** Shared by all remote providers: splitting, deadline, retries, validation and order. */

const ANSWER_BASE_BYTES = 1 << 20;
/** Size of a vector with 8,192 components in decimal. */
const ANSWER_BYTES_PER_VECTOR = 192 << 10;
const ANSWER_BYTES_PER_SCORE = 1 << 10;
const ANSWER_CAP_BYTES = 32 << 20;
const PROBE_TEXT = "dimension";
/** Sent by text-embeddings-inference and by proxies if a call is too large. */
const STATUS_CONTENT_TOO_LARGE = 413;

export class RemoteEmbedder implements Embedder {
  readonly isModel = true;
  readonly fingerprint: string;
  readonly #config: ProviderConfig;
  readonly #protocol: EmbedProtocol;
  readonly #transport: Transport;
  readonly #deps: ProviderDeps;
  #dimension: number | undefined;
  /** Reduced when the server rejects a call as too large. */
  #maxItems: number;

  constructor(config: ProviderConfig, protocol: EmbedProtocol, transport: Transport, deps: ProviderDeps) {
    this.#config = config;
    this.#protocol = protocol;
    this.#transport = transport;
    this.#deps = deps;
    this.#dimension = config.dimension;
    this.#maxItems = protocol.limits.maxItems;
    this.fingerprint = computeFingerprint({
      provider: config.provider,
      space: config.space ?? config.baseUrl,
      model: protocol.model,
      dimension: config.dimension,
      preprocessingVersion: protocol.preprocessingVersion,
    });
  }

  get dimension(): number | undefined {
    return this.#dimension;
  }

  async probeDimension(options: CallOptions = {}): Promise<number> {
    // Only the answer is cached, not the call in flight: in a Worker, a request must not wait on another request's I/O.
    if (this.#dimension !== undefined) return this.#dimension;
    const { vectors } = await this.embed([PROBE_TEXT], { ...options, inputType: "query" });
    return (vectors[0] as Float32Array).length;
  }

  async embed(inputs: readonly string[], options: EmbedOptions): Promise<EmbedResult> {
    if (inputs.length === 0) return { vectors: [], tokens: 0 };
    const limits = { ...this.#protocol.limits, maxItems: this.#maxItems };
    const parts = await withDeadline(this.#deps, deadline(this.#config, options), (context) =>
      runBounded(
        splitIntoSpans(inputs, limits).map((span) => () => this.#call(context, inputs, span, options)),
        this.#deps.concurrency ?? DEFAULT_CONCURRENCY,
      ),
    );
    const vectors = parts.flatMap((part) => part.vectors);
    const expected = this.#dimension ?? (vectors[0] as Float32Array).length;
    for (const vector of vectors) {
      if (vector.length !== expected) throw unusableAnswer(`vector of ${vector.length} components, not ${expected}`);
    }
    this.#dimension = expected;
    return {
      vectors,
      tokens: totalTokens(
        parts.flatMap((part) => part.tokens),
        inputs,
      ),
    };
  }

  /** Embeds one span in one upstream call, or in two halves if the server rejects it as too large. */
  async #call(
    context: CallContext,
    inputs: readonly string[],
    span: Span,
    options: EmbedOptions,
  ): Promise<{ vectors: Float32Array[]; tokens: (number | undefined)[] }> {
    const count = span.end - span.start;
    const body = this.#protocol.request(inputs.slice(span.start, span.end), options.inputType);
    const maxBytes = Math.min(ANSWER_CAP_BYTES, ANSWER_BASE_BYTES + count * ANSWER_BYTES_PER_VECTOR);
    try {
      const { vectors, tokens } = await context.retrying(async (attempt) =>
        this.#protocol.read(await this.#transport(attempt, this.#protocol.path, body, maxBytes), count),
      );
      return { vectors, tokens: [tokens] };
    } catch (error) {
      if (!(error instanceof UpstreamError) || error.status !== STATUS_CONTENT_TOO_LARGE || count === 1) throw error;
      const middle = span.start + (count >> 1);
      this.#maxItems = Math.min(this.#maxItems, middle - span.start);
      const first = await this.#call(context, inputs, { start: span.start, end: middle }, options);
      const second = await this.#call(context, inputs, { start: middle, end: span.end }, options);
      return { vectors: [...first.vectors, ...second.vectors], tokens: [...first.tokens, ...second.tokens] };
    }
  }
}

export class RemoteReranker implements Reranker {
  readonly fingerprint: string;
  readonly #config: ProviderConfig;
  readonly #protocol: RerankProtocol;
  readonly #transport: Transport;
  readonly #deps: ProviderDeps;

  constructor(config: ProviderConfig, protocol: RerankProtocol, transport: Transport, deps: ProviderDeps) {
    this.#config = config;
    this.#protocol = protocol;
    this.#transport = transport;
    this.#deps = deps;
    this.fingerprint = computeRerankFingerprint(config.provider, protocol.model, protocol.preprocessingVersion);
  }

  async rerank(query: string, documents: readonly string[], options: CallOptions = {}): Promise<RerankResult> {
    if (documents.length === 0) return { results: [], tokens: 0 };
    // Providers count the query's tokens once per document.
    const spans = splitIntoSpans(documents, this.#protocol.limits, pessimisticTokens(query));
    const parts = await withDeadline(this.#deps, deadline(this.#config, options), (context) =>
      runBounded(
        spans.map((span) => () => this.#call(context, query, documents.slice(span.start, span.end))),
        this.#deps.concurrency ?? DEFAULT_CONCURRENCY,
      ),
    );
    const results = parts.flatMap((part, position) =>
      part.results.map((row) => ({ ...row, index: row.index + (spans[position] as Span).start })),
    );
    const texts = [query, ...documents];
    return {
      results,
      tokens: totalTokens(
        parts.map((part) => part.tokens),
        texts,
      ),
    };
  }

  async #call(
    context: CallContext,
    query: string,
    documents: readonly string[],
  ): Promise<ReturnType<RerankProtocol["read"]>> {
    const body = this.#protocol.request(query, documents);
    const maxBytes = Math.min(ANSWER_CAP_BYTES, ANSWER_BASE_BYTES + documents.length * ANSWER_BYTES_PER_SCORE);
    return await context.retrying(async (attempt) =>
      this.#protocol.read(await this.#transport(attempt, this.#protocol.path, body, maxBytes), documents.length),
    );
  }
}

function deadline(config: ProviderConfig, options: CallOptions): Parameters<typeof withDeadline>[1] {
  return {
    timeoutMs: config.timeoutMs,
    maxRetries: options.maxRetries,
    signal: options.signal,
    patienceMs: options.patienceMs,
  };
}
