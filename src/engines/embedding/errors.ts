type UpstreamErrorCode = "UPSTREAM_ERROR" | "UPSTREAM_UNREACHABLE" | "UPSTREAM_TIMEOUT" | "ABORTED";

/** Messages shown to tenants. They name no provider, model, address or key. */
const PUBLIC_MESSAGES: Record<UpstreamErrorCode, string> = {
  UPSTREAM_ERROR: "The model service rejected the request or gave an unusable answer.",
  UPSTREAM_UNREACHABLE: "The model service could not be reached.",
  UPSTREAM_TIMEOUT: "The model service did not answer in time.",
  ABORTED: "The request was aborted before the model service answered.",
};

const MAX_DETAIL_CHARS = 500;
const MAX_CAUSES = 4;

interface UpstreamErrorOptions {
  /** HTTP status of the upstream's answer, if there was one. */
  status?: number;
  retryable?: boolean;
  /** Whether an answer arrived that cannot be used. */
  isUnusable?: boolean;
  /** Wait that the upstream asked for. */
  retryAfterMs?: number;
  /** For operators only; pass it through `scrub` first. */
  detail?: string;
}

/**
 * The only error that an `Embedder` or `Reranker` throws. `message`, `stack` and `JSON.stringify(error)` may be shown to tenants.
 * `detail` is for the operator's log: it contains no keys, but may name the provider. It is a private field so that serialisers
 * and inspectors do not include it.
 */
export class UpstreamError extends Error {
  override readonly name = "UpstreamError";
  readonly code: UpstreamErrorCode;
  readonly status: number | undefined;
  readonly retryable: boolean;
  readonly isUnusable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly #detail: string | undefined;

  constructor(code: UpstreamErrorCode, options: UpstreamErrorOptions = {}) {
    super(PUBLIC_MESSAGES[code]);
    this.code = code;
    this.status = options.status;
    this.retryable = options.retryable ?? false;
    this.isUnusable = options.isUnusable ?? false;
    this.retryAfterMs = options.retryAfterMs;
    this.#detail = options.detail?.slice(0, MAX_DETAIL_CHARS);
  }

  get detail(): string | undefined {
    return this.#detail;
  }

  toJSON(): Record<string, unknown> {
    return { name: this.name, code: this.code, message: this.message, status: this.status, retryable: this.retryable };
  }
}

/** An unusable answer. It is likely to repeat, so there is at most one retry. */
export function unusableAnswer(detail: string, status?: number): UpstreamError {
  return new UpstreamError("UPSTREAM_ERROR", { detail, isUnusable: true, ...(status === undefined ? {} : { status }) });
}

/**
 * No connection, or a lost one: refused, reset, unknown name. The original error is not kept as the cause, since it names host and
 * port.
 */
export function unreachable(thrown: unknown, apiKey: string | undefined): UpstreamError {
  const parts: string[] = [];
  for (let cause: unknown = thrown; cause instanceof Error && parts.length < MAX_CAUSES; cause = cause.cause) {
    parts.push(cause.message);
  }
  const detail = parts.length > 0 ? parts.join(": ") : String(thrown);
  return new UpstreamError("UPSTREAM_UNREACHABLE", { retryable: true, detail: scrub(detail, apiKey) });
}

/** Removes the configured key, and anything that looks like a credential, from text for the log. */
export function scrub(text: string, apiKey: string | undefined): string {
  const withoutKey = apiKey === undefined || apiKey === "" ? text : text.replaceAll(apiKey, "[redacted]");
  return withoutKey
    .replaceAll(/\b(bearer|basic)\s+[^\s"',;]+/gi, "$1 [redacted]")
    .replaceAll(/\b(?:sk|pk|pa|jina|hf|key)[-_][\w*.-]{6,}/gi, "[redacted]")
    .replaceAll(/\/\/[^/\s@]+@/g, "//[redacted]@");
}
