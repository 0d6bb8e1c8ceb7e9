/**
 * The authorization server and the MCP endpoint for agents that sign in: metadata, tokens, registration, `/mcp`. The consent page is part of
 * the dashboard. The library is loaded by the first request that needs it.
 */
import { RETRY_AFTER_HEADER } from "../../contract/headers.ts";
import type { Surface } from "../../contract/surfaces.ts";
import { ApiError } from "../../lib/errors.ts";
import { createLogger } from "../../lib/log.ts";
import { readBounded } from "../../lib/read-bounded.ts";
import { takeFromBucket } from "../../service/gate/client.ts";
import { rateHeaders } from "../../service/gate/headers.ts";
import { clientAddress } from "../../service/gate/proxies.ts";
import { sourceOf } from "../../service/gate/source.ts";
import {
  MCP_PATH,
  REGISTER_PATH,
  RESOURCE_METADATA_PATH,
  resourceMetadata,
  resourceOf,
  SCOPE,
  SERVER_METADATA_PATH,
  serverMetadata,
  TOKEN_PATH,
  tokenOf,
} from "../../service/oauth/addresses.ts";
import { oauthObject, OAuthKv, personObject } from "../../service/oauth/kv.ts";
import type { ServerEnv } from "../../service/oauth/server.ts";
import type { AgentProps } from "../../service/oauth/types.ts";
import { bearerOf, type ParsedCredential } from "../../service/tenancy/credentials.ts";
import { secureOrigin, settingsOf } from "./app/settings.ts";
import { answerHeaders, forwardedHeaders, ownHeaders, preflightHeaders } from "./headers.ts";

const MAX_BODY_BYTES = 64 * 1024;
const METADATA_MAX_AGE_SEC = 300;
/** Codes and tokens are `<user>:<grant>:<secret>`. */
const TOKEN = /^([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}):([\w-]{1,64}):([\w-]{16,128})$/;

const log = createLogger({ worker: "site" });

/** Whether a path is one of those here, or one where clients look for metadata that is not there. */
export function isOAuth(pathname: string): boolean {
  return pathname === MCP_PATH || pathname.startsWith("/oauth/") || pathname.startsWith("/.well-known/");
}

/** Answers a request to a path of `isOAuth`, the consent page excepted. */
export async function answerOAuth(request: Request, env: SiteEnv): Promise<Response> {
  const { pathname } = new URL(request.url);
  const site = secureOrigin(env, request);
  try {
    if (site !== undefined) {
      if (request.method === "OPTIONS")
        return new Response(null, { status: 204, headers: preflightHeaders(request.headers) });
      if (pathname === MCP_PATH) return await answerMcp(request, env, site);
      if (pathname === RESOURCE_METADATA_PATH) return metadata(request, resourceMetadata(site));
      if (pathname === SERVER_METADATA_PATH) return metadata(request, serverMetadata(site, env));
      if (pathname === TOKEN_PATH || pathname === REGISTER_PATH)
        return await answerServer(request, env, site + pathname);
    }
    return fail(request, new ApiError("NOT_FOUND", `there is no ${pathname}`));
  } catch (error) {
    if (error instanceof ApiError) return fail(request, error);
    log.error("oauth_failed", error, { path: pathname });
    return fail(request, new ApiError("INTERNAL", "something went wrong on our side; try again"));
  }
}

function metadata(request: Request, document: Record<string, unknown>): Response {
  if (request.method !== "GET" && request.method !== "HEAD") {
    const headers = { Allow: "GET, HEAD, OPTIONS" };
    return fail(request, new ApiError("METHOD_NOT_ALLOWED", "only GET and HEAD are possible here", { headers }));
  }
  const headers = answerHeaders(
    new Headers({
      ...ownHeaders(request.headers),
      "Content-Type": "application/json",
      "Cache-Control": `public, max-age=${METADATA_MAX_AGE_SEC}`,
    }),
  );
  return new Response(request.method === "HEAD" ? null : JSON.stringify(document), { headers });
}

/** The token and registration endpoints. Requests for tokens are answered by the object that holds the grant. */
async function answerServer(request: Request, env: SiteEnv, url: string): Promise<Response> {
  if (request.method !== "POST") {
    const headers = { Allow: "POST, OPTIONS" };
    throw new ApiError("METHOD_NOT_ALLOWED", "only POST is possible here", { headers });
  }
  await limit(request, env, "oauth");
  const body = await readText(request);
  const headers = new Headers(request.headers);
  headers.delete("cookie");
  const forwarded = new Request(url, { method: "POST", headers, body });
  if (new URL(url).pathname === TOKEN_PATH) {
    const userId = TOKEN.exec(tokenOf(new URLSearchParams(body)))?.[1];
    return oauthObject(env, userId === undefined ? "nobody" : personObject(userId)).fetch(forwarded);
  }
  const { authorizationServer } = await import("../../service/oauth/server.ts");
  const context = {
    waitUntil: () => undefined,
    passThroughOnException: () => undefined,
  } as unknown as ExecutionContext;
  return authorizationServer(new URL(url).origin).fetch(forwarded, serverEnv(env), context);
}

async function answerMcp(request: Request, env: SiteEnv, site: string): Promise<Response> {
  const token = bearerOf(request.headers.get("Authorization"));
  const credential = token === undefined ? undefined : await verify(env, site, token);
  if (credential === undefined) {
    await limit(request, env, "unauthorized");
    return challenge(request, site, token !== undefined);
  }
  const headers = forwardedHeaders(request.headers, settingsOf(env).proxies);
  headers.delete("Authorization");
  headers.delete("Cookie");
  const forwarded = new Request(resourceOf(site), { method: request.method, headers, body: request.body });
  const answer = await env.AGENTS.answer(forwarded, credential);
  // The credential has ended: it was revoked, or its person has left the team.
  if (answer.status === 401) {
    await answer.body?.cancel();
    return challenge(request, site, true);
  }
  const { status, statusText, body } = answer;
  return new Response(body, { status, statusText, headers: answerHeaders(answer.headers) });
}

/** The credential behind an access token of this site; undefined if it is not valid. */
async function verify(env: SiteEnv, site: string, token: string): Promise<ParsedCredential | undefined> {
  if (!TOKEN.test(token)) return undefined;
  const { authorizationServer } = await import("../../service/oauth/server.ts");
  const known = await authorizationServer(site).validateToken<AgentProps>(resourceOf(site), token, serverEnv(env));
  if (known === null) return undefined;
  const { tenantId, id, secretHash } = known.props;
  return { kind: "api_key", tenantId, id, secretHash };
}

/** What the library gets as its environment. */
export function serverEnv(env: SiteEnv): ServerEnv {
  return { OAUTH_KV: new OAuthKv(env), DATABASE_URL: env.DATABASE_URL };
}

/** The 401 that leads a client to the metadata (RFC 9728, 5.1). */
function challenge(request: Request, site: string, hasToken: boolean): Response {
  const error = hasToken ? ', error="invalid_token"' : "";
  const header = `Bearer resource_metadata="${site}${RESOURCE_METADATA_PATH}", scope="${SCOPE}"${error}`;
  const message = "sign in to use this address; clients with an API key use /api/v1/mcp";
  return fail(request, new ApiError("UNAUTHORIZED", message, { headers: { "WWW-Authenticate": header } }));
}

/** Takes from the bucket of the request's address. Throws 429 if it is empty; allows the request if the bucket cannot be reached. */
async function limit(request: Request, env: SiteEnv, surface: Surface): Promise<void> {
  const subject = sourceOf(clientAddress(request.headers, settingsOf(env).proxies));
  const taken = await takeFromBucket(env.RATE_BUCKETS, env.ENCRYPTION_KEY, { surface, subject });
  if ("outcome" in taken || taken.allowed) return;
  const headers = { ...rateHeaders(taken.rate), [RETRY_AFTER_HEADER]: String(taken.retryAfterSec) };
  throw new ApiError("RATE_LIMITED", `too many requests; try again in ${taken.retryAfterSec} s`, { headers });
}

async function readText({ body }: Request): Promise<string> {
  const bytes = await readBounded(body, MAX_BODY_BYTES);
  if (bytes !== undefined) return bytes.toString("utf8");
  throw new ApiError("INPUT_TOO_LARGE", `the body may have up to ${MAX_BODY_BYTES} bytes`);
}

function fail(request: Request, error: ApiError): Response {
  const headers = answerHeaders(
    new Headers({ ...ownHeaders(request.headers), "Cache-Control": "no-store", ...error.headers }),
  );
  headers.append("Access-Control-Expose-Headers", "WWW-Authenticate");
  return Response.json(error.toBody(), { status: error.status, headers });
}
