/** The service under test, as test files use it. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { inject } from "vitest";
import { type Db, openDb } from "../../../src/service/db/client.ts";
import { createTenant, createWorkspace, type NewTenant, type TenantInput } from "../../../src/service/tenancy/index.ts";
import type { TestService } from "./stack.ts";

const RUN = fileURLToPath(new URL("../../../src/tooling/local/run.mjs", import.meta.url));
const CLI_TIMEOUT_MS = 30_000;

export function service(): TestService {
  return inject("service");
}

/** The service's database, for what cannot be seen over HTTP. */
export function database(): Db {
  return openDb(service().databaseUrl);
}

export interface ApiRequest {
  method?: string;
  /** API key or worker token. */
  key?: string;
  /** Sent as JSON; a string goes as it is. */
  body?: unknown;
  headers?: Record<string, string>;
  /** Go through the site Worker's proxy. */
  site?: boolean;
  signal?: AbortSignal;
}

/** A request to the service; POST when it has a body. */
export function api(path: string, request: ApiRequest = {}): Promise<Response> {
  const { key, body, headers, site = false, signal } = request;
  const { apiUrl, siteUrl } = service();
  return fetch(site ? `${siteUrl}/api/v1${path}` : `${apiUrl}${path}`, {
    method: request.method ?? (body === undefined ? "GET" : "POST"),
    headers: {
      ...(key !== undefined && { Authorization: `Bearer ${key}` }),
      ...(body !== undefined && { "Content-Type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    ...(signal && { signal }),
    redirect: "manual",
  });
}

export type TestTenant = NewTenant & { workspaceId: string };

/** A tenant of its own for a test, with a workspace. */
export async function newTenant(input: Partial<TenantInput> & { repo?: string } = {}): Promise<TestTenant> {
  const { repo, ...tenant } = input;
  const db = database();
  const made = await createTenant(db, { name: "test", sharedIndex: true, ...tenant });
  const { workspaceId } = await createWorkspace(db, { tenantId: made.tenantId, ...(repo !== undefined && { repo }) });
  return { ...made, workspaceId };
}

/** `npm run admin -- … --json` for real; the parsed line. Rejects when it fails. */
export function admin(...args: string[]): Promise<Record<string, unknown>> {
  return adminOn(service().dataDir, ...args);
}

/** The same on the service that runs on another data directory. */
export async function adminOn(dataDir: string, ...args: string[]): Promise<Record<string, unknown>> {
  const env = { ...process.env, DATA_DIR: dataDir, DATABASE_URL: "" };
  const { stdout } = await promisify(execFile)(process.execPath, [RUN, "admin", ...args, "--json"], {
    env,
    timeout: CLI_TIMEOUT_MS,
  });
  return JSON.parse(stdout) as Record<string, unknown>;
}

/** Runs the indexer's daily job now and waits for it. */
export async function runScheduled(): Promise<void> {
  const response = await fetch(`${service().controlUrl}/scheduled`, { method: "POST" });
  if (!response.ok) throw new Error(`the scheduled job failed: ${await response.text()}`);
}
