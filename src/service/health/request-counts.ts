/**
 * Counts and latencies of requests. Each isolate adds its own up and hands them to the health monitor, which keeps the totals of the deployment; what
 * an isolate has counted and not handed over when it ends is lost, some seconds at most.
 */

/** What one isolate counted since it last reported. */
export interface RequestCounts {
  /** By `method route status code`, separated by spaces; the code is `-` if there was no error. */
  requests: Record<string, number>;
  /** By route: how many took up to each of `LATENCY_BUCKETS_MS`, then how many there were, then their sum in milliseconds. */
  latencies: Record<string, number[]>;
}

/** Upper bounds of the latency histogram's buckets, in milliseconds. */
export const LATENCY_BUCKETS_MS = [10, 50, 100, 250, 500, 1_000, 2_500, 10_000, 60_000] as const;
/** An isolate reports at most this often. */
const REPORT_INTERVAL_MS = 10_000;

export class RequestCounter {
  #counts: RequestCounts = { requests: {}, latencies: {} };
  #reportedAtMs = -Infinity;

  /** Counts a request. `route` must be one of the service's, never what a client sent. */
  observe(method: string, route: string, status: number, code: string, ms: number): void {
    const { requests, latencies } = this.#counts;
    const key = `${method} ${route} ${status} ${code}`;
    requests[key] = (requests[key] ?? 0) + 1;
    const row = (latencies[route] ??= Array.from({ length: LATENCY_BUCKETS_MS.length + 2 }, () => 0));
    for (const [i, bound] of LATENCY_BUCKETS_MS.entries()) if (ms <= bound) row[i] = (row[i] ?? 0) + 1;
    row[LATENCY_BUCKETS_MS.length] = (row[LATENCY_BUCKETS_MS.length] ?? 0) + 1;
    row[LATENCY_BUCKETS_MS.length + 1] = (row[LATENCY_BUCKETS_MS.length + 1] ?? 0) + ms;
  }

  /** The counts, when it is time to report them; they start anew. */
  take(nowMs: number, { force = false } = {}): RequestCounts | undefined {
    if (Object.keys(this.#counts.requests).length === 0) return undefined;
    if (!force && nowMs - this.#reportedAtMs < REPORT_INTERVAL_MS) return undefined;
    const counts = this.#counts;
    this.#counts = { requests: {}, latencies: {} };
    this.#reportedAtMs = nowMs;
    return counts;
  }
}

/** Adds `counts` to `totals`. */
export function addCounts(totals: RequestCounts, counts: RequestCounts): void {
  for (const [key, count] of Object.entries(counts.requests)) {
    totals.requests[key] = (totals.requests[key] ?? 0) + count;
  }
  for (const [route, row] of Object.entries(counts.latencies)) {
    const total = (totals.latencies[route] ??= row.map(() => 0));
    for (const [i, count] of row.entries()) total[i] = (total[i] ?? 0) + count;
  }
}
