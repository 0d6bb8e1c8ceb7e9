/** JSON requests to the platforms' APIs, with timeouts and bounded retries. */
import { backoffMs, withJitter } from "../../lib/backoff.ts";
import { pause } from "../../lib/pause.ts";
import { errnoOf, OperatorError } from "../errors.ts";
import { LostAnswerError, PlatformError } from "./errors.ts";

const TIMEOUT_MS = 30_000;
export const ATTEMPTS = 5;
const BACKOFF = { baseMs: 1_000, capMs: 20_000 };
const MAX_MESSAGE = 400;
/** Longest `Retry-After` that is honoured, in milliseconds. Cloudflare blocks a token for five minutes at most. */
const MAX_RETRY_AFTER_MS = 300_000;
/** The platform did nothing yet: too many requests, or (Neon) another operation is under way. */
const REFUSED_FOR_NOW = new Set([423, 429]);

/** A platform's reason for refusing a request. */
export interface Reason {
  message: string;
  codes: readonly number[];
}

export interface JsonRequest {
  method: "GET" | "POST" | "PUT" | "DELETE";
  url: string;
  token: string;
  body?: unknown;
  /** A creation, which must not be carried out twice: it is repeated only if it was refused for now. */
  isCreation?: boolean;
  /** Reads the platform's reason from a refused answer's JSON. */
  describe: (json: unknown) => Reason | undefined;
}

/**
 * Sends a request and returns the answer's JSON (undefined for an empty body). Makes up to five attempts on 423, 429, 5xx and lost
 * connections. Throws `PlatformError` if the platform rejects the request, `OperatorError` if it cannot be reached, and
 * `LostAnswerError` in place of repeating a creation that may have been carried out.
 */
export async function requestJson(request: JsonRequest): Promise<unknown> {
  const target = `${request.method} ${new URL(request.url).pathname}`;
  for (let attempt = 1; ; attempt++) {
    const answer = await send(request);
    if (!(answer instanceof Error) && answer.response.ok) return answer.json;
    if (answer instanceof Error || answer.response.status >= 500) {
      const problem =
        answer instanceof Error
          ? `${new URL(request.url).host} cannot be reached (${causeOf(answer)}): check the network`
          : `${target} answered ${answer.response.status}: ${reasonOf(request, answer.json)}`;
      if (request.isCreation === true) throw new LostAnswerError(problem);
      if (attempt === ATTEMPTS) throw new OperatorError(problem);
    } else if (!isRefusedForNow(answer.response) || attempt === ATTEMPTS) {
      throw new PlatformError(
        `${target} answered ${answer.response.status}: ${reasonOf(request, answer.json)}`,
        answer.response.status,
        request.describe(answer.json)?.codes,
      );
    }
    await pause(delayMs(attempt, answer instanceof Error ? null : answer.response.headers.get("Retry-After")));
  }
}

/** Whether the platform did nothing and wants to be asked again later. */
export function isRefusedForNow({ status }: { status: number }): boolean {
  return REFUSED_FOR_NOW.has(status);
}

/**
 * Creates something exactly once: `find` looks for it after a `LostAnswerError` of `create`, which is then repeated only if nothing
 * was found. Makes up to five attempts.
 */
export async function createOnce<T>(create: () => Promise<T>, find: () => Promise<T | undefined>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await create();
    } catch (error) {
      if (!(error instanceof LostAnswerError) || attempt === ATTEMPTS) throw error;
    }
    await pause(backoffMs(attempt, BACKOFF));
    const found = await find();
    if (found !== undefined) return found;
  }
}

/** What `fetch` hides behind "fetch failed". */
function causeOf(error: Error): string {
  return errnoOf(error.cause) ?? (error.cause instanceof Error ? error.cause : error).message;
}

function reasonOf({ describe }: JsonRequest, json: unknown): string {
  return describe(json)?.message.slice(0, MAX_MESSAGE) ?? "no reason given";
}

/** Sends a request and reads its answer; returns the error if either fails. */
async function send({ method, url, token, body }: JsonRequest): Promise<{ response: Response; json: unknown } | Error> {
  try {
    const response = await fetch(url, {
      method,
      headers: { Authorization: `Bearer ${token}`, Accept: "application/json", "Content-Type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return { response, json: parse(await response.text()) };
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Wait in milliseconds before the next attempt: `Retry-After` (seconds, capped) if the platform sent it, else the back-off. */
export function delayMs(attempt: number, retryAfter: string | null): number {
  const seconds = Number(retryAfter ?? Number.NaN);
  if (!(seconds >= 0)) return backoffMs(attempt, BACKOFF);
  return withJitter(Math.min(seconds * 1_000, MAX_RETRY_AFTER_MS));
}

function parse(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
