import { isRecord } from "../../lib/shape.ts";
import { type CallContext, throwIfStopped } from "./call.ts";
import { scrub, unreachable, unusableAnswer, UpstreamError } from "./errors.ts";

/** JSON requests to model servers. Error statuses, oversized and broken answers become `UpstreamError`. */

const MAX_ERROR_BODY_BYTES = 4_096;
/** Retryable statuses below 500: request timeout, too early, too many requests. */
const RETRYABLE_CLIENT_STATUSES = new Set([408, 425, 429]);

interface JsonRequest {
  url: string;
  apiKey: string | undefined;
  body: Record<string, unknown>;
  /** Larger answers are rejected. */
  maxResponseBytes: number;
  now: () => number;
}

/**
 * POSTs `body` and returns the parsed JSON of a 2xx answer. Redirects are not followed, since they would forward the key. Throws
 * `UpstreamError`.
 */
export async function postJson(context: Pick<CallContext, "fetch" | "signal">, request: JsonRequest): Promise<unknown> {
  const headers: Record<string, string> = { "content-type": "application/json", accept: "application/json" };
  if (request.apiKey !== undefined) headers["authorization"] = `Bearer ${request.apiKey}`;
  const body = JSON.stringify(request.body);
  // Called without a receiver: workerd's fetch rejects any other `this`.
  const { fetch, signal } = context;
  const init: RequestInit = { method: "POST", headers, body, redirect: "manual", signal };
  const broken = (thrown: unknown): never => {
    throwIfStopped(signal);
    throw unreachable(thrown, request.apiKey);
  };
  const response = await fetch(request.url, init).catch(broken);
  const { status } = response;
  if (status < 200 || status > 299) throw await rejection(response, request);
  const text = await readText(response, request.maxResponseBytes).catch(broken);
  if (text === undefined) throw unusableAnswer(`answer longer than ${request.maxResponseBytes} bytes`, status);
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    throw unusableAnswer(`answer is not JSON (content-type ${response.headers.get("content-type") ?? "none"})`, status);
  }
  if (isRecord(answer) && answer["error"] !== undefined && answer["error"] !== null) {
    throw unusableAnswer(scrub(`2xx with an error: ${text.slice(0, MAX_ERROR_BODY_BYTES)}`, request.apiKey), status);
  }
  return answer;
}

async function rejection(response: Response, request: JsonRequest): Promise<UpstreamError> {
  const { status } = response;
  const retryable = status >= 500 || RETRYABLE_CLIENT_STATUSES.has(status);
  const retryAfterMs = parseRetryAfterMs(response.headers.get("retry-after"), request.now());
  const body = await readCapped(response, MAX_ERROR_BODY_BYTES, true).catch(() => undefined);
  const text = body === undefined ? "" : decoder.decode(body);
  return new UpstreamError("UPSTREAM_ERROR", {
    status,
    retryable,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    detail: scrub(`status ${status}: ${text}`, request.apiKey),
  });
}

/** Parses `Retry-After` (RFC 9110 §10.2.3: seconds or an HTTP date) to milliseconds from `nowMs`; `undefined` if malformed. */
export function parseRetryAfterMs(value: string | null, nowMs: number): number | undefined {
  if (value === null) return undefined;
  const trimmed = value.trim();
  if (/^\d+(?:\.\d+)?$/.test(trimmed)) return Number(trimmed) * 1_000;
  const date = Date.parse(trimmed);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}

/** The body as text; `undefined` if it is longer than `maxBytes`. */
async function readText(response: Response, maxBytes: number): Promise<string | undefined> {
  // Reading a body of known length whole is much cheaper. A compressed body may be larger than its length.
  const declared = response.headers.get("content-length");
  if (declared !== null && Number(declared) <= maxBytes && !response.headers.has("content-encoding")) {
    return await response.text();
  }
  const bytes = await readCapped(response, maxBytes);
  return bytes && decoder.decode(bytes);
}

const decoder = new TextDecoder();

/** The body; `undefined` if it is longer than `maxBytes`, or its first `maxBytes` with `truncate`. */
async function readCapped(response: Response, maxBytes: number, truncate = false): Promise<Uint8Array | undefined> {
  if (response.body === null) return new Uint8Array(0);
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    length += value.byteLength;
    if (length > maxBytes) {
      // The rest is not needed; errors while closing do not matter.
      await reader.cancel().catch(() => undefined);
      if (!truncate) return undefined;
      break;
    }
  }
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return bytes.subarray(0, maxBytes);
}
