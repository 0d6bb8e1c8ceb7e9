import { type RateLimitedBody, RETRY_AFTER_HEADER, type Surface } from "../../contract/index.ts";
import { ApiError } from "../../errors.ts";
import { admit, takeFromBucket } from "../../gate/client.ts";
import { rateHeaders } from "../../gate/headers.ts";
import { sourceOf } from "../../gate/source.ts";
import type { CredentialKind, Principal, RateState } from "../../gate/types.ts";
import { bearerOf, parseCredential, type ParsedCredential } from "../../tenancy/credentials.ts";
import type { ApiContext } from "../context.ts";
import { creditRequest, quotaError } from "../metering.ts";

/** A rejection by a rate limit, which has a body of its own. */
export class RateLimitedError extends ApiError {
  readonly retryAfterSec: number;

  constructor(retryAfterSec: number) {
    super("RATE_LIMITED", `too many requests; try again in ${retryAfterSec} s`, {
      headers: { [RETRY_AFTER_HEADER]: String(retryAfterSec) },
    });
    this.retryAfterSec = retryAfterSec;
  }

  override toBody(): ReturnType<ApiError["toBody"]> & RateLimitedBody {
    return { ok: false, code: "RATE_LIMITED", error: this.message, retryAfterSec: this.retryAfterSec };
  }
}

/** The request's credential, if this deployment issued it; costs no I/O. Throws 401 otherwise. */
export async function readCredential(c: ApiContext, kind: CredentialKind): Promise<ParsedCredential> {
  const value = bearerOf(c.req.header("Authorization"));
  const credential = value === undefined ? undefined : parseCredential(value, kind, c.get("services").credentialKey);
  if (credential === undefined) throw await unauthorized(c, kind);
  return credential;
}

/**
 * Takes a request through its tenant's gate in one call: credential, then rate limit, then, where `credits` are asked for, their
 * reservation. Sets the rate-limit headers. A free request takes nothing from the rate limit. Throws 401, 429, 502 or 503.
 */
export async function authorize(
  c: ApiContext,
  credential: ParsedCredential,
  surface: Surface,
  { credits, isFree = false }: { credits?: number | undefined; isFree?: boolean } = {},
): Promise<{ principal: Principal; reservationId: string | null }> {
  const result = await admit(c.env.TENANT_GATE, credential, surface, {
    ...(credits !== undefined && { reserve: creditRequest(c, credits) }),
    ...(isFree && { isFree }),
  });
  switch (result.outcome) {
    case "admitted":
      setRateHeaders(c, result.rate);
      return result;
    case "unauthorized":
      throw await unauthorized(c, credential.kind);
    case "rate_limited":
      setRateHeaders(c, result.rate);
      throw new RateLimitedError(result.retryAfterSec);
    case "quota_exceeded":
      setRateHeaders(c, result.rate);
      throw quotaError(result, credits ?? 0);
    case "unavailable": {
      // The indexing routes have a code of their own for a database that is away.
      if (surface === "index" || surface === "snapshot") throw storageUnavailable();
      const headers = { [RETRY_AFTER_HEADER]: "5" };
      throw new ApiError("UNAVAILABLE", "the credential cannot be checked right now; try again", { headers });
    }
  }
}

/**
 * Takes one request from the bucket of the client's address; sets the rate-limit headers and throws 429 when it is empty. A
 * bucket that cannot be reached lets the request through.
 */
export async function limitSource(
  c: ApiContext,
  surface: Surface,
  { setsHeaders = true }: { setsHeaders?: boolean } = {},
): Promise<void> {
  const subject = sourceOf(c.req.header("CF-Connecting-IP"));
  const taken = await takeFromBucket(c.env.RATE_BUCKETS, c.env.ENCRYPTION_KEY, { surface, subject });
  if (!("rate" in taken)) return;
  if (setsHeaders || !taken.allowed) setRateHeaders(c, taken.rate);
  if (!taken.allowed) throw new RateLimitedError(taken.retryAfterSec);
}

/** Sets a window's state as headers of the response, whatever that becomes. */
export function setRateHeaders(c: ApiContext, rate: RateState): void {
  for (const [name, value] of Object.entries(rateHeaders(rate))) c.header(name, value);
}

/** The indexing routes' error for a database that is away. */
export function storageUnavailable(cause?: unknown): ApiError {
  return new ApiError("STORAGE_UNAVAILABLE", "the database cannot be reached; try again with a growing wait", {
    cause,
    headers: { [RETRY_AFTER_HEADER]: "5" },
  });
}

/** The 401 for a credential of this kind; the 429 instead where its source has sent too many of them. */
async function unauthorized(c: ApiContext, kind: CredentialKind): Promise<ApiError> {
  // A 401 has no subject, so it carries no rate-limit headers.
  await limitSource(c, "unauthorized", { setsHeaders: false });
  const headers = { "WWW-Authenticate": "Bearer" };
  return kind === "api_key"
    ? new ApiError("INVALID_API_KEY", "send a valid API key as Authorization: Bearer cc_live_…", { headers })
    : new ApiError("UNAUTHORIZED", "send a valid worker token as Authorization: Bearer cc_wrk_…", { headers });
}
