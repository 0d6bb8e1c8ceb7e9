import { RATE_LIMIT_HEADER, RATE_REMAINING_HEADER, RATE_RESET_HEADER } from "../../contract/headers.ts";
import type { RateState } from "./types.ts";

/** The rate-limit headers for a window's state. */
export function rateHeaders({ limit, remaining, resetSec }: RateState): Record<string, string> {
  return {
    [RATE_LIMIT_HEADER]: String(limit),
    [RATE_REMAINING_HEADER]: String(remaining),
    [RATE_RESET_HEADER]: String(resetSec),
  };
}
