import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Logger } from "../log.ts";
import { requestTimer, type TimeLimit } from "../time-limit.ts";
import type { ApiContext } from "./context.ts";
import type { Services } from "./services.ts";

/**
 * A request and the answer it is to get, as far as admission, metering and errors need them: hono's context in a simpler
 * form, so that the busiest route can do without hono (see `direct.ts`).
 */
export interface Exchange {
  readonly request: Request;
  readonly env: ApiEnv;
  readonly services: Services;
  readonly requestId: string;
  readonly log: Logger;
  /** Limits the time of what the request waits for. */
  readonly within: TimeLimit;
  /** Sets a header of the answer, whatever that becomes. */
  setHeader(name: string, value: string): void;
  respond(body: string | Uint8Array<ArrayBuffer>, status: number, headers: Record<string, string>): Response;
  /** Aborts when the client leaves; undefined for a request that ends with its client, with all that it has under way. */
  readonly signal: AbortSignal | undefined;
  /** To be called by a request that has something to bring to an end even if its client leaves. */
  outliveClient(): void;
  /** Lets work outlive the answer. */
  waitUntil(work: Promise<unknown>): void;
}

/** The exchange behind a context of hono. */
export function exchangeOf(c: ApiContext): Exchange {
  return {
    request: c.req.raw,
    env: c.env,
    services: c.get("services"),
    requestId: c.get("requestId"),
    log: c.get("log"),
    within: requestTimer(),
    signal: c.req.raw.signal,
    // The routes' own middleware has seen to that; see `metering.ts`.
    outliveClient: () => undefined,
    setHeader: (name, value) => c.header(name, value),
    respond: (body, status, headers) => c.body(body, status as ContentfulStatusCode, headers),
    waitUntil: (work) => c.executionCtx.waitUntil(work),
  };
}
