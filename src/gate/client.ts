/** The gates as routes see them: typed calls with a time limit; a gate that cannot be reached is a value, not an exception. */
import type { CallKind, Surface } from "../contract/surfaces.ts";
import { pause, raceTimeout } from "../pause.ts";
import type { ParsedCredential } from "../tenancy/credentials.ts";
import { bucketName } from "./source.ts";
import type {
  AdmitRequest,
  AdmitResult,
  AuditTarget,
  CreditRequest,
  RateBucketApi,
  ReserveResult,
  Settlement,
  TakeResult,
  TenantGateApi,
  UsageSnapshot,
} from "./types.ts";

/** The part of a Durable Object namespace that is used. */
export interface GateNamespace<Id = unknown> {
  idFromName(name: string): Id;
  get(id: Id): unknown;
}

/** Returned in place of an answer by a gate that is overloaded or cannot be reached. */
export const GATE_UNAVAILABLE = { outcome: "unavailable" } as const;
export type GateUnavailable = typeof GATE_UNAVAILABLE;

/** Covers one look-up of a credential in a database that is slow to answer. */
const ADMIT_TIMEOUT_MS = 5_000;
const SETTLE_TIMEOUT_MS = 5_000;
/** A health probe must not hang on its own rate limit. */
const TAKE_TIMEOUT_MS = 1_000;
const RETRY_DELAY_MS = 50;

/**
 * Asks the tenant's gate to admit a request: credential, rate bucket and, where credits are asked for, their reservation. A
 * retry after a lost answer may take twice from the bucket and reserve twice; the orphaned reservation ends at its deadline.
 */
export function admit(
  gates: GateNamespace,
  credential: ParsedCredential,
  surface: Surface,
  options: Pick<AdmitRequest, "reserve" | "isFree"> = {},
): Promise<AdmitResult> {
  const { tenantId, kind, id, secretHash } = credential;
  const request = { tenantId, credential: { kind, id, secretHash }, surface, ...options };
  return call(ADMIT_TIMEOUT_MS, () => tenantGate(gates, tenantId).admit(request));
}

/** Reserves credits for a request that was admitted without. */
export function reserve(
  gates: GateNamespace,
  tenantId: string,
  credentialId: string,
  request: CreditRequest,
): Promise<ReserveResult> {
  return call(ADMIT_TIMEOUT_MS, () => tenantGate(gates, tenantId).reserve(credentialId, request));
}

/** Settles a reservation; safe to repeat. Once it resolves to credits, the settlement is durable. */
export function settle(
  gates: GateNamespace,
  tenantId: string,
  reservationId: string,
  settlement: Settlement,
): Promise<{ credits: number } | GateUnavailable> {
  return call(SETTLE_TIMEOUT_MS, () => tenantGate(gates, tenantId).settle(reservationId, settlement));
}

/**
 * Counts a call (none where `kind` is null), and tokens of hosted indexing. With a key, once per key, so that it is safe to repeat.
 * `ok` is false when it was not counted.
 */
export async function count(
  gates: GateNamespace,
  tenantId: string,
  key: string | null,
  kind: CallKind | null,
  indexTokens = 0,
): Promise<{ ok: boolean }> {
  const result = await call(SETTLE_TIMEOUT_MS, async () => {
    await tenantGate(gates, tenantId).count(key, kind, indexTokens);
    return { ok: true };
  });
  return "ok" in result ? result : { ok: false };
}

/** The tenant's counters of the current month; with the credential that was just admitted, also its current limit. */
export function usage(
  gates: GateNamespace,
  tenantId: string,
  credentialId?: string,
): Promise<UsageSnapshot | GateUnavailable> {
  return call(ADMIT_TIMEOUT_MS, () => tenantGate(gates, tenantId).usage(credentialId));
}

/** Whom a bucket belongs to that is not a tenant's API surface. */
export interface BucketSubject {
  surface: Surface;
  /**
   * Who is limited: `sourceOf(address)` for surfaces per source, else the id of a user, tenant or hook, or a normalised e-mail
   * address. Each pair of surface and subject has a bucket of its own.
   */
  subject: string;
  /** Where rejections are audited, one event per window; without it they are not. */
  audit?: AuditTarget;
}

/**
 * Takes one request from the bucket of (surface, subject): the rate limit of everything that shows no API credential, such as
 * dashboard requests (`dashboard_read`, `dashboard_mutation`), sign-in mails, invitations, hooks and source addresses. Budgets
 * are those of `SURFACES`, changed by `RATE_LIMITS`.
 *
 * @param buckets the `RATE_BUCKETS` binding
 * @param salt any secret, so that names of objects reveal no subject; `ENCRYPTION_KEY`
 * @returns `allowed`, and `rate` for the headers (`rateHeaders`); `unavailable` if the bucket cannot be reached, in which case the
 *   caller decides whether to let the request through
 */
export async function takeFromBucket(
  buckets: GateNamespace,
  salt: string,
  { surface, subject, audit }: BucketSubject,
): Promise<TakeResult | GateUnavailable> {
  const name = await bucketName(salt, surface, subject);
  return call(TAKE_TIMEOUT_MS, () => (buckets.get(buckets.idFromName(name)) as RateBucketApi).take(surface, audit));
}

// A new stub for each attempt: one that saw its object reset stays broken.
function tenantGate(gates: GateNamespace, tenantId: string): TenantGateApi {
  return gates.get(gates.idFromName(tenantId)) as TenantGateApi;
}

/** Makes a call within a time limit, and once more where the platform says that a retry may help. */
async function call<T>(timeoutMs: number, run: () => Promise<T>): Promise<T | GateUnavailable> {
  const deadline = Date.now() + timeoutMs;
  for (let attempt = 1; ; attempt++) {
    try {
      return await raceTimeout(run(), deadline - Date.now());
    } catch (error) {
      // Thrown by the gate on arguments that make no sense.
      if (error instanceof RangeError) throw error;
      if (attempt > 1 || !isRetryable(error)) return GATE_UNAVAILABLE;
      await pause(RETRY_DELAY_MS * (1 + Math.random()));
    }
  }
}

/** Durable Object errors carry `retryable` and `overloaded`; an overloaded object must not be asked again. */
function isRetryable(error: unknown): boolean {
  const flags = error as { retryable?: boolean; overloaded?: boolean } | null;
  return flags?.retryable === true && flags.overloaded !== true;
}
