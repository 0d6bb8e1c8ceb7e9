/**
 * Route definitions: everything about a route in one object, from which Hono's route, the OpenAPI document, the manual and the order
 * of checks follow. See `app.ts` for how to add one.
 *
 * Checks run in the contract's order: credential, rate limit, size of the body, schema, quota; ownership and the work itself are
 * the handler's. No body is read before its credential is known to be well-formed, and none above `SMALL_BODY_BYTES` before the
 * credential was accepted.
 */
import type * as z from "zod";
import { type CallKind, type ErrorCode, RETRY_AFTER_HEADER, type Surface } from "../contract/index.ts";
import { ApiError } from "../errors.ts";
import { count } from "../gate/client.ts";
import type { CredentialKind, Principal } from "../gate/types.ts";
import type { ApiContext } from "./context.ts";
import { authorize, readCredential } from "./middleware/authorize.ts";
import { type BodyOptions, readBody } from "./middleware/body.ts";
import {
  checkCharacters,
  estimateCredits,
  release,
  runReserved,
  reserveCredits,
  type UpstreamCall,
} from "./metering.ts";
import type { Services } from "./services.ts";

/** A parameter of the path, the query or the header, as OpenAPI describes it. */
export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  description: string;
  schema: Record<string, unknown>;
}

export interface Success {
  description: string;
  /** Absent for answers that are not JSON. */
  schema?: z.ZodType;
  /** Other media types of the same answer, with their schemas. */
  also?: Record<string, Record<string, unknown>>;
  headers?: Record<string, string>;
}

export interface RequestBody<Schema extends z.ZodType = z.ZodType> extends BodyOptions<Schema> {
  example: unknown;
}

/** What the documentation says of a route. */
export interface RouteDescription {
  /** Name of the operation, also that of the client's method. */
  id: string;
  method: "GET" | "POST" | "DELETE";
  /** Below the base address and below `/api/v1`; parameters in braces. */
  path: string;
  /** Further paths of the same route, from the root of the server. */
  aliases?: readonly string[];
  tag: string;
  summary: string;
  description?: string;
  /** Rate-limit bucket; null where nothing is counted. */
  surface: Surface | null;
  parameters?: readonly Parameter[];
  responses: Record<number, Success>;
  /** Codes besides those that follow from credential, surface and body. */
  errors?: readonly ErrorCode[];
  /** Codes that take the place of `INVALID_BODY` where the body is wrong. */
  bodyErrors?: readonly ErrorCode[];
  /** Format of the error bodies: ours, or OpenAI's. */
  errorForm?: "compat";
}

/** A route as the router and the documentation see it. */
export interface Route extends RouteDescription {
  credential: CredentialKind | null;
  body?: RequestBody;
  /** Answers a request; what it throws becomes an error response. */
  answer: (c: ApiContext) => Promise<Response>;
}

/** A route that needs no credential. */
export function publicRoute(
  definition: RouteDescription & { handle: (c: ApiContext) => Promise<Response> | Response },
): Route {
  const { handle, ...description } = definition;
  return { ...description, credential: null, answer: async (c) => handle(c) };
}

export interface RouteRequest<Schema extends z.ZodType> {
  principal: Principal;
  /** The validated body; undefined for a route without one. */
  body: z.output<Schema>;
}

interface CredentialRoute<Schema extends z.ZodType> extends RouteDescription {
  credential: CredentialKind;
  surface: Surface;
  body?: RequestBody<Schema>;
  /** Counts answered requests in `GET /usage`, before the answer leaves. */
  counts?: CallKind;
  handle: (c: ApiContext, request: RouteRequest<Schema>) => Promise<Response>;
}

/** A route for holders of a credential. */
export function route<Schema extends z.ZodType = z.ZodUndefined>(definition: CredentialRoute<Schema>): Route {
  const { handle, counts, ...described } = definition;
  const { credential: kind, surface, body: expected } = described;
  return {
    ...described,
    answer: async (c) => {
      const { principal } = await authorize(c, await readCredential(c, kind), surface);
      const body = (expected && unwrap(await readBody(c.req.raw, expected))) as z.output<Schema>;
      const response = await handle(c, { principal, body });
      if (counts !== undefined && response.ok) await countCall(c, principal.tenantId, counts);
      return response;
    },
  };
}

interface MeteredRequest<Schema extends z.ZodType> extends RouteRequest<Schema> {
  /**
   * Calls the upstream and settles the credits reserved for this request: nothing if it fails, else what its tokens cost.
   * Resolves once the settlement is durable.
   */
  charge: <T extends { tokens: number }>(call: UpstreamCall<T>) => Promise<{ result: T; credits: number }>;
}

interface MeteredRoute<Schema extends z.ZodType> extends RouteDescription {
  body: RequestBody<Schema>;
  kind: "embed" | "rerank";
  /** The texts that are sent upstream, by field. Each field is capped by itself; the estimate counts all of them. */
  texts: (body: z.output<Schema>) => Record<string, readonly string[]>;
  /** Throws if the provider is not configured; then nothing is reserved. */
  requireProvider: (services: Services) => unknown;
  handle: (c: ApiContext, request: MeteredRequest<Schema>) => Promise<Response>;
}

/** Bodies up to this size are read before the credential is accepted, so that one call to the gate does everything. */
const SMALL_BODY_BYTES = 64 * 1024;

/** A route for holders of an API key that calls a model provider and costs credits. */
export function meteredRoute<Schema extends z.ZodType>(definition: MeteredRoute<Schema>): Route {
  const { handle, kind, texts, requireProvider, ...described } = definition;
  const answer = async (c: ApiContext): Promise<Response> => {
    const credential = await readCredential(c, "api_key");
    const read = async () => {
      const body = await readBody(c.req.raw, described.body);
      return body.ok ? checkCharacters(body, texts) : body;
    };
    const early = isSmall(c.req.raw) ? await read() : undefined;
    const canReserve = early?.ok === true && isConfigured(() => requireProvider(c.get("services")));
    const credits = canReserve ? estimateCredits(texts(early.data)) : undefined;
    const admission = await authorize(c, credential, "metered", { credits });
    const { principal } = admission;
    let reservationId = admission.reservationId;
    try {
      const body = unwrap(early ?? (await read()));
      requireProvider(c.get("services"));
      return await handle(c, {
        principal,
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
      // When the client leaves, the upstream call is aborted through the request's signal, but its credits must still be released.
      const work = answer(c);
      c.executionCtx.waitUntil(work.catch(() => undefined));
      return work;
    },
  };
}

/** Whether a body may be read before its credential is accepted. */
export function isSmall(request: Request): boolean {
  const length = request.headers.get("Content-Length");
  return request.body === null || (length !== null && Number(length) <= SMALL_BODY_BYTES);
}

function isConfigured(requireProvider: () => unknown): boolean {
  try {
    requireProvider();
    return true;
  } catch {
    return false;
  }
}

/** The body, or its error thrown. */
export function unwrap<T>(body: { ok: true; data: T } | { ok: false; error: ApiError }): T {
  if (body.ok) return body.data;
  throw body.error;
}

async function countCall(c: ApiContext, tenantId: string, kind: CallKind): Promise<void> {
  const { ok } = await count(c.env.TENANT_GATE, tenantId, null, kind);
  if (ok) return;
  throw new ApiError("UNAVAILABLE", "the usage cannot be recorded right now; try again", {
    headers: { [RETRY_AFTER_HEADER]: "5" },
  });
}
