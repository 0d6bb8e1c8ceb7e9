/**
 * Admissions taken ahead: a busy tenant's gate hands an isolate some of them with the answer to one request, so that the
 * next ones need not ask. Each is an ordinary reservation of the gate, and has been taken from the rate bucket; what is
 * left unused goes back with the next request that asks. So nothing is ever admitted beyond a limit. The gate gives none
 * where limits are near (see `TenantGate`), and none that outlives what it knows of the credential: a revoked key stops as
 * soon as without them.
 *
 * Pure bookkeeping of one isolate: the clock and the call are arguments.
 */
import type { Surface } from "../contract/surfaces.ts";
import type { ParsedCredential } from "../tenancy/credentials.ts";
import type { Admitted, AdmitResult, AheadRequest, MeteredAdmission, UnusedAhead } from "./types.ts";
import { leasedId } from "./wire.ts";

/** The surface whose requests come often enough. */
export const LEASED_SURFACE: Surface = "metered";
/** Most that are asked for at once. */
export const MAX_LEASED = 64;
/** Requests that ask within this time of each other make a tenant busy. */
const BUSY_MS = 100;
/** A call that has not come back after this time never will; see `client.ts`. */
const ASKING_MS = 15_000;
/** Tenants that are remembered. */
const MAX_TENANTS = 1_000;

interface Lease {
  credential: ParsedCredential;
  /** The admission that they came with. */
  admitted: Admitted;
  reservationId: string;
  /** Credits that each of them has reserved. */
  estimateCredits: number;
  /** From 1; above `last` nothing is left. */
  next: number;
  last: number;
  expiresAtMs: number;
}

interface TenantState {
  lease: Lease | undefined;
  /** What is asked for the next time, if the tenant is still busy. */
  want: number;
  askedAtMs: number;
  /** Until when a request that wants some is taken to be on its way; only one is at a time. */
  wantingUntilMs: number;
}

export class Leases {
  readonly #tenants = new Map<string, TenantState>();
  readonly #now: () => number;

  /** `now` in Unix milliseconds. */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /**
   * Admits a request from what was taken ahead, or by `ask`ing the gate, which hears what to give ahead and what it gets
   * back. Only requests with an estimate can be admitted without asking.
   */
  admit(
    credential: ParsedCredential,
    metered: MeteredAdmission | undefined,
    ask: (ahead: AheadRequest) => Promise<AdmitResult>,
  ): Promise<AdmitResult> | AdmitResult {
    const nowMs = this.#now();
    const state = this.#tenants.get(credential.tenantId);
    const leased = metered && state?.lease && use(state.lease, credential, metered.estimateCredits, nowMs);
    return leased ?? this.#ask(credential, metered, state, ask, nowMs);
  }

  async #ask(
    credential: ParsedCredential,
    metered: MeteredAdmission | undefined,
    known: TenantState | undefined,
    ask: (ahead: AheadRequest) => Promise<AdmitResult>,
    nowMs: number,
  ): Promise<AdmitResult> {
    const state = known ?? this.#remember(credential.tenantId);
    const { lease } = state;
    state.lease = undefined;
    if (metered) {
      state.want = nextWant(state, lease, nowMs);
      state.askedAtMs = nowMs;
    }
    const want = metered && state.wantingUntilMs <= nowMs ? state.want : 0;
    if (want > 0) state.wantingUntilMs = nowMs + ASKING_MS;
    try {
      const result = await ask({ want, ...(lease && { unused: unusedOf(lease) }) });
      if (metered && result.outcome === "admitted" && result.ahead && result.reservationId !== null) {
        const { ahead, reservationId } = result;
        const { estimateCredits } = metered;
        // Counted from before the gate was asked, so that clocks need not agree.
        const expiresAtMs = nowMs + ahead.lifeMs;
        const numbers = { next: 1, last: ahead.count };
        state.lease = { credential, admitted: result, reservationId, estimateCredits, ...numbers, expiresAtMs };
      }
      return result;
    } finally {
      if (want > 0) state.wantingUntilMs = -Infinity;
    }
  }

  #remember(tenantId: string): TenantState {
    if (this.#tenants.size >= MAX_TENANTS) this.#tenants.clear();
    const state: TenantState = { lease: undefined, want: 0, askedAtMs: -Infinity, wantingUntilMs: -Infinity };
    this.#tenants.set(tenantId, state);
    return state;
  }
}

/** Admits a request with the next of a lease; undefined when the lease does not fit it or is used up. */
function use(lease: Lease, credential: ParsedCredential, estimateCredits: number, nowMs: number): Admitted | undefined {
  const { admitted, reservationId, last } = lease;
  if (lease.next > last || lease.credential !== credential || nowMs >= lease.expiresAtMs) return undefined;
  if (estimateCredits > lease.estimateCredits) return undefined;
  const number = lease.next++;
  const { limit, remaining, resetSec } = admitted.rate;
  return {
    outcome: "admitted",
    principal: admitted.principal,
    rate: { limit, remaining: remaining - number, resetSec },
    reservationId: leasedId(reservationId, number),
    covered: true,
  };
}

function unusedOf({ admitted: { rate }, reservationId, next, last }: Lease): UnusedAhead | undefined {
  return next > last ? undefined : { reservationId, first: next, last, resetSec: rate.resetSec };
}

/** As many as a tenant went through in the time of the last lease, more when those did not suffice. */
function nextWant({ want, askedAtMs }: TenantState, lease: Lease | undefined, nowMs: number): number {
  if (!lease) return nowMs - askedAtMs <= BUSY_MS ? Math.max(1, want) : 0;
  return lease.next > lease.last ? Math.min(MAX_LEASED, lease.last * 2) : lease.next - 1;
}
