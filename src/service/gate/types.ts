import type { CredentialScope } from "../../contract/credentials.ts";
import type { CallKind, Surface } from "../../contract/surfaces.ts";
import type { CredentialKind } from "../tenancy/credentials.ts";

export type { CredentialKind };
export type { Sql } from "../../lib/object-tables.ts";

/** A request's credential. Only the SHA-256 of the secret is sent to the gate. */
export interface PresentedCredential {
  kind: CredentialKind;
  /** Public id: the middle part of the key. */
  id: string;
  /** SHA-256 of the secret part, lower-case hex. */
  secretHash: string;
}

/** Credits to set aside before the upstream is called. */
export interface CreditRequest {
  credits: number;
  /** Milliseconds after which an unsettled reservation expires: the upstream's timeout plus a margin. */
  holdMs: number;
}

export interface AdmitRequest {
  tenantId: string;
  credential: PresentedCredential;
  surface: Surface;
  /** Checks the credential and reports the rate window without taking from it. */
  isFree?: boolean;
  /** What the credential must be allowed to do; absent if any credential of the kind will do. */
  scope?: CredentialScope;
  /** Absent for requests that are not metered or have an invalid body. */
  reserve?: CreditRequest;
}

/** State of a fixed window, as in the rate-limit headers. `resetSec` is a Unix time in seconds. */
export interface RateState {
  limit: number;
  remaining: number;
  resetSec: number;
}

/** The identity behind an accepted credential. */
export interface Principal {
  tenantId: string;
  credentialId: string;
  kind: CredentialKind;
  sharedIndex: boolean;
  /** Repositories that the credential is limited to, by identity; absent if it is not. */
  repos?: readonly string[];
}

export interface QuotaExceeded {
  outcome: "quota_exceeded";
  /** Monthly credits of the tenant, or of a narrow credential whose own are used up. */
  limit: number;
  /** Credits charged, plus those reserved by requests in flight. */
  used: number;
  /** ISO instant at which the next month begins. */
  resetsAt: string;
  retryAfterSec: number;
}

export type AdmitResult =
  | { outcome: "admitted"; principal: Principal; rate: RateState; reservationId: string | null }
  | { outcome: "unauthorized" }
  /** The credential is not allowed to do this. */
  | { outcome: "forbidden"; rate: RateState }
  | { outcome: "rate_limited"; rate: RateState; retryAfterSec: number }
  | (QuotaExceeded & { rate: RateState })
  /** The credential cannot be checked: the database is unreachable and the cached entry is too old to trust. */
  | { outcome: "unavailable" };

export type ReserveResult = { outcome: "reserved"; reservationId: string } | QuotaExceeded | { outcome: "unavailable" };

/** How a reservation ended. `failed` releases all of it. */
export type Settlement = { outcome: "charged"; kind: "embed" | "rerank"; tokens: number } | { outcome: "failed" };

export interface UsageSnapshot {
  /** ISO instants; the period's end is exclusive. */
  periodStart: string;
  periodEnd: string;
  limit: number;
  /** Credits charged; reservations in flight are not included. */
  used: number;
  embedTokens: number;
  rerankTokens: number;
  indexTokens: number;
  calls: Record<CallKind, number>;
}

/** RPC interface of the tenant's Durable Object. Each call answers after its rows are durable. */
export interface TenantGateApi {
  /** Checks the credential, takes from the surface's rate bucket and reserves credits, in that order. */
  admit(request: AdmitRequest): Promise<AdmitResult>;
  /** Reserves credits for a request that was admitted without a reservation. */
  reserve(credentialId: string, request: CreditRequest): Promise<ReserveResult>;
  /** Settles a reservation; a repeated call changes nothing and returns the same credits. */
  settle(reservationId: string, settlement: Settlement): Promise<{ credits: number }>;
  /**
   * Counts a call (none if `kind` is null) and tokens of hosted indexing. With a key, once per key; keys are kept for two days.
   */
  count(key: string | null, kind: CallKind | null, indexTokens?: number): Promise<void>;
  /**
   * Grants no credits for a minute, in which the tenant is deleted, and returns those charged or reserved this month. Afterwards the gate
   * works as before, in case the deletion has failed.
   */
  close(): Promise<{ period: string; credits: number }>;
  /** Flushes the counters to Postgres now, for a reader of the figures there. */
  flush(): Promise<void>;
  /** Counters of the current month. The limit comes from this credential's cached settings; without one, it is the default. */
  usage(credentialId?: string): Promise<UsageSnapshot>;
}

/** Where the rejections of a bucket are audited. */
export interface AuditTarget {
  tenantId: string;
  /** Public id of a credential, or the id of a user. */
  actor: string;
}

/** RPC interface of the Durable Object with the rate buckets of one subject without a credential. */
export interface RateBucketApi {
  take(surface: Surface, audit?: AuditTarget): Promise<TakeResult>;
}

/** Outcome of taking one request from a bucket. */
export interface TakeResult {
  allowed: boolean;
  rate: RateState;
  /** Rejected requests in this window so far. */
  rejected: number;
  /** Seconds until the window ends, for `Retry-After`. */
  retryAfterSec: number;
}
