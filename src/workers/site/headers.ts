/** Headers of the reverse proxy and of the site's own answers. */
import {
  RATE_LIMIT_HEADER,
  RATE_REMAINING_HEADER,
  RATE_RESET_HEADER,
  REQUEST_ID_HEADER,
  RETRY_AFTER_HEADER,
} from "../../contract/headers.ts";
import { CLIENT_ADDRESS, clientAddress, type TrustedProxies } from "../../service/gate/proxies.ts";
import { requestIdOf } from "../../lib/request-id.ts";

/** Hop-by-hop headers (RFC 9110 §7.6.1). */
const HOP_BY_HOP = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];
/** Headers in which clients could claim an address; not forwarded. */
const CLIENT_CLAIMS = ["forwarded", "x-forwarded-for", "x-real-ip", "true-client-ip"];

const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/;
const PREFLIGHT_MAX_AGE_SEC = 86_400;
/** Methods of the api's routes. */
const METHODS = "GET, HEAD, POST, DELETE, OPTIONS";
const DEFAULT_REQUEST_HEADERS = "Authorization, Content-Type";
const MAX_REQUESTED_HEADERS = 50;
/** Response headers that pages of other origins may read. */
const EXPOSED = [
  RATE_LIMIT_HEADER,
  RATE_REMAINING_HEADER,
  RATE_RESET_HEADER,
  RETRY_AFTER_HEADER,
  REQUEST_ID_HEADER,
  "Location",
  "Preference-Applied",
].join(", ");

/** A copy without hop-by-hop headers, including those listed in `Connection`. */
function withoutHopByHop(headers: Headers): Headers {
  const copy = new Headers(headers);
  const named = (headers.get("connection") ?? "").split(",").map((name) => name.trim());
  for (const name of [...HOP_BY_HOP, ...named]) {
    if (TOKEN.test(name)) copy.delete(name);
  }
  return copy;
}

/** Headers of the request to the api, which gets the client's address from us alone. */
export function forwardedHeaders(headers: Headers, proxies: TrustedProxies): Headers {
  const forwarded = withoutHopByHop(headers);
  for (const name of CLIENT_CLAIMS) forwarded.delete(name);
  const address = clientAddress(headers, proxies);
  // Kept even if the client listed it in Connection.
  if (address !== null) forwarded.set(CLIENT_ADDRESS, address);
  return forwarded;
}

/**
 * Headers of the api's answer, readable by pages of any origin. This is safe because credentials are sent in `Authorization`, never
 * in cookies.
 */
export function answerHeaders(headers: Headers): Headers {
  const answer = withoutHopByHop(headers);
  answer.set("Access-Control-Allow-Origin", "*");
  answer.set("Access-Control-Expose-Headers", EXPOSED);
  return answer;
}

/** Headers of the site Worker's own answers. */
export function ownHeaders(request: Headers): Record<string, string> {
  return { [REQUEST_ID_HEADER]: requestIdOf(request), "X-Content-Type-Options": "nosniff" };
}

/** Headers of the answer to `OPTIONS`. */
export function preflightHeaders(headers: Headers): Headers {
  const requested = (headers.get("Access-Control-Request-Headers") ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => TOKEN.test(name))
    .slice(0, MAX_REQUESTED_HEADERS);
  return new Headers({
    ...ownHeaders(headers),
    Allow: METHODS,
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": METHODS,
    "Access-Control-Allow-Headers": requested.length > 0 ? requested.join(", ") : DEFAULT_REQUEST_HEADERS,
    "Access-Control-Max-Age": String(PREFLIGHT_MAX_AGE_SEC),
    Vary: "Access-Control-Request-Headers",
  });
}
