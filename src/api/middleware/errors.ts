import { HTTPException } from "hono/http-exception";
import { ApiError } from "../../errors.ts";
import type { ApiContext } from "../context.ts";
import { type Exchange, exchangeOf } from "../exchange.ts";

/** nginx's status for a client that left before its answer: it shows in the log only. */
const CLIENT_GONE_STATUS = 499;

/** `onError` of every route that has no error format of its own. */
export function onError(error: Error, c: ApiContext): Response {
  return respondToError(error, exchangeOf(c));
}

/**
 * The one place where a thrown error becomes a response. Unknown errors show nothing of themselves. `toBody` for routes whose
 * error bodies have another form.
 */
export function respondToError(
  error: unknown,
  exchange: Exchange,
  toBody: (error: ApiError) => object = (known) => known.toBody(),
): Response {
  const { request, log } = exchange;
  if (request.signal.aborted) return new Response(null, { status: CLIENT_GONE_STATUS });
  const known = toApiError(error);
  if (known.status >= 500)
    log.error("request_failed", error, { code: known.code, path: new URL(request.url).pathname });
  return exchange.respond(JSON.stringify(toBody(known)), known.status, {
    "Content-Type": "application/json",
    ...known.headers,
  });
}

function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof HTTPException && error.status === 400)
    return new ApiError("INVALID_BODY", "the request is malformed");
  return new ApiError("INTERNAL", "an unexpected error; try again, and quote the X-Request-Id when you report it", {
    cause: error,
  });
}
