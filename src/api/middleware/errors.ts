import { HTTPException } from "hono/http-exception";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { ApiError } from "../../errors.ts";
import type { ApiContext } from "../context.ts";

/** nginx's status for a client that left before its answer: it shows in the log only. */
const CLIENT_GONE_STATUS = 499;

/** The one place where a thrown error becomes a response. Unknown errors show nothing of themselves. */
export function onError(error: Error, c: ApiContext): Response {
  return respondWith(error, c, (known) => known.toBody());
}

/** The same for routes whose error bodies have another form. */
export function respondWith(error: Error, c: ApiContext, toBody: (error: ApiError) => object): Response {
  if (c.req.raw.signal.aborted) return new Response(null, { status: CLIENT_GONE_STATUS });
  const known = toApiError(error);
  if (known.status >= 500) c.get("log").error("request_failed", error, { code: known.code, path: c.req.path });
  for (const [name, value] of Object.entries(known.headers)) c.header(name, value);
  return c.json(toBody(known), known.status as ContentfulStatusCode);
}

function toApiError(error: Error): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof HTTPException && error.status === 400)
    return new ApiError("INVALID_BODY", "the request is malformed");
  return new ApiError("INTERNAL", "an unexpected error; try again, and quote the X-Request-Id when you report it", {
    cause: error,
  });
}
