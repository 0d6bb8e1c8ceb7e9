/** The transparent reverse proxy: passes the api's status and body through unchanged. */
import { ApiError } from "../../lib/errors.ts";
import { NO_PROXIES, type TrustedProxies } from "../../service/gate/proxies.ts";
import { createLogger } from "../../lib/log.ts";
import { REQUEST_ID_HEADER } from "../../contract/headers.ts";
import { answerHeaders, forwardedHeaders, ownHeaders, preflightHeaders } from "./headers.ts";

export const API_PREFIX = "/api/v1";

const log = createLogger({ worker: "site" });

/**
 * Answers `OPTIONS` itself and forwards everything else to `send`, streaming both ways. If the client disconnects, the forwarded
 * call is aborted.
 */
export async function proxy(
  request: Request,
  send: (request: Request) => Promise<Response>,
  proxies: TrustedProxies = NO_PROXIES,
): Promise<Response> {
  if (request.method === "OPTIONS")
    return new Response(null, { status: 204, headers: preflightHeaders(request.headers) });
  try {
    const forwarded = new Request(request.url, {
      method: request.method,
      headers: forwardedHeaders(request.headers, proxies),
      body: request.body,
      redirect: "manual",
      signal: request.signal,
    });
    const answer = await send(forwarded);
    const { status, statusText, body } = answer;
    return new Response(body, { status, statusText, headers: answerHeaders(answer.headers) });
  } catch (error) {
    return unreachable(request, error);
  }
}

function unreachable(request: Request, cause: unknown): Response {
  const own = ownHeaders(request.headers);
  if (!request.signal.aborted) log.error("api_unreachable", cause, { requestId: own[REQUEST_ID_HEADER] ?? null });
  const error = new ApiError("UPSTREAM_UNREACHABLE", "the service cannot be reached right now; try again");
  const headers = answerHeaders(new Headers({ ...own, "Cache-Control": "no-store" }));
  return Response.json(error.toBody(), { status: error.status, headers });
}
