import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { UsageResponse } from "../../src/contract/index.ts";
import { type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { startPushServer } from "../support/push-server.ts";
import { freePorts, runStart, type ServiceProcess, spawnService } from "./support/process.ts";

/** `npm start` on a PostgreSQL server, as docs/self-hosting.md describes it. */

const RUN = fileURLToPath(new URL("../../src/tooling/local/run.mjs", import.meta.url));
const TIMEOUT_MS = 600_000;

let server: PostgresServer;
let folder: string;
let databaseUrl: string;
const cleanups: (() => unknown)[] = [];

beforeAll(async () => {
  server = await startPostgres();
  folder = mkdtempSync(path.join(os.tmpdir(), "code-context-server-"));
  databaseUrl = await server.createDatabase();
});
afterAll(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

async function started(env: Record<string, string> & { DATA_DIR: string }): Promise<ServiceProcess> {
  const running = await spawnService(env);
  cleanups.push(() => running.kill());
  return running;
}

async function npmRun(env: Record<string, string>, ...args: string[]): Promise<string> {
  const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, [RUN, ...args], {
    env: { ...inherited, DATABASE_URL: "", ...env },
  });
  return stdout;
}

async function search({ service }: ServiceProcess): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(`${service.apiUrl}/search`, {
    method: "POST",
    headers: { Authorization: `Bearer ${service.apiKey}`, "Content-Type": "application/json" },
    body: JSON.stringify({ query: "closeSession" }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

async function index({ service }: ServiceProcess, url: string): Promise<void> {
  const response = await fetch(`${service.apiUrl}/index`, {
    method: "POST",
    headers: { Authorization: `Bearer ${service.workerToken}`, "Content-Type": "application/json" },
    body: JSON.stringify({ workspaceId: service.workspaceId, source: { type: "git", url } }),
  });
  expect(await response.json()).toMatchObject({ ok: true });
}

/** Asks for a vector, in `count` requests at once. */
async function embed({ service }: ServiceProcess, count: number): Promise<number[]> {
  const request = () =>
    fetch(`${service.apiUrl}/embed`, {
      method: "POST",
      headers: { Authorization: `Bearer ${service.apiKey}`, "Content-Type": "application/json" },
      body: JSON.stringify({ input: ["a"] }),
    }).then(({ status }) => status);
  return Promise.all(Array.from({ length: count }, request));
}

async function usage({ service }: ServiceProcess): Promise<UsageResponse> {
  const response = await fetch(`${service.apiUrl}/usage`, { headers: { Authorization: `Bearer ${service.apiKey}` } });
  return (await response.json()) as UsageResponse;
}

function everythingIn(dataDir: string): string {
  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map((file) => readFileSync(path.join(file.parentPath, file.name), "latin1")).join("\n");
}

it(
  "moves from the embedded database to a server and back, and survives the loss of the server",
  async () => {
    const host = await startPushServer({
      "src/session.ts": "/** Ends a session. */\nexport function closeSession(id: string) {\n  return id;\n}\n",
    });
    cleanups.push(() => host[Symbol.asyncDispose]());
    const DATA_DIR = path.join(folder, "data");
    const env = { DATA_DIR, GIT_ALLOW_LOCAL: "true", ...(await freePorts()) };
    const onServer = { ...env, DATABASE_URL: databaseUrl };

    const embedded = await started(env);
    await index(embedded, host.url);
    const { body: answer } = await search(embedded);
    expect(answer).toMatchObject({ results: [{ path: "src/session.ts" }] });
    const before = await usage(embedded);
    const batches = 10;
    for (let sent = 0; sent < batches; sent++) expect(await embed(embedded, 12)).toEqual(Array(12).fill(200));
    expect(await embedded.stop()).toBe(0);

    // To the server, with the service stopped; the objects stay where they are.
    const toServer = path.join(folder, "to-server");
    const withoutObjects = ["--without-objects", "--json"];
    await npmRun(env, "admin", "backup", "--to", toServer, ...withoutObjects);
    expect(await npmRun(onServer, "migrate")).toMatch(/migrations applied/);
    await npmRun(onServer, "admin", "restore", "--from", toServer, ...withoutObjects);

    const moved = await started(onServer);
    const { apiKey, workerToken, tenantId: firstTenant, workspaceId, apiUrl, siteUrl } = embedded.service;
    expect(moved.service).toMatchObject({ apiKey, workerToken, tenantId: firstTenant, workspaceId, apiUrl, siteUrl });
    // The answers just before the stop are paid for.
    expect(await usage(moved)).toMatchObject({
      credits: { used: before.credits.used + 12 * batches },
      calls: { embed: before.calls.embed + 12 * batches },
    });
    expect((await search(moved)).body).toEqual(answer);
    const password = new URL(databaseUrl).password;
    expect(everythingIn(DATA_DIR) + moved.output()).not.toContain(password);

    // Another installation may not use the database of this one.
    const stranger = await runStart({ ...onServer, ...(await freePorts()), DATA_DIR: path.join(folder, "stranger") });
    expect(stranger).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^error: .* another ENCRYPTION_KEY: DATABASE_URL: /),
    });

    // The commands work with the variable and without it, and reach the objects of the running service.
    const { tenantId } = JSON.parse(
      await npmRun(onServer, "admin", "tenant", "create", "--name", "Acme", "--json"),
    ) as { tenantId: string };
    expect(await npmRun(env, "admin", "tenant", "set", "--tenant", tenantId, "--shared-index", "on")).toContain(
      tenantId,
    );
    const whole = JSON.parse(
      await npmRun(onServer, "admin", "backup", "--to", path.join(folder, "whole"), "--json"),
    ) as { objects: number };
    expect(whole.objects).toBeGreaterThan(0);

    await server.stop();
    expect((await search(moved)).status).toBe(503);
    await server.start();
    await expect.poll(async () => (await search(moved)).status).toBe(200);
    await index(moved, host.url);
    expect(moved.output()).toMatch(/the database does not answer \(.*\n.*the database answers again/);
    await moved.stop();

    // And back.
    const back = path.join(folder, "back");
    await npmRun(onServer, "admin", "backup", "--to", back, ...withoutObjects);
    await npmRun(env, "admin", "restore", "--from", back, ...withoutObjects);
    const again = await started(env);
    expect((await search(again)).body).toEqual(answer);
    expect(await npmRun(env, "admin", "tenant", "set", "--tenant", tenantId, "--shared-index", "off")).toContain(
      tenantId,
    );
    await again.stop();
  },
  TIMEOUT_MS,
);

it(
  "lets two services start at once on a new database, and one of them keeps it",
  async () => {
    const url = await server.createDatabase();
    const start = async (name: string) => {
      const env = { DATABASE_URL: url, DATA_DIR: path.join(folder, name), ...(await freePorts()) };
      return spawnService(env).then(
        (running) => running.kill().then(() => "started"),
        (error: unknown) => String(error),
      );
    };
    const outcomes = await Promise.all([start("one"), start("two")]);
    expect(outcomes.toSorted()).toEqual([expect.stringContaining("another ENCRYPTION_KEY"), "started"]);
  },
  TIMEOUT_MS,
);
