import { HTTPException } from "hono/http-exception";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { ApiError } from "../../errors.ts";
import type { ApiContext } from "../context.ts";

/** The one place where a thrown error becomes a response. Unknown errors show nothing of themselves. */
export function onError(error: Error, c: ApiContext): Response {
  const known = toApiError(error);
  if (known.status >= 500) c.get("log").error("request_failed", error, { code: known.code, path: c.req.path });
  for (const [name, value] of Object.entries(known.headers)) c.header(name, value);
  return c.json(known.toBody(), known.status as ContentfulStatusCode);
}

function toApiError(error: Error): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof HTTPException && error.status === 400) return new ApiError("INVALID_BODY", "the request is malformed");
  return new ApiError("INTERNAL", "an unexpected error; try again, and quote the X-Request-Id when you report it", { cause: error });
}
