import {
  RATE_LIMIT_HEADER,
  RATE_REMAINING_HEADER,
  RATE_RESET_HEADER,
  type RateLimitedBody,
  RETRY_AFTER_HEADER,
  type Surface,
} from "../../contract/index.ts";
import { ApiError } from "../../errors.ts";
import { admit } from "../../gate/client.ts";
import type { CredentialKind, MeteredAdmission, Principal, RateState } from "../../gate/types.ts";
import { bearerOf, parseCredential } from "../../tenancy/credentials.ts";
import type { Exchange } from "../exchange.ts";

export interface Need {
  credential: CredentialKind;
  surface: Surface;
  /** Credits to reserve in the same step. */
  metered?: MeteredAdmission;
}

export interface Admission {
  principal: Principal;
  /** Set exactly when credits were asked for. */
  reservationId: string | null;
  /** Whether the reservation's settlement may follow the answer. */
  covered: boolean;
}

/** A 429 has a body of its own, so it is an `ApiError` that knows it. */
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

/** Puts a window's state into the response's headers, whatever the response becomes. */
export function setRateHeaders(exchange: Pick<Exchange, "setHeader">, rate: RateState): void {
  exchange.setHeader(RATE_LIMIT_HEADER, String(rate.limit));
  exchange.setHeader(RATE_REMAINING_HEADER, String(rate.remaining));
  exchange.setHeader(RATE_RESET_HEADER, String(rate.resetSec));
}

/**
 * Takes a request through the tenant's gate: credential, then rate limit, then (where asked) the reservation of
 * credits, in one RPC. Throws 401, 429 or 503; sets the rate headers.
 */
export async function authorize(exchange: Exchange, need: Need): Promise<Admission> {
  const header = bearerOf(exchange.request.headers.get("Authorization"));
  const credential = header === undefined ? undefined : parseCredential(header, need.credential);
  if (credential === undefined) throw unauthorized(need.credential);
  const { within, services } = exchange;
  const admission = admit(exchange.env.TENANT_GATE, credential, need, { leases: services.leases, within });
  // Credits that were asked for have to be given back even if the client leaves. Those that were there already go back by
  // themselves: only who has many gets some ahead.
  if (need.metered && admission instanceof Promise) exchange.outliveClient();
  const result = await admission;
  switch (result.outcome) {
    case "admitted":
      setRateHeaders(exchange, result.rate);
      return result;
    case "unauthorized":
      throw unauthorized(need.credential);
    case "rate_limited":
      setRateHeaders(exchange, result.rate);
      throw new RateLimitedError(result.retryAfterSec);
    case "quota_exceeded":
      setRateHeaders(exchange, result.rate);
      throw new ApiError("QUOTA_EXCEEDED", "the monthly quota is used up", {
        details: { limit: result.limit, used: result.used, resetsAt: result.resetsAt },
        headers: { [RETRY_AFTER_HEADER]: String(result.retryAfterSec) },
      });
    case "unavailable":
      // The indexing routes have a code of their own for a database that is away.
      if (need.surface === "index" || need.surface === "snapshot") {
        throw new ApiError("STORAGE_UNAVAILABLE", "the database cannot be reached; try again with a growing wait", {
          headers: { [RETRY_AFTER_HEADER]: "5" },
        });
      }
      throw new ApiError("UNAVAILABLE", "the credential cannot be checked right now; try again", {
        headers: { [RETRY_AFTER_HEADER]: "5" },
      });
  }
}

function unauthorized(kind: CredentialKind): ApiError {
  return kind === "api_key"
    ? new ApiError("INVALID_API_KEY", "send a valid API key as Authorization: Bearer cc_live_…", { headers: CHALLENGE })
    : new ApiError("UNAUTHORIZED", "send a valid worker token as Authorization: Bearer cc_wrk_…", {
        headers: CHALLENGE,
      });
}

const CHALLENGE = { "WWW-Authenticate": "Bearer" };
