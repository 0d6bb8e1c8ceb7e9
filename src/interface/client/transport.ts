import { REQUEST_ID_HEADER } from "../../contract/headers.ts";
import type { Surface } from "../../contract/surfaces.ts";
import { type Answer, type AnswerName, loadSchemas, readAnswer } from "./answers.ts";
import { type AnswerLike, type Call, type FetchLike, readText, type SentRequest } from "./call.ts";
import { CodeContextError } from "./errors.ts";
import { aborted, isTransient, isUnreachable, noAnswer, parseJson, readError } from "./failures.ts";
import { nextWait, Pacer, readRateWindow, readRetryAfterMs } from "./waits.ts";

/** Why the client waits before a request. */
export interface WaitEvent {
  reason: "slow-down" | "rate-limited" | "unavailable" | "failed";
  waitMs: number;
  /** Path of the waiting request. */
  path: string;
}

export interface TransportOptions {
  /** Base address of the service: `https://host` or `https://host/api/v1`. */
  baseUrl: string;
  fetch?: FetchLike;
  /** Milliseconds since the epoch. */
  now?: () => number;
  /** Uniform in [0, 1). */
  random?: () => number;
  /** Waits `ms`; rejects at once when `signal` aborts. */
  sleep?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
  /** Timeout of one attempt, including the response body. Default 75 s: longer than the service's own 60 s. */
  timeoutMs?: number;
  /** Attempts after the first. Default 4. */
  maxRetries?: number;
  /** Longest wait before a retry; if the service asks for more, the error is thrown with `retryAfterSec`. Default 5 min. */
  maxWaitMs?: number;
  /**
   * Attempts after the first when no connection can be made (refused, no such host) and the service has never answered: most
   * likely the address is wrong or the service is not running. Default: `maxRetries`.
   */
  maxConnectRetries?: number;
  /** Sent with every request. */
  headers?: Record<string, string>;
  onWait?: (event: WaitEvent) => void;
}

/** Options of a single call; they override the client's. */
export interface CallOptions {
  signal?: AbortSignal | undefined;
  timeoutMs?: number;
  maxRetries?: number;
  maxWaitMs?: number;
}

const DEFAULT_TIMEOUT_MS = 75_000;
const DEFAULT_MAX_RETRIES = 4;
const DEFAULT_MAX_WAIT_MS = 5 * 60_000;

/** Sends calls, paces them by the service's rate-limit headers and retries what may be retried. */
export class Transport {
  readonly #options: TransportOptions;
  readonly #baseUrl: string;
  #hasAnswered = false;
  readonly #pacers = new Map<Surface, Pacer>();
  readonly #now: () => number;
  readonly #random: () => number;
  readonly #sleep: (ms: number, signal: AbortSignal | undefined) => Promise<void>;

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#baseUrl = options.baseUrl.replace(/\/+$/, "");
    this.#now = options.now ?? Date.now;
    this.#random = options.random ?? Math.random;
    this.#sleep = options.sleep ?? sleepFor;
  }

  /** Sends a call and validates its JSON answer against the contract. Throws {@link CodeContextError}. */
  async json<Name extends AnswerName>(call: Call, name: Name, options: CallOptions = {}): Promise<Answer<Name>> {
    // Load the schemas while the request is in flight.
    void loadSchemas();
    return this.send(call, options, async (response, requestId) => {
      const text = await readText(response);
      const read = text === undefined ? { issue: "it is too long" } : await readAnswer(name, parseJson(text));
      if ("answer" in read) return read.answer;
      throw new CodeContextError(
        "BAD_RESPONSE",
        `${call.method} ${call.path} answered ${response.status} with a body of an unknown form (${read.issue})`,
        { status: response.status, requestId },
      );
    });
  }

  /** Sends a call, with retries; `read` turns the 2xx response into the result, within the same timeout. */
  async send<T>(
    call: Call,
    options: CallOptions,
    read: (response: AnswerLike, requestId: string | undefined) => Promise<T>,
  ): Promise<T> {
    const { signal } = options;
    const maxRetries = options.maxRetries ?? this.#options.maxRetries ?? DEFAULT_MAX_RETRIES;
    const pacer = this.#pacerOf(call.surface);
    let backoffMs = 0;
    for (let attempt = 0; ; attempt++) {
      await this.#waitForTurn(pacer, call, options);
      const sentAtMs = this.#now();
      const outcome = await this.#attempt(call, options, read);
      if ("result" in outcome) {
        pacer.succeeded();
        return outcome.result;
      }
      const { error, retryAfterMs } = outcome;
      const limited = error.status === 429 && error.code !== "QUOTA_EXCEEDED";
      let waitMs: number;
      if (limited) {
        // Kept by the pacer, so that other calls to this bucket wait too, even if this one gives up.
        waitMs = pacer.refused(sentAtMs, this.#now(), retryAfterMs, this.#random());
      } else {
        const next = nextWait(backoffMs, retryAfterMs, this.#random());
        backoffMs = next.baseMs;
        waitMs = next.waitMs;
      }
      const worthwhile = limited || error.status === 503 || (call.repeatable && isTransient(error));
      const unreachable = !this.#hasAnswered && isUnreachable(error);
      const most = unreachable ? Math.min(maxRetries, this.#options.maxConnectRetries ?? maxRetries) : maxRetries;
      if (!worthwhile || attempt >= most || waitMs > this.#maxWaitMs(options)) throw error;
      if (limited) continue;
      this.#options.onWait?.({ reason: error.status === 503 ? "unavailable" : "failed", waitMs, path: call.path });
      await this.wait(waitMs, call, signal);
    }
  }

  #maxWaitMs(options: CallOptions): number {
    return (options.maxWaitMs ?? this.#options.maxWaitMs ?? DEFAULT_MAX_WAIT_MS) * 1.25;
  }

  #pacerOf(surface: Surface): Pacer {
    let pacer = this.#pacers.get(surface);
    if (!pacer) this.#pacers.set(surface, (pacer = new Pacer()));
    return pacer;
  }

  async #waitForTurn(pacer: Pacer, call: Call, options: CallOptions): Promise<void> {
    let waitMs = pacer.reserve(this.#now());
    while (waitMs > 0) {
      const reason = pacer.blockedMs(this.#now()) > 0 ? "rate-limited" : "slow-down";
      if (waitMs > this.#maxWaitMs(options)) {
        const retryAfterSec = Math.ceil(waitMs / 1_000);
        throw new CodeContextError("RATE_LIMITED", `the rate limit allows the next request in ${retryAfterSec} s`, {
          status: 429,
          retryAfterSec,
        });
      }
      this.#options.onWait?.({ reason, waitMs, path: call.path });
      await this.wait(waitMs, call, options.signal);
      // Another call may have been rate limited in the meantime.
      waitMs = pacer.blockedMs(this.#now());
    }
  }

  /** Waits `ms`; throws `ABORTED` as soon as `signal` fires. */
  async wait(ms: number, call: Call, signal: AbortSignal | undefined): Promise<void> {
    try {
      await this.#sleep(ms, signal);
    } catch (error) {
      if (signal?.aborted) throw aborted(call, signal);
      throw error;
    }
  }

  async #attempt<T>(
    call: Call,
    options: CallOptions,
    read: (response: AnswerLike, requestId: string | undefined) => Promise<T>,
  ): Promise<{ result: T } | { error: CodeContextError; retryAfterMs: number | undefined }> {
    const { signal } = options;
    if (signal?.aborted) throw aborted(call, signal);
    const timeoutMs = options.timeoutMs ?? this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    const timer = AbortSignal.timeout(timeoutMs);
    try {
      const response = await this.#request(call, signal ? AbortSignal.any([signal, timer]) : timer);
      this.#hasAnswered = true;
      this.#pacerOf(call.surface).observe(readRateWindow(response.headers, this.#now()));
      const requestId = response.headers.get(REQUEST_ID_HEADER) ?? undefined;
      if (response.ok || response.status === call.acceptStatus) return { result: await read(response, requestId) };
      const error = await readError(call, response, requestId, readRetryAfterMs(response.headers, this.#now()));
      return { error, retryAfterMs: error.retryAfterSec === undefined ? undefined : error.retryAfterSec * 1_000 };
    } catch (error) {
      if (signal?.aborted) throw aborted(call, signal);
      if (error instanceof CodeContextError) return { error, retryAfterMs: undefined };
      return {
        error: noAnswer(call, this.#baseUrl, error, timer.aborted ? timeoutMs : undefined),
        retryAfterMs: undefined,
      };
    }
  }

  #request(call: Call, signal: AbortSignal): Promise<AnswerLike> {
    const headers: Record<string, string> = { Accept: "application/json", ...this.#options.headers, ...call.headers };
    if (call.credential !== undefined) headers["Authorization"] = `Bearer ${call.credential}`;
    const init: SentRequest = { method: call.method, headers, signal };
    if (call.body !== undefined) {
      headers["Content-Type"] = "application/json";
      init.body = JSON.stringify(call.body);
    }
    const send: FetchLike = this.#options.fetch ?? ((input, init) => fetch(input, init));
    return send(this.#baseUrl + call.path, init);
  }
}

/** Waits `ms`; rejects at once when `signal` aborts. */
function sleepFor(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(new DOMException("aborted", "AbortError"));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, ms);
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true });
  });
}
