import { RATE_LIMIT_HEADER, RATE_REMAINING_HEADER, RATE_RESET_HEADER } from "../contract/headers.ts";
import type { RateState } from "./types.ts";

/** The rate-limit headers of a response whose subject's window is in this state. */
export function rateHeaders({ limit, remaining, resetSec }: RateState): Record<string, string> {
  return {
    [RATE_LIMIT_HEADER]: String(limit),
    [RATE_REMAINING_HEADER]: String(remaining),
    [RATE_RESET_HEADER]: String(resetSec),
  };
}
