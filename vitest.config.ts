import os from "node:os";
import path from "node:path";
import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";
// For the global set-ups, which run in this process.
import "./src/local/drizzle-imports.mjs";

// Test workers and the processes that tests start (the CLI, local stacks, wrangler) share compiled modules; saves a fifth of their CPU time.
process.env["NODE_COMPILE_CACHE"] ??= path.join(os.tmpdir(), "code-context-compile-cache");

// Tests use real databases, git servers and processes, on machines that may be busy: these limits catch hangs, not slowness.
const LIMITS = { testTimeout: 90_000, hookTimeout: 120_000, expect: { poll: { timeout: 60_000 } } };

const NODE = {
  environment: "node" as const,
  execArgv: ["--import", new URL("src/local/drizzle-imports.mjs", import.meta.url).href],
};

export default defineConfig({
  test: {
    // More than two cores can run at once: a third of the time is spent waiting for processes to start, to answer and to end.
    maxWorkers: Math.min(4, Math.max(3, os.availableParallelism() - 1)),
    projects: [
      {
        test: {
          name: "node",
          include: ["test/node/**/*.test.ts"],
          ...NODE,
          ...LIMITS,
        },
      },
      {
        // Runs in workerd, with real Durable Objects, against a real Postgres.
        plugins: [
          cloudflareTest(({ inject }) => ({
            main: "./test/worker/support/worker.ts",
            miniflare: {
              compatibilityDate: "2026-11-01",
              compatibilityFlags: ["enable_request_signal"],
              durableObjects: {
                TENANT_GATE: { className: "TenantGate", useSQLite: true },
                RATE_BUCKETS: { className: "RateBucket", useSQLite: true },
                WORKSPACE_RUNS: { className: "WorkspaceRuns", useSQLite: true },
                TENANT_RUNS: { className: "TenantRuns", useSQLite: true },
                HEALTH_MONITOR: { className: "HealthMonitor", useSQLite: true },
              },
              r2Buckets: ["SNAPSHOTS"],
              queueProducers: { INDEX_QUEUE: "code-context-index" },
              queueConsumers: { "code-context-index": { maxBatchTimeout: 0 } },
              bindings: {
                DATABASE_URL: inject("databaseUrl"),
                RATE_LIMITS: "",
                EMBED_PROVIDER: "builtin",
                EMBED_BASE_URL: "",
              },
            },
          })),
        ],
        test: {
          name: "worker",
          include: ["test/worker/**/*.test.ts"],
          // What a Durable Object logs while it is evicted may stay undelivered, and the file would wait for it forever (workers-sdk#15719).
          disableConsoleIntercept: true,
          ...LIMITS,
          globalSetup: ["./test/support/worker-database.ts", "./test/support/worker-models.ts"],
        },
      },
      {
        // Over HTTP, against the production bundles.
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          ...NODE,
          globalSetup: ["./test/e2e/support/stack.ts"],
          ...LIMITS,
        },
      },
    ],
  },
});
