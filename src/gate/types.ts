import type { CallKind, Surface } from "../contract/surfaces.ts";
import type { CredentialKind } from "../tenancy/credentials.ts";

export type { CredentialKind };

/** What a request shows at the gate. The secret itself never travels: only its SHA-256. */
export interface PresentedCredential {
  kind: CredentialKind;
  /** Public id, the middle part of the key; it names the tenant. */
  id: string;
  /** SHA-256 of the secret part, lower-case hex. */
  secretHash: string;
}

export interface AdmitRequest {
  credential: PresentedCredential;
  surface: Surface;
  /** Credits to reserve; absent for requests that are not metered or whose body is invalid. */
  estimateCredits?: number;
  /** See `MeteredAdmission`; `DEFAULT_HOLD_MS` when absent. */
  holdMs?: number;
  ahead?: AheadRequest;
}

/** State of a fixed window, as the rate-limit headers show it. `resetSec` is a Unix time in seconds. */
export interface RateState {
  limit: number;
  remaining: number;
  resetSec: number;
}

export interface Principal {
  tenantId: string;
  credentialId: string;
  kind: CredentialKind;
  sharedIndex: boolean;
}

export interface MeteredAdmission {
  estimateCredits: number;
  /** How long the credits stay reserved if the request dies: the upstream's timeout plus a margin, in milliseconds. */
  holdMs?: number;
}

/** What an isolate asks for besides the admission of a request, and gives back; see `leases.ts`. */
export interface AheadRequest {
  /** How many admissions like this one it would like to have ahead. */
  want: number;
  unused?: UnusedAhead | undefined;
}

/** Admissions taken ahead with a reservation that were not used: their numbers, and the end of the window they were taken from. */
export interface UnusedAhead {
  reservationId: string;
  first: number;
  last: number;
  /** Unix time in seconds. */
  resetSec: number;
}

export interface Admitted {
  outcome: "admitted";
  principal: Principal;
  rate: RateState;
  reservationId: string | null;
  /** The gate outlives a crash without this reservation's row, so its settlement may follow the answer. */
  covered: boolean;
  /** Admissions given ahead, numbered from 1, and for how long they are good from when they were asked for. */
  ahead?: { count: number; lifeMs: number };
}

export type AdmitResult =
  | Admitted
  | { outcome: "unauthorized" }
  | { outcome: "rate_limited"; rate: RateState; retryAfterSec: number }
  /** `used` counts what is reserved by requests under way too, since that is what leaves no room. */
  | {
      outcome: "quota_exceeded";
      principal: Principal;
      rate: RateState;
      limit: number;
      used: number;
      resetsAt: string;
      retryAfterSec: number;
    }
  /** The credential is not known here and the database cannot be asked. */
  | { outcome: "unavailable" };

/** What a reservation turned into. `failed` gives all of it back. */
export type Settlement = { outcome: "charged"; kind: "embed" | "rerank"; tokens: number } | { outcome: "failed" };

export interface UsageSnapshot {
  /** ISO instants; the period's end is exclusive. */
  periodStart: string;
  periodEnd: string;
  limit: number;
  /** Credits charged; reservations of requests under way are not in it. */
  used: number;
  embedTokens: number;
  rerankTokens: number;
  indexTokens: number;
  calls: Record<CallKind, number>;
}

/** RPC surface of the tenant's Durable Object. */
export interface TenantGateApi {
  /** Takes text of `packAdmitRequest`, and gives text of `packAdmitted` for who is admitted: see `wire.ts`. */
  admit(packed: string): Promise<AdmitResult | string>;
  /** Settles once: a second settlement of the same reservation changes nothing. Returns the credits charged. */
  settle(reservationId: string, settlement: Settlement): Promise<{ credits: number }>;
  /** Settles all that is in a text of `joinSettlements`; resolves when that is durable, which is given time. */
  settleMany(packed: string): Promise<void>;
  /** Counts a call, and tokens of hosted indexing, once per key. A key is remembered for two days. */
  count(key: string, kind: CallKind | null, indexTokens?: number): Promise<void>;
  /** Figures with `pending` (see `settleMany`) settled first. */
  usage(pending?: string): Promise<UsageSnapshot>;
}

/** RPC surface of the Durable Object that holds the bucket of one source (an address). */
export interface SourceGateApi {
  take(surface: Surface): Promise<TakeResult>;
}

/** What taking from a bucket came to. */
export interface TakeResult {
  allowed: boolean;
  rate: RateState;
  /** Seconds until the window ends; a rejected client waits that long. */
  retryAfterSec: number;
}
