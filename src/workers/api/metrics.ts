/** `GET /metrics` for the operator. Loaded by the first request for it. */
import { createHash, timingSafeEqual } from "node:crypto";
import { ApiError } from "../../lib/errors.ts";
import { tenantDatabases } from "../../service/db/databases.ts";
import { type Metric, OPENMETRICS_TYPE, writeOpenMetrics } from "../../service/health/openmetrics.ts";
import { LATENCY_BUCKETS_MS, type RequestCounts } from "../../service/health/request-counts.ts";
import { runMetrics } from "../../service/health/run-metrics.ts";
import type { HealthStatus } from "../../service/health/types.ts";
import type { ApiContext } from "./context.ts";
import { counter, monitorOf } from "./middleware/count-requests.ts";

/** A shorter token is taken for a placeholder: the route does not exist then. */
const MIN_TOKEN_CHARACTERS = 16;
/** Answers with all metrics. 404 if no `METRICS_TOKEN` is set, 401 without it. */
export async function answerMetrics(c: ApiContext): Promise<Response> {
  const token = c.env.METRICS_TOKEN ?? "";
  if (token.length < MIN_TOKEN_CHARACTERS) throw new ApiError("NOT_FOUND", `there is no ${c.req.path}`);
  const given = /^Bearer (\S+)$/.exec(c.req.header("Authorization") ?? "")?.[1] ?? "";
  if (!isSame(given, token)) throw new ApiError("UNAUTHORIZED", "METRICS_TOKEN is expected as a bearer token");
  const counts = counter.take(Date.now(), { force: true });
  const monitor = monitorOf(c);
  if (counts) await monitor.record(counts);
  const [totals, health, runs] = await Promise.all([
    monitor.counts(),
    monitor.status(),
    Promise.all(tenantDatabases(c.env).map(runMetrics)).catch((error: unknown): Metric[][] => {
      c.get("log").error("metrics_incomplete", error);
      return [];
    }),
  ]);
  const text = writeOpenMetrics([...requestMetrics(totals), ...healthMetrics(health), ...runs.flat()]);
  return c.body(text, 200, { "Content-Type": OPENMETRICS_TYPE });
}

function isSame(a: string, b: string): boolean {
  const hash = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(hash(a), hash(b));
}

function requestMetrics({ requests, latencies }: RequestCounts): Metric[] {
  return [
    {
      name: "codecontext_http_requests",
      type: "counter",
      help: "Requests to the API by route, status and error code.",
      samples: Object.entries(requests).map(([key, value]) => {
        const [method = "", route = "", status = "", code = ""] = key.split(" ");
        return { suffix: "_total", labels: { method, route, status, code }, value };
      }),
    },
    {
      name: "codecontext_http_request_duration_seconds",
      type: "histogram",
      help: "Time from a request to the head of its answer.",
      samples: Object.entries(latencies).flatMap(([route, row]) => histogramSamples(route, row)),
    },
  ];
}

function histogramSamples(route: string, row: readonly number[]): Metric["samples"] {
  const count = row[LATENCY_BUCKETS_MS.length] ?? 0;
  const samples: Metric["samples"] = LATENCY_BUCKETS_MS.map((bound, i) => ({
    suffix: "_bucket",
    labels: { route, le: bound / 1_000 },
    value: row[i] ?? 0,
  }));
  samples.push(
    { suffix: "_bucket", labels: { route, le: "+Inf" }, value: count },
    { suffix: "_count", labels: { route }, value: count },
    { suffix: "_sum", labels: { route }, value: (row[LATENCY_BUCKETS_MS.length + 1] ?? 0) / 1_000 },
  );
  return samples;
}

function healthMetrics({ checks }: HealthStatus): Metric[] {
  const all = Object.entries(checks);
  return [
    {
      name: "codecontext_dependency_up",
      type: "gauge",
      help: "1 if the last probe of a dependency succeeded.",
      samples: all.map(([check, { ok }]) => ({ labels: { check }, value: ok ? 1 : 0 })),
    },
    {
      name: "codecontext_dependency_latency_seconds",
      type: "gauge",
      help: "Time of the last probe; that of the queue is how long a message waits.",
      samples: all.map(([check, { latencyMs }]) => ({ labels: { check }, value: latencyMs / 1_000 })),
    },
  ];
}
