/** The gates as the routes see them: typed calls with a time limit, where a gate that cannot be reached is a value. */
import type { CallKind, Surface } from "../contract/surfaces.ts";
import { pause } from "../pause.ts";
import type { ParsedCredential } from "../tenancy/credentials.ts";
import { type TimeLimit, withTimer } from "../time-limit.ts";
import { sourceName, sourceOf } from "./source.ts";
import { LEASED_SURFACE, type Leases } from "./leases.ts";
import type {
  AdmitRequest,
  AdmitResult,
  AheadRequest,
  MeteredAdmission,
  Settlement,
  SourceGateApi,
  TakeResult,
  TenantGateApi,
  UsageSnapshot,
} from "./types.ts";
import { packAdmitRequest, unpackAdmitted } from "./wire.ts";

/** The part of a Durable Object namespace that is used; its objects speak `Api`. */
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
 * Asks the tenant's gate to let a request in: credential, rate bucket and, where the request is metered, reservation of its
 * estimate. A retry after a lost answer may take twice from the bucket and reserve twice; the reservation nobody knows
 * of gives its credits back at its deadline. With `leases` a request may be admitted without asking.
 */
export function admit(
  gates: GateNamespace,
  credential: ParsedCredential,
  { surface, metered }: { surface: Surface; metered?: MeteredAdmission },
  { leases, within }: { leases?: Leases; within?: TimeLimit } = {},
): Promise<AdmitResult> | AdmitResult {
  const { tenantId, kind, id, secretHashHex: secretHash } = credential;
  const ask = (ahead?: AheadRequest) => {
    const request: AdmitRequest = {
      credential: { kind, id, secretHash },
      surface,
      ...metered,
      ...(ahead && { ahead }),
    };
    return call(ADMIT_TIMEOUT_MS, () => admitAt(tenantGate(gates, tenantId), tenantId, request), within);
  };
  return leases && surface === LEASED_SURFACE ? leases.admit(credential, metered, ask) : ask();
}

/** `admit` at a gate that is at hand. */
export async function admitAt(
  gate: Pick<TenantGateApi, "admit">,
  tenantId: string,
  request: AdmitRequest,
): Promise<AdmitResult> {
  const answer = await gate.admit(packAdmitRequest(tenantId, request));
  if (typeof answer !== "string") return answer;
  const { kind, id } = request.credential;
  return unpackAdmitted(answer, { tenantId, credentialId: id, kind });
}

/**
 * Settles a reservation; safe to repeat. An answer that waits for it is counted whatever happens next; see `Settlements` for
 * those that need not.
 */
export function settle(
  gates: GateNamespace,
  tenantId: string,
  reservationId: string,
  settlement: Settlement,
): Promise<{ credits: number } | GateUnavailable> {
  return call(SETTLE_TIMEOUT_MS, () => tenantGate(gates, tenantId).settle(reservationId, settlement));
}

/** Settles all that is in a text of `joinSettlements`; safe to repeat. False: the gate may not have it. */
export async function settleMany(gates: GateNamespace, tenantId: string, packed: string): Promise<boolean> {
  const result = await call(SETTLE_TIMEOUT_MS, () => tenantGate(gates, tenantId).settleMany(packed));
  return result !== GATE_UNAVAILABLE;
}

/** Counts a call (none where `kind` is null), and tokens of hosted indexing, once per key; safe to repeat. `ok` is false when it was not counted. */
export async function count(
  gates: GateNamespace,
  tenantId: string,
  key: string,
  kind: CallKind | null,
  indexTokens = 0,
): Promise<{ ok: boolean }> {
  const result = await call(SETTLE_TIMEOUT_MS, async () => {
    await tenantGate(gates, tenantId).count(key, kind, indexTokens);
    return { ok: true };
  });
  return "ok" in result ? result : { ok: false };
}

/** The tenant's counters of the current month, with what is `pending` (see `Settlements`) in them. */
export function usage(gates: GateNamespace, tenantId: string, pending = ""): Promise<UsageSnapshot | GateUnavailable> {
  return call(ADMIT_TIMEOUT_MS, () => tenantGate(gates, tenantId).usage(pending));
}

/**
 * Takes from the bucket of a client address (see `sourceOf`); `salt` is any secret, so that object names tell no addresses.
 */
export async function takeFromSource(
  gates: GateNamespace,
  salt: string,
  address: string | null | undefined,
  surface: Surface,
): Promise<TakeResult | GateUnavailable> {
  const name = await sourceName(salt, sourceOf(address));
  return call(TAKE_TIMEOUT_MS, () => (gates.get(gates.idFromName(name)) as SourceGateApi).take(surface));
}

// A stub made anew for each attempt: one that saw its object die stays broken.
function tenantGate(gates: GateNamespace, tenantId: string): TenantGateApi {
  return gates.get(gates.idFromName(tenantId)) as TenantGateApi;
}

/** Runs a call within a time limit, once more when the platform says that may help. */
async function call<T>(
  timeoutMs: number,
  run: () => Promise<T>,
  within: TimeLimit = withTimer,
): Promise<T | GateUnavailable> {
  const deadline = Date.now() + timeoutMs;
  for (let attempt = 1; ; attempt++) {
    try {
      return await within<T | GateUnavailable>(deadline - Date.now(), run, () => GATE_UNAVAILABLE);
    } catch (error) {
      if (isBug(error)) throw error;
      if (attempt > 1 || !isRetryable(error)) return GATE_UNAVAILABLE;
      await pause(RETRY_DELAY_MS * (1 + Math.random()));
    }
  }
}

/** Thrown by the gate on arguments that make no sense: no state of the platform. */
function isBug(error: unknown): boolean {
  return error instanceof RangeError;
}

/** Durable Object errors carry `retryable` and `overloaded`; an overloaded object must not be asked again. */
function isRetryable(error: unknown): boolean {
  const flags = error as { retryable?: boolean; overloaded?: boolean } | null;
  return flags?.retryable === true && flags.overloaded !== true;
}
