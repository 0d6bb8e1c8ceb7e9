/**
 * Route definitions. Hono's routes, the OpenAPI document, the manual and the order of checks are all derived from them. See `app.ts`
 * for how to add one.
 *
 * Checks run in the contract's order: credential, rate limit, size of the body, schema, quota. The handler checks ownership. No
 * body is read before its credential is known to be well-formed; a large or slow one only after the gate accepted it (`EarlyBody`).
 */
import type * as z from "zod";
import { type CallKind, type ErrorCode, SCOPE_OF_SURFACE, type Surface } from "../../contract/index.ts";
import type { ApiError } from "../../lib/errors.ts";
import { count } from "../../service/gate/client.ts";
import type { CredentialKind, Principal } from "../../service/gate/types.ts";
import type { ApiContext } from "./context.ts";
import { authorize, readCredential } from "./middleware/authorize.ts";
import { type BodyOptions, EarlyBody, readBody } from "./middleware/body.ts";
import {
  checkCharacters,
  estimateCredits,
  release,
  runReserved,
  reserveCredits,
  type UpstreamCall,
  unavailable,
} from "./metering.ts";
import { readQuery } from "./query.ts";
import type { Services } from "./services.ts";

/** A path or header parameter, as OpenAPI describes it. */
export interface Parameter {
  name: string;
  in: "path" | "header";
  required?: boolean;
  description: string;
  schema: Record<string, unknown>;
}

export interface Success {
  description: string;
  /** Absent if the answer is not JSON. */
  schema?: z.ZodType;
  /** Other media types of the same answer, with their schemas. */
  also?: Record<string, Record<string, unknown>>;
  headers?: Record<string, string>;
}

interface RequestBody<Schema extends z.ZodType = z.ZodType> extends BodyOptions<Schema> {
  example: unknown;
}

/** Documentation of a route. */
interface RouteDescription {
  /** Operation id; also the name of the client's method. */
  id: string;
  method: "GET" | "POST" | "DELETE";
  /** Path below the base address and below `/api/v1`; parameters in braces. */
  path: string;
  /** Further paths of the route, from the root of the server. */
  aliases?: readonly string[];
  tag: string;
  summary: string;
  description?: string;
  /** Rate-limit bucket; null if the route is not limited. */
  surface: Surface | null;
  /** Parameters in the path and in headers. */
  parameters?: readonly Parameter[];
  /** Schema of the query string; the documentation of its parameters follows from it. */
  query?: z.ZodObject;
  /** Code of a refused query string; `INVALID_BODY` if absent. */
  queryError?: ErrorCode;
  responses: Record<number, Success>;
  /** Error codes in addition to those that follow from credential, surface and body. */
  errors?: readonly ErrorCode[];
  /** Codes that replace `INVALID_BODY`. */
  bodyErrors?: readonly ErrorCode[];
  /** Set if error bodies have OpenAI's format. */
  errorForm?: "compat";
}

/** A route as used by the router and the documentation. */
export interface Route extends RouteDescription {
  credential: CredentialKind | null;
  body?: RequestBody;
  /** Answers a request; thrown errors become error responses. */
  answer: (c: ApiContext) => Promise<Response>;
}

/** A route that needs no credential. */
export function publicRoute(
  definition: RouteDescription & { handle: (c: ApiContext) => Promise<Response> | Response },
): Route {
  const { handle, ...description } = definition;
  return { ...description, credential: null, answer: async (c) => handle(c) };
}

interface RouteRequest<Schema extends z.ZodType, Query extends z.ZodType = z.ZodUndefined> {
  principal: Principal;
  /** The validated query string; undefined if the route has none. */
  query: z.output<Query>;
  /** The validated body; undefined if the route has none. */
  body: z.output<Schema>;
}

interface CredentialRoute<Schema extends z.ZodType, Query extends z.ZodType> extends RouteDescription {
  credential: CredentialKind;
  surface: Surface;
  query?: Query & z.ZodObject;
  body?: RequestBody<Schema>;
  /** The counter of `GET /usage` that each answered request increments. */
  counts?: CallKind;
  handle: (c: ApiContext, request: RouteRequest<Schema, Query>) => Promise<Response>;
}

/** A route that requires a credential. */
export function route<Schema extends z.ZodType = z.ZodUndefined, Query extends z.ZodType = z.ZodUndefined>(
  definition: CredentialRoute<Schema, Query>,
): Route {
  const { handle, counts, ...described } = definition;
  const { credential: kind, surface, query: expectedQuery, queryError, body: expected } = described;
  return {
    ...described,
    answer: async (c) => {
      const { principal } = await authorize(c, await readCredential(c, kind), surface, {
        scope: SCOPE_OF_SURFACE[surface],
      });
      const query = (expectedQuery && readQuery(c, expectedQuery, queryError)) as z.output<Query>;
      const body = (expected && unwrap(await readBody(c.req.raw, expected, c.get("turn")))) as z.output<Schema>;
      const response = await handle(c, { principal, query, body });
      if (counts !== undefined && response.ok) await countCall(c, principal.tenantId, counts);
      return response;
    },
  };
}

interface MeteredRequest<Schema extends z.ZodType> extends RouteRequest<Schema> {
  /**
   * Calls the upstream and settles the credits reserved for this request: none if the call fails, else the cost of its tokens.
   * Resolves once the settlement is durable.
   */
  charge: <T extends { tokens: number }>(call: UpstreamCall<T>) => Promise<{ result: T; credits: number }>;
}

interface MeteredRoute<Schema extends z.ZodType> extends RouteDescription {
  body: RequestBody<Schema>;
  kind: "embed" | "rerank";
  /** The texts sent upstream, by field. The character limit applies to each field, the estimate to their sum. */
  texts: (body: z.output<Schema>) => Record<string, readonly string[]>;
  /** Throws if the provider is not configured; runs before credits are reserved. */
  requireProvider: (services: Services) => unknown;
  handle: (c: ApiContext, request: MeteredRequest<Schema>) => Promise<Response>;
}

/** A route that requires an API key, calls a model provider and costs credits. */
export function meteredRoute<Schema extends z.ZodType>(definition: MeteredRoute<Schema>): Route {
  const { handle, kind, texts, requireProvider, ...described } = definition;
  const answer = async (c: ApiContext): Promise<Response> => {
    const credential = await readCredential(c, "api_key");
    const read = async () => {
      const body = await readBody(c.req.raw, described.body, c.get("turn"));
      return body.ok ? checkCharacters(body, texts) : body;
    };
    const reader = new EarlyBody(c.req.raw, read);
    const early = await reader.early();
    const canReserve = early?.ok === true && isConfigured(() => requireProvider(c.get("services")));
    const credits = canReserve ? estimateCredits(texts(early.data)) : undefined;
    const admission = await authorize(c, credential, "metered", { credits, scope: kind });
    const { principal } = admission;
    let reservationId = admission.reservationId;
    try {
      const body = unwrap(await reader.late());
      requireProvider(c.get("services"));
      return await handle(c, {
        principal,
        query: undefined,
        body,
        charge: async (call) => {
          const id = reservationId ?? (await reserveCredits(c, principal, estimateCredits(texts(body))));
          reservationId = null;
          return runReserved(c, principal.tenantId, id, kind, call);
        },
      });
    } finally {
      if (reservationId !== null) await release(c, principal.tenantId, reservationId);
    }
  };
  return {
    ...described,
    credential: "api_key",
    answer: (c) => {
      // If the client disconnects, the request's signal aborts the upstream call; the credits must still be released.
      const work = answer(c);
      c.executionCtx.waitUntil(work.catch(() => undefined));
      return work;
    },
  };
}

function isConfigured(requireProvider: () => unknown): boolean {
  try {
    requireProvider();
    return true;
  } catch {
    return false;
  }
}

/** Returns the body or throws its error. */
export function unwrap<T>(body: { ok: true; data: T } | { ok: false; error: ApiError }): T {
  if (body.ok) return body.data;
  throw body.error;
}

/** Counts an answered call before its answer leaves. Throws `UNAVAILABLE` if it cannot be counted. */
export async function countCall(c: ApiContext, tenantId: string, kind: CallKind): Promise<void> {
  const { ok } = await count(c.env.TENANT_GATE, tenantId, null, kind);
  if (!ok) throw unavailable();
}
