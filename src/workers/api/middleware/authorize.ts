import {
  type CredentialScope,
  type RateLimitedBody,
  RETRY_AFTER_HEADER,
  type Surface,
} from "../../../contract/index.ts";
import { ApiError } from "../../../lib/errors.ts";
import { admit, takeFromBucket } from "../../../service/gate/client.ts";
import { rateHeaders } from "../../../service/gate/headers.ts";
import { clientAddress } from "../../../service/gate/proxies.ts";
import { sourceOf } from "../../../service/gate/source.ts";
import type { CredentialKind, Principal, RateState } from "../../../service/gate/types.ts";
import type { ParsedCredential } from "../../../service/tenancy/credentials.ts";
import type { ApiContext } from "../context.ts";
import { creditRequest, quotaError } from "../metering.ts";
import { presentedCredential } from "./presented.ts";
import { noteCredential } from "./turns.ts";

/** A 429 from a rate-limit bucket, with the contract's `RATE_LIMITED` body. */
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

/** Parses the request's credential without I/O. Throws 401 unless this deployment issued it. */
export async function readCredential(c: ApiContext, kind: CredentialKind): Promise<ParsedCredential> {
  const credential = presentedCredential(c, kind);
  if (credential === undefined) throw await unauthorized(c, kind);
  return credential;
}

/**
 * Admits a request at its tenant's gate in one call: credential, rate limit and, if `credits` are given, their reservation. Sets
 * the rate-limit headers. A free request does not count against the rate limit. Throws 401, 403 for a credential without `scope`, 429, 502
 * or 503.
 */
export async function authorize(
  c: ApiContext,
  credential: ParsedCredential,
  surface: Surface,
  {
    credits,
    isFree = false,
    scope,
  }: { credits?: number | undefined; isFree?: boolean; scope?: CredentialScope | undefined } = {},
): Promise<{ principal: Principal; reservationId: string | null }> {
  const result = await admit(c.env.TENANT_GATE, credential, surface, {
    ...(credits !== undefined && { reserve: creditRequest(c, credits) }),
    ...(isFree && { isFree }),
    ...(scope && { scope }),
  });
  if (result.outcome !== "unavailable") noteCredential(credential, result.outcome !== "unauthorized");
  switch (result.outcome) {
    case "admitted":
      setRateHeaders(c, result.rate);
      return result;
    case "unauthorized":
      throw await unauthorized(c, credential.kind);
    case "forbidden":
      setRateHeaders(c, result.rate);
      throw new ApiError("FORBIDDEN", `this credential may not be used for this: it lacks the scope ${scope ?? ""}`);
    case "rate_limited":
      setRateHeaders(c, result.rate);
      throw new RateLimitedError(result.retryAfterSec);
    case "quota_exceeded":
      setRateHeaders(c, result.rate);
      throw quotaError(result, credits ?? 0);
    case "unavailable": {
      // The indexing routes have their own code for an unreachable database.
      if (surface === "index" || surface === "snapshot") throw storageUnavailable();
      const headers = { [RETRY_AFTER_HEADER]: "5" };
      throw new ApiError("UNAVAILABLE", "the credential cannot be checked right now; try again", { headers });
    }
  }
}

/**
 * Takes one request from the bucket of the client's address, sets the rate-limit headers, and throws 429 if the bucket is empty.
 * If the bucket cannot be reached, the request is allowed.
 */
export async function limitSource(
  c: ApiContext,
  surface: Surface,
  { setsHeaders = true }: { setsHeaders?: boolean } = {},
): Promise<void> {
  const subject = sourceOf(clientAddress(c.req.raw.headers, c.get("services").proxies));
  const taken = await takeFromBucket(c.env.RATE_BUCKETS, c.env.ENCRYPTION_KEY, { surface, subject });
  if (!("rate" in taken)) return;
  if (setsHeaders || !taken.allowed) setRateHeaders(c, taken.rate);
  if (!taken.allowed) throw new RateLimitedError(taken.retryAfterSec);
}

/** Sets the rate-limit headers, on error responses too. */
export function setRateHeaders(c: ApiContext, rate: RateState): void {
  for (const [name, value] of Object.entries(rateHeaders(rate))) c.header(name, value);
}

/** The indexing routes' error for an unreachable database, gate or coordinator. */
export function storageUnavailable(cause?: unknown): ApiError {
  return new ApiError("STORAGE_UNAVAILABLE", "the storage cannot be reached; try again, waiting longer each time", {
    cause,
    headers: { [RETRY_AFTER_HEADER]: "5" },
  });
}

/** The 401 for a credential of this kind, or a 429 if its source address has sent too many. */
async function unauthorized(c: ApiContext, kind: CredentialKind): Promise<ApiError> {
  // A 401 has no subject, so it carries no rate-limit headers.
  await limitSource(c, "unauthorized", { setsHeaders: false });
  const headers = { "WWW-Authenticate": "Bearer" };
  return kind === "api_key"
    ? new ApiError("INVALID_API_KEY", "send a valid API key as Authorization: Bearer cc_live_…", { headers })
    : new ApiError("UNAUTHORIZED", "send a valid worker token as Authorization: Bearer cc_wrk_…", { headers });
}
