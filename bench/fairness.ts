/**
 * `npm run bench -- fairness [--surface NAME…] [--limits on|off] [--rounds N] [--requests N]`: how much one hostile tenant slows another.
 * For each surface: latencies of quiet tenants that ask one thing after another, alone and while another tenant keeps 24 connections
 * busy with the most costly requests of that surface. Rounds of both take turns, so that what else the machine does meets both alike.
 * Once with the default rate limits, as a deployment has them, and once without, which shows what the requests themselves do to each
 * other. Prints p50 and p99 of both; the bar is a ratio of p99 of 5. All of it runs on loopback, in one local stack, so flood and
 * client share the processors with the service.
 */
import { once } from "node:events";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { GitRepo } from "../test/support/git-repo.ts";
import { startGitBackend } from "../test/support/git-backend.ts";
import { SURFACES } from "../src/contract/surfaces.ts";
import { openDb } from "../src/service/db/client.ts";
import { startService } from "../src/tooling/local/stack/service.ts";
import { createTenant } from "../src/service/tenancy/tenants.ts";
import { createWorkspace } from "../src/service/tenancy/workspaces.ts";
import type { Flood } from "./load/flood.ts";
import { ratio, temporaryFolder } from "./support.ts";

const CONNECTIONS = 24;
const BAR = 5;
const FILES = 300;
/** So many that their requests, so far apart, stay below the rate limits of each. */
const QUIET_TENANTS = 6;
const PACE_MS = 20;
/** The flood has this long to fill its connections. */
const FLOOD_LEAD_MS = 1_000;

interface Asked {
  method: "GET" | "POST";
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** Default: the tenant's API key; null: none. */
  key?: string | null;
}

interface Party {
  apiKey: string;
  workerToken: string;
  workspaceId: string;
}

/** What the quiet tenant asks and what the hostile one sends, by surface. */
function surfaces(sourceUrl: string): Record<string, { quiet: (own: Party) => Asked; hostile: (own: Party) => Asked }> {
  const words = Array.from({ length: 3_000 }, (_, i) => `session${i % 97} lease${i % 89} token${i % 83}`).join(" ");
  const globs = Array.from({ length: 50 }, (_, i) => `{x${i},*}${"{*,?}".repeat(80)}${i}`);
  const keys = Object.fromEntries(Array.from({ length: 9_000 }, (_, i) => [`k${i}`, i]));
  const rpc = (method: string, params: unknown) => ({ jsonrpc: "2.0", id: 1, method, params });
  const mcp = (body: unknown): Asked => ({
    method: "POST",
    path: "/mcp",
    body,
    headers: { Accept: "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18" },
  });
  const post = (path: string, body: unknown): Asked => ({ method: "POST", path, body });
  const get =
    (path: string, query: Record<string, string> = {}) =>
    ({ workspaceId }: Party): Asked => ({
      method: "GET",
      path: `${path}?${new URLSearchParams({ workspaceId, ...query }).toString()}`,
    });
  const search = ({ workspaceId }: Party) => post("/search", { query: "how are sessions closed", workspaceId });
  return {
    embed: {
      quiet: () => post("/embed", { input: ["close the session"] }),
      hostile: () => post("/embed", { input: Array.from({ length: 128 }, () => "session lease token ".repeat(180)) }),
    },
    rerank: {
      quiet: () => post("/rerank", { query: "close", documents: ["close the session", "open it"] }),
      hostile: () =>
        post("/rerank", {
          query: words.slice(0, 4_000),
          documents: Array.from({ length: 1_000 }, () => "lease token ".repeat(35)),
        }),
    },
    search: {
      quiet: search,
      hostile: ({ workspaceId }) => post("/search", { query: words.slice(0, 32_000), workspaceId }),
    },
    "search with globs": {
      quiet: search,
      hostile: ({ workspaceId }) => post("/search", { query: "session lease", workspaceId, paths: globs }),
    },
    symbols: {
      quiet: get("/symbols", { name: "close1" }),
      hostile: get("/symbols", { name: "e", match: "fuzzy", limit: "500" }),
    },
    references: {
      quiet: get("/references", { name: "close1" }),
      hostile: get("/references", { name: "lease", limit: "500" }),
    },
    outline: { quiet: get("/outline", { path: "src/f1.ts" }), hostile: get("/outline", { path: "src/f2.ts" }) },
    file: { quiet: get("/file", { path: "src/f1.ts" }), hostile: get("/file", { path: "src/f2.ts" }) },
    "mcp tool calls": {
      quiet: () => mcp(rpc("tools/call", { name: "search_code", arguments: { query: "how are sessions closed" } })),
      hostile: () => mcp(rpc("tools/call", { name: "search_code", arguments: { query: words.slice(0, 32_000) } })),
    },
    "mcp messages": { quiet: () => mcp(rpc("ping", {})), hostile: () => mcp(rpc("tools/list", { _meta: keys })) },
    "index-snapshot": {
      quiet: ({ workspaceId }) => ({ method: "GET", path: `/index-snapshot?workspaceId=${workspaceId}&probe=1` }),
      hostile: () => post("/index-snapshot", { op: "sign", repo: "github.com/a/b", manifest: keys }),
    },
    usage: { quiet: () => ({ method: "GET", path: "/usage" }), hostile: () => ({ method: "GET", path: "/usage" }) },
    "index status": {
      quiet: ({ workspaceId, workerToken }) => ({
        method: "GET",
        path: `/index?workspaceId=${workspaceId}`,
        key: workerToken,
      }),
      hostile: ({ workspaceId, workerToken }) => ({
        ...post("/index", {
          workspaceId,
          source: { type: "git", url: sourceUrl },
          options: { exclude: Array.from({ length: 9_000 }, () => "") },
        }),
        key: workerToken,
      }),
    },
    hooks: {
      quiet: () => ({ method: "GET", path: "/usage" }),
      hostile: () => ({ ...post(`/hooks/github/${"A".repeat(24)}`, keys), key: null }),
    },
    "forged keys": {
      quiet: () => ({ method: "GET", path: "/usage" }),
      hostile: () => ({ method: "GET", path: "/usage", key: `cc_live_${"A".repeat(41)}_${"B".repeat(43)}` }),
    },
    healthz: {
      quiet: () => ({ method: "GET", path: "/usage" }),
      hostile: () => ({ method: "GET", path: "/healthz", key: null }),
    },
  };
}

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      surface: { type: "string", multiple: true },
      limits: { type: "string" },
      rounds: { type: "string", default: "4" },
      requests: { type: "string", default: "100" },
    },
  });
  const repo = new GitRepo();
  for (let i = 0; i < FILES; i++) {
    const body = Array.from({ length: 30 }, (_, k) => `  const lease${k} = token${(i * k) % 83} + session${k % 97};`);
    repo.files({
      [`src/f${i}.ts`]: `export function close${i}(lease: number): number {\n${body.join("\n")}\n  return lease;\n}\n`,
    });
  }
  repo.commit();
  const git = await startGitBackend(repo.root);
  const size = { rounds: Number(values.rounds), requests: Number(values.requests) };
  try {
    for (const limits of ["on", "off"])
      if (values.limits === undefined || values.limits === limits)
        await measure(git.url("repo"), limits === "on", size, values.surface);
  } finally {
    await git.close();
    repo.remove();
  }
}

/** All surfaces on a service of their own. */
async function measure(
  sourceUrl: string,
  isLimited: boolean,
  { rounds, requests }: { rounds: number; requests: number },
  chosen: readonly string[] | undefined,
): Promise<void> {
  const budgets = Object.fromEntries(Object.keys(SURFACES).map((surface) => [surface, { limit: 1_000_000_000 }]));
  const running = await startService({
    dataDir: temporaryFolder("fairness"),
    port: 0,
    sitePort: 0,
    vars: { GIT_ALLOW_LOCAL: "true", RATE_LIMITS: isLimited ? "" : JSON.stringify(budgets) },
  });
  try {
    const { apiUrl, databaseUrl } = running.service;
    const db = openDb(databaseUrl);
    const party = async (name: string): Promise<Party> => {
      const { tenantId, apiKey, workerToken } = await createTenant(db, {
        name,
        sharedIndex: true,
        monthlyCredits: 1_000_000_000,
      });
      const { workspaceId } = await createWorkspace(db, { tenantId });
      const body = { workspaceId, source: { type: "git", url: sourceUrl } };
      const { status, text } = await ask(apiUrl, { method: "POST", path: "/index", body, key: workerToken }, apiKey);
      if (status !== 200) throw new Error(text);
      return { apiKey, workerToken, workspaceId };
    };
    const quiet: Party[] = [];
    for (let i = 0; i < QUIET_TENANTS; i++) quiet.push(await party(`quiet ${i}`));
    const hostile = await party("hostile");
    console.log(`rate limits ${isLimited ? "on" : "off"}, ${rounds * requests} requests each`);
    console.log("surface            alone p50/p99 ms   beside p50/p99 ms   ratio p99   flood answers/s");
    for (const [name, asked] of Object.entries(surfaces(sourceUrl))) {
      if (chosen !== undefined && !chosen.includes(name)) continue;
      const round = () => latencies(apiUrl, asked.quiet, quiet, requests);
      await round();
      const [alone, beside]: [number[], number[]] = [[], []];
      const answers = new Map<number, number>();
      let floodedMs = 0;
      for (let i = 0; i < rounds; i++) {
        alone.push(...(await round()));
        const flood = startFlood(apiUrl, asked.hostile(hostile), hostile.apiKey);
        await new Promise((resolve) => setTimeout(resolve, FLOOD_LEAD_MS));
        const startedAt = performance.now();
        await flood.answers();
        beside.push(...(await round()));
        floodedMs += performance.now() - startedAt;
        for (const [status, count] of await flood.answers()) answers.set(status, (answers.get(status) ?? 0) + count);
        await flood.stop();
      }
      const shown = (all: readonly number[]) => `${at(all, 0.5).toFixed(1)} / ${at(all, 0.99).toFixed(1)}`.padEnd(19);
      const factor = at(beside, 0.99) / at(alone, 0.99);
      const rates = [...answers].map(([status, count]) => `${status}: ${((count / floodedMs) * 1_000).toFixed(0)}`);
      console.log(
        `${name.padEnd(18)} ${shown(alone)}${shown(beside)} ${ratio(at(beside, 0.99), at(alone, 0.99)).padEnd(11)} ${rates.join(", ")}${factor > BAR ? "   above the bar" : ""}`,
      );
    }
  } finally {
    await running.stop();
  }
}

/** The flood runs in a thread of its own, so that it does not hold up the client that measures. */
function startFlood(apiUrl: string, { method, path, body, headers = {}, key }: Asked, apiKey: string) {
  const workerData: Flood = {
    url: apiUrl + path,
    method,
    headers: {
      ...(key === null ? {} : { Authorization: `Bearer ${key ?? apiKey}` }),
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...headers,
    },
    body: body === undefined ? undefined : JSON.stringify(body),
    connections: CONNECTIONS,
  };
  const worker = new Worker(new URL("load/flood.ts", import.meta.url), { workerData });
  return {
    /** Statuses of the answers since the last call, each with its number. */
    answers: async (): Promise<[number, number][]> => {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread, not a window
      worker.postMessage("answers");
      const [answers] = (await once(worker, "message")) as [[number, number][]];
      return answers;
    },
    stop: () => worker.terminate(),
  };
}

function at(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN;
}

/** Of requests that the parties make in turn, one after another. */
async function latencies(
  apiUrl: string,
  askedBy: (own: Party) => Asked,
  parties: readonly Party[],
  count: number,
): Promise<number[]> {
  const all: number[] = [];
  for (let i = 0; i < count; i++) {
    const own = parties[i % parties.length] as Party;
    const asked = askedBy(own);
    const startedAt = performance.now();
    const { status, text } = await ask(apiUrl, asked, own.apiKey);
    const took = performance.now() - startedAt;
    all.push(took);
    if (status !== 200) throw new Error(`${asked.path} answered ${status}: ${text.slice(0, 300)}`);
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, PACE_MS - took)));
  }
  return all;
}

async function ask(
  apiUrl: string,
  { method, path, body, headers = {}, key }: Asked,
  apiKey: string,
): Promise<{ status: number; text: string }> {
  const response = await fetch(apiUrl + path, {
    method,
    headers: {
      ...(key === null ? {} : { Authorization: `Bearer ${key ?? apiKey}` }),
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}
