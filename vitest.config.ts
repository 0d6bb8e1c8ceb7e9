import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "node",
          include: ["test/node/**/*.test.ts"],
          environment: "node",
          // Real databases, git servers and processes, on machines that may be busy.
          testTimeout: 30_000,
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
                SOURCE_GATE: { className: "SourceGate", useSQLite: true },
                WORKSPACE_RUNS: { className: "WorkspaceRuns", useSQLite: true },
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
          globalSetup: ["./test/support/worker-database.ts", "./test/support/worker-models.ts"],
        },
      },
      {
        // Over HTTP, against the production bundles.
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          environment: "node",
          globalSetup: ["./test/e2e/support/stack.ts"],
          testTimeout: 60_000,
        },
      },
    ],
  },
});
