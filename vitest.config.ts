import os from "node:os";
import path from "node:path";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
// For the global set-ups, which run in this process.
import "./src/tooling/local/drizzle-imports.mjs";
import { growInLargeSteps } from "./src/tooling/local/stack/miniflare-growth.ts";
import { memoryFolder } from "./test/support/memory-folder.ts";

// The plugin loads Miniflare, with which the global set-ups start stacks in this process.
const stopPatching = growInLargeSteps();
const { cloudflareTest } = await import("@cloudflare/vitest-plugin");
stopPatching();

// Test workers and the processes that tests start (the CLI, local stacks, wrangler) share compiled modules; saves a fifth of their CPU time.
process.env["NODE_COMPILE_CACHE"] ??= path.join(os.tmpdir(), "code-context-compile-cache");

// Tests make and remove many small files. A disk spends a quarter of their CPU time on that: ext4 without a journal looks at each inode that
// was freed lately before it gives out another.
if (process.env["TMPDIR"] === undefined && process.env["KEEP_DATA"] === undefined) {
  const folder = memoryFolder();
  if (folder !== undefined) process.env["TMPDIR"] = folder;
}

// Large pages for glibc's memory, where the system gives them to who asks: a database in WebAssembly starts in two thirds of the CPU time.
process.env["GLIBC_TUNABLES"] ??= "glibc.malloc.hugetlb=1";

// Tests use real databases, git servers and processes, on machines that may be busy: these limits catch hangs, not slowness.
const LIMITS = { testTimeout: 90_000, hookTimeout: 120_000, expect: { poll: { timeout: 60_000 } } };

/** Files share a few processes: half of the CPU time was the start of one for each file, and loading the same modules in it. */
const SHARED = {
  isolate: false,
  environment: "node" as const,
  execArgv: ["--import", new URL("src/tooling/local/drizzle-imports.mjs", import.meta.url).href],
};

/**
 * Files of test/node that take longer than three seconds: whole pipelines, databases, git servers, deploys, the CLI as a process, and the
 * worst cases of parsers. They are the project "pipeline", not "node".
 */
const PIPELINES = [
  "cli/{changed-listing,commands,damage,faults,grep,hostile-git,impact,incremental,index-local,inner-repositories,kept-listing,lacking-objects,mcp,parse-pool,search,search-edits,search-index,setup,snapshots,surroundings,upgrade}",
  "db/plans",
  "deploy/{deploy,platforms}",
  "exact/any-pattern",
  "git/{broken,pull}",
  "indexing/{damage,file-history,interleavings,overlays,parts,pipeline,refs}",
  "local/{database,neon-endpoint,server,session-settings}",
  "operate/encryption-key",
  "parsing/{any-text,limits,pathological,recovery}",
  "parsing/secrets/pathological",
  "regex/{matchers,regex}",
  "relations/{questions,ruby-bounds}",
  "release/package",
  "search/{consistency,hosted,hosted-relations,hosted-repositories,read,scope,vectors}",
  "tenancy/tenancy",
  "texts/{hosted-grep,hosted-reads,hosted-texts}",
  "users/concurrency",
].map((name) => `test/node/${name}.test.ts`);

/** The CLI's tests run the command as users do. */
const COMMAND = "./test/support/codectx-bundle.ts";

/**
 * Files of test/worker about what no database decides: Durable Objects, providers, the checks of a request. The few statements that they lead
 * to are those of every request. They run once, on the server.
 */
const WITHOUT_STATEMENTS = [
  "api/{compat,credential-first,embed,metering,proxy,rerank,routes,turns,upstream-faults}",
  "embedding/*",
  "gate/{admit,rate-bucket}",
  "health/monitor",
  "indexing/{tenant-runs,workspace-runs}",
  "oauth/object",
  "upgrades/objects",
].map((name) => `test/worker/${name}.test.ts`);

const EMBEDDED_E2E = ["index", "search", "snapshot", "dashboard"].map((name) => `test/e2e/${name}.test.ts`);

/** Runs in workerd, with real Durable Objects, against the database that the global set-up starts. */
function workerProject(name: string, databaseSetup: string, exclude: string[] = []): TestProjectInlineConfiguration {
  return {
    plugins: [
      cloudflareTest(({ inject }) => ({
        main: "./test/worker/support/worker.ts",
        miniflare: {
          compatibilityDate: "2026-11-01",
          compatibilityFlags: ["enable_request_signal"],
          modulesRules: [{ type: "Data", include: ["**/*.bin"] }],
          durableObjects: {
            TENANT_GATE: { className: "TenantGate", useSQLite: true },
            RATE_BUCKETS: { className: "RateBucket", useSQLite: true },
            WORKSPACE_RUNS: { className: "WorkspaceRuns", useSQLite: true },
            TENANT_RUNS: { className: "TenantRuns", useSQLite: true },
            OAUTH: { className: "OAuthObject", useSQLite: true },
            HEALTH_MONITOR: { className: "HealthMonitor", useSQLite: true },
          },
          r2Buckets: ["SNAPSHOTS"],
          queueProducers: { INDEX_QUEUE: "code-context-index", INDEX_QUEUE_2: "code-context-index-2" },
          queueConsumers: {
            "code-context-index": { maxBatchTimeout: 0 },
            "code-context-index-2": { maxBatchTimeout: 0 },
          },
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
      name,
      include: ["test/worker/**/*.test.ts"],
      exclude,
      // As above: each file would start a workerd of its own and load the service into it.
      isolate: false,
      setupFiles: ["./test/worker/support/each-file.ts"],
      // What a Durable Object logs while it is evicted may stay undelivered, and the file would wait for it forever (workers-sdk#15719).
      disableConsoleIntercept: true,
      ...LIMITS,
      globalSetup: [databaseSetup, "./test/support/worker-models.ts"],
    },
  };
}

/** Over HTTP, against the production bundles. */
function e2eProject(name: string, setup: string, include: string[]): TestProjectInlineConfiguration {
  return { test: { name, include, ...SHARED, globalSetup: [COMMAND, setup], ...LIMITS } };
}

export default defineConfig({
  test: {
    // More than two cores can run at once: a third of the time is spent waiting for processes to start, to answer and to end.
    maxWorkers: Math.min(4, Math.max(3, os.availableParallelism() - 1)),
    projects: [
      {
        test: {
          name: "node",
          include: ["test/node/**/*.test.ts"],
          exclude: PIPELINES,
          ...SHARED,
          ...LIMITS,
        },
      },
      { test: { name: "pipeline", include: PIPELINES, ...SHARED, ...LIMITS, globalSetup: [COMMAND] } },
      // The code that talks to the database runs on the embedded one and on a PostgreSQL server, which has many sessions, its own
      // statistics and other defaults.
      workerProject("worker", "./test/support/worker-database.ts", WITHOUT_STATEMENTS),
      workerProject("worker-postgres", "./test/support/worker-postgres.ts"),
      // The whole service runs on a PostgreSQL server, as in production. On the embedded database it runs in the files that start one
      // of their own (local, kill, faults, search-faults) and in those that a first look at a service consists of.
      e2eProject("e2e", "./test/e2e/support/stack-postgres.ts", ["test/e2e/**/*.test.ts"]),
      e2eProject("e2e-embedded", "./test/e2e/support/stack.ts", EMBEDDED_E2E),
    ],
  },
});
