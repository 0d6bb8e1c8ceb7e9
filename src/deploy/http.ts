/** JSON requests to the platforms' APIs, with timeouts and bounded retries. */
import { backoffMs, withJitter } from "../backoff.ts";
import { pause } from "../pause.ts";
import { PlatformError, DeployError } from "./errors.ts";

const TIMEOUT_MS = 30_000;
const ATTEMPTS = 5;
const BACKOFF = { baseMs: 1_000, capMs: 20_000 };
const MAX_MESSAGE = 400;

export interface JsonRequest {
  method: "GET" | "POST" | "PUT" | "DELETE";
  url: string;
  token: string;
  body?: unknown;
  /** Reads the platform's error message from a refused answer's JSON. */
  describe: (json: unknown) => string | undefined;
}

/**
 * Sends a request and returns the answer's JSON (undefined for an empty body). Makes up to five attempts on 429, 5xx and lost
 * connections; callers look before they create, so a creation whose answer was lost is not repeated. Throws `PlatformError` if the
 * platform rejects the request and `DeployError` if it cannot be reached.
 */
export async function requestJson(request: JsonRequest): Promise<unknown> {
  const target = `${request.method} ${new URL(request.url).pathname}`;
  for (let attempt = 1; ; attempt++) {
    const response = await send(request);
    if (response instanceof Error) {
      if (attempt === ATTEMPTS) {
        throw new DeployError(
          `${new URL(request.url).host} cannot be reached (${response.message}): check the network`,
        );
      }
    } else {
      const text = await response.text();
      const json = parse(text);
      if (response.ok) return json;
      const retryable = response.status === 429 || response.status >= 500;
      if (!retryable || attempt === ATTEMPTS) {
        const reason = request.describe(json)?.slice(0, MAX_MESSAGE) ?? "no reason given";
        throw new PlatformError(`${target} answered ${response.status}: ${reason}`, response.status);
      }
    }
    const wait = response instanceof Error ? undefined : Number(response.headers.get("Retry-After") ?? Number.NaN);
    await pause(delayMs(attempt, wait));
  }
}

async function send({ method, url, token, body }: JsonRequest): Promise<Response | Error> {
  try {
    return await fetch(url, {
      method,
      headers: { Authorization: `Bearer ${token}`, Accept: "application/json", "Content-Type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** Wait before the next attempt: `Retry-After` (seconds, capped) if the platform sent it, else the back-off. */
function delayMs(attempt: number, retryAfterSec: number | undefined): number {
  if (retryAfterSec === undefined || !(retryAfterSec >= 0)) return backoffMs(attempt, BACKOFF);
  return withJitter(Math.min(retryAfterSec * 1_000, BACKOFF.capMs));
}

function parse(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
