/** The gate's side of admissions taken ahead; see `leases.ts` for the isolates'. */
import type { CreditLedger, Reservation } from "./credits.ts";
import { MAX_LEASED, LEASED_SURFACE } from "./leases.ts";
import { periodEndMs } from "./period.ts";
import type { SurfaceWindows } from "./surface-windows.ts";
import type { RateState, UnusedAhead } from "./types.ts";
import { leasedId } from "./wire.ts";

/**
 * Requests that have to be left in the window: an admission lying unused in an isolate must never be one that another
 * request is turned away for. The ledger has the same rule for credits; see `advance.ts`.
 */
const MIN_REMAINING = 2_048;
/** What is left in the window divided by this is the most that one isolate gets. */
const SHARE = 64;
const MAX_LIFE_MS = 500;
/** An admission that is good for less is not worth giving. */
const MIN_LIFE_MS = 50;

interface Books {
  windows: SurfaceWindows;
  ledger: CreditLedger;
}

interface Grant {
  /** The reservation of the request that asks; each one given ahead holds as much for as long. */
  reservation: Readonly<Reservation>;
  want: number;
  /** State of the window after the request that asks. */
  rate: RateState;
  /** The tenant's monthly credits. */
  limit: number;
  nowMs: number;
  /** How long the credential may be taken to be good. */
  freshForMs: number;
}

/** Takes up to `want` more from window and credits, under the ids of `leasedId`; undefined when none are given. */
export function giveAhead(
  { windows, ledger }: Books,
  { reservation, want, rate, limit, nowMs, freshForMs }: Grant,
): { count: number; lifeMs: number } | undefined {
  const endsMs = Math.min(rate.resetSec * 1_000, periodEndMs(reservation.period));
  const lifeMs = Math.floor(Math.min(MAX_LIFE_MS, freshForMs, endsMs - nowMs));
  if (rate.remaining < MIN_REMAINING || lifeMs < MIN_LIFE_MS) return undefined;
  const most = Math.min(want, MAX_LEASED, Math.floor(rate.remaining / SHARE));
  let count = 0;
  while (count < most && ledger.reserveCovered(reservation, leasedId(reservation.id, count + 1), limit)) count++;
  if (count === 0) return undefined;
  windows.takeAhead(LEASED_SURFACE, count);
  return { count, lifeMs };
}

/** Gives back what was not used, once however often it is called. */
export function takeBack({ windows, ledger }: Books, { reservationId, first, last, resetSec }: UnusedAhead): void {
  let count = 0;
  for (let number = first; number <= Math.min(last, MAX_LEASED); number++) {
    if (ledger.cancel(leasedId(reservationId, number))) count++;
  }
  windows.giveBack(LEASED_SURFACE, count, resetSec);
}
