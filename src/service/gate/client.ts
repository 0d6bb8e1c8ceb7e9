/** Client of the gates: typed calls with a time limit. An unreachable gate is a return value, not an exception. */
import { withJitter } from "../../lib/backoff.ts";
import type { CallKind, Surface } from "../../contract/surfaces.ts";
import { readKeyRing } from "../../lib/key-ring.ts";
import { createLogger, type LogFields } from "../../lib/log.ts";
import { pause, raceTimeout } from "../../lib/pause.ts";
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

/** The subset of a Durable Object namespace that the client uses. */
interface GateNamespace<Id = unknown> {
  idFromName(name: string): Id;
  get(id: Id): unknown;
}

/** Outcome of a call to a gate that is overloaded or cannot be reached. */
const GATE_UNAVAILABLE = { outcome: "unavailable" } as const;
type GateUnavailable = typeof GATE_UNAVAILABLE;

/** Leaves time for one credential look-up in a slow database. */
const ADMIT_TIMEOUT_MS = 5_000;
const SETTLE_TIMEOUT_MS = 5_000;
/** A page that shows usage waits no longer for the newest figures. */
const FLUSH_TIMEOUT_MS = 1_000;
/** A health probe must not hang on its own rate limit. */
const TAKE_TIMEOUT_MS = 1_000;
const RETRY_DELAY_MS = 50;

const log = createLogger({ component: "gate-client" });

/**
 * Admits a request at the tenant's gate: checks the credential, takes from the rate bucket and reserves credits if asked to.
 * A retry after a lost answer may take and reserve twice; the orphaned reservation expires at its deadline.
 */
export function admit(
  gates: GateNamespace,
  credential: ParsedCredential,
  surface: Surface,
  options: Pick<AdmitRequest, "reserve" | "isFree" | "scope"> = {},
): Promise<AdmitResult> {
  const { tenantId, kind, id, secretHash } = credential;
  const request = { tenantId, credential: { kind, id, secretHash }, surface, ...options };
  return call({ tenantId, method: "admit" }, ADMIT_TIMEOUT_MS, () => tenantGate(gates, tenantId).admit(request));
}

/** Reserves credits for a request that was admitted without a reservation. */
export function reserve(
  gates: GateNamespace,
  tenantId: string,
  credentialId: string,
  request: CreditRequest,
): Promise<ReserveResult> {
  return call({ tenantId, method: "reserve" }, ADMIT_TIMEOUT_MS, () =>
    tenantGate(gates, tenantId).reserve(credentialId, request),
  );
}

/** Settles a reservation; idempotent. Once it resolves to credits, the settlement is durable. */
export function settle(
  gates: GateNamespace,
  tenantId: string,
  reservationId: string,
  settlement: Settlement,
): Promise<{ credits: number } | GateUnavailable> {
  return call({ tenantId, method: "settle" }, SETTLE_TIMEOUT_MS, () =>
    tenantGate(gates, tenantId).settle(reservationId, settlement),
  );
}

/**
 * Counts a call (none if `kind` is null) and tokens of hosted indexing. With a key it counts once per key and is safe to
 * repeat. `ok` is false if it was not counted.
 */
export async function count(
  gates: GateNamespace,
  tenantId: string,
  key: string | null,
  kind: CallKind | null,
  indexTokens = 0,
): Promise<{ ok: boolean }> {
  const result = await call({ tenantId, method: "count" }, SETTLE_TIMEOUT_MS, async () => {
    await tenantGate(gates, tenantId).count(key, kind, indexTokens);
    return { ok: true };
  });
  return "ok" in result ? result : { ok: false };
}

/**
 * Has the tenant's counters flushed to Postgres, for a reader of the figures there: calls that cost no credits are flushed every
 * quarter of an hour. Without an answer in time the figures are as late as that.
 */
export async function flushUsage(gates: GateNamespace, tenantId: string): Promise<void> {
  await call({ tenantId, method: "flush" }, FLUSH_TIMEOUT_MS, () => tenantGate(gates, tenantId).flush());
}

/** The tenant's counters of the current month. Pass the admitted credential to get its current limit too. */
export function usage(
  gates: GateNamespace,
  tenantId: string,
  credentialId?: string,
): Promise<UsageSnapshot | GateUnavailable> {
  return call({ tenantId, method: "usage" }, ADMIT_TIMEOUT_MS, () => tenantGate(gates, tenantId).usage(credentialId));
}

/** Closes the gate of a tenant that is about to be deleted; see `TenantGateApi.close`. */
export function closeGate(
  gates: GateNamespace,
  tenantId: string,
): Promise<{ period: string; credits: number } | GateUnavailable> {
  return call({ tenantId, method: "close" }, ADMIT_TIMEOUT_MS, () => tenantGate(gates, tenantId).close());
}

/** Owner of a bucket outside of the tenants' API surfaces. */
interface BucketSubject {
  surface: Surface;
  /**
   * `sourceOf(address)` for surfaces limited by source; else the id of a user, tenant or hook, or a normalised e-mail address.
   * Each pair of surface and subject has its own bucket.
   */
  subject: string;
  /** Where to audit rejections, one event per window; default: not audited. */
  audit?: AuditTarget;
}

/**
 * Takes one request from the bucket of (surface, subject). Limits everything without an API credential, such as dashboard
 * requests (`dashboard_read`, `dashboard_mutation`), sign-in mails, invitations, hooks and source addresses. Budgets come from
 * `SURFACES` and `RATE_LIMITS`.
 *
 * @param buckets the `RATE_BUCKETS` binding
 * @param salt secret that keeps object names from revealing subjects; `ENCRYPTION_KEY`
 * @returns `allowed`, and `rate` for the headers (`rateHeaders`); `unavailable` if the bucket cannot be reached, and the caller
 *   decides whether to let the request through
 */
export async function takeFromBucket(
  buckets: GateNamespace,
  salt: string,
  { surface, subject, audit }: BucketSubject,
): Promise<TakeResult | GateUnavailable> {
  const name = await bucketName(readKeyRing(salt).ids, surface, subject);
  return call({ surface, method: "take" }, TAKE_TIMEOUT_MS, () =>
    (buckets.get(buckets.idFromName(name)) as RateBucketApi).take(surface, audit),
  );
}

// A new stub for each attempt: a stub stays broken after its object was reset.
function tenantGate(gates: GateNamespace, tenantId: string): TenantGateApi {
  return gates.get(gates.idFromName(tenantId)) as TenantGateApi;
}

/** Makes a call within a time limit; retries once if the platform says that a retry may help. Logs why it failed. */
async function call<T>(about: LogFields, timeoutMs: number, run: () => Promise<T>): Promise<T | GateUnavailable> {
  const deadline = Date.now() + timeoutMs;
  for (let attempt = 1; ; attempt++) {
    try {
      return await raceTimeout(run(), deadline - Date.now());
    } catch (error) {
      // The gate throws RangeError on invalid arguments.
      if (error instanceof RangeError) throw error;
      if (attempt > 1 || !isRetryable(error)) {
        log.error("gate_unavailable", error, about);
        return GATE_UNAVAILABLE;
      }
      await pause(withJitter(RETRY_DELAY_MS));
    }
  }
}

/** Durable Object errors carry `retryable` and `overloaded`; calls to an overloaded object must not be retried. */
function isRetryable(error: unknown): boolean {
  const flags = error as { retryable?: boolean; overloaded?: boolean } | null;
  return flags?.retryable === true && flags.overloaded !== true;
}
