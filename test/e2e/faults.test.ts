import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { RunStatus, UsageResponse } from "../../src/contract/index.ts";
import { openDb } from "../../src/service/db/client.ts";
import { type RunningDatabase, startDatabase } from "../../src/tooling/local/database/database.ts";
import { freePort } from "../../src/tooling/local/stack/ports.ts";
import { createTenant, createWorkspace } from "../../src/service/tenancy/index.ts";
import { type GitBackend, startGitBackend } from "../support/git-backend.ts";
import { GitRepo } from "../support/git-repo.ts";
import { type ModelServer, startModelServer } from "../support/model-server.ts";
import { freePorts, type ServiceProcess, spawnService } from "./support/process.ts";

/**
 * A service of its own, whose database can be stopped and whose files can be limited in size, as a full disk would.
 * DATABASE_AWAY_MS=60000 keeps the database away for longer.
 */
const DATABASE_AWAY_MS = Number(process.env["DATABASE_AWAY_MS"] ?? 3_000);
const FILES = 150;
/** Below the size of a staged shard, above that of the service's own small databases. */
const FILE_LIMIT_BYTES = 300_000;
const PROVIDER_KEY = randomBytes(16).toString("hex");

let folder: string;
let models: ModelServer;
let databasePort: number;
let databaseServer: RunningDatabase;
let running: ServiceProcess;
let repos: string;
let git: GitBackend;

const startOwnDatabase = () => startDatabase({ dataDir: path.join(folder, "database"), port: databasePort });

/**
 * A file beyond its limit ends a process that does not ignore the signal. A full disk sends none, so neither does this one: a shell
 * that ignores it becomes workerd.
 */
function workerdThatSurvivesItsLimit(): string {
  const { default: workerd } = createRequire(createRequire(import.meta.url).resolve("miniflare"))("workerd") as {
    default: string;
  };
  const file = path.join(folder, "workerd");
  writeFileSync(file, `#!/bin/sh\ntrap '' XFSZ\nexec "${workerd}" "$@"\n`, { mode: 0o755 });
  return file;
}

/** Sets the largest size of a file that workerd may write. */
function limitFiles(bytes: number | "unlimited"): void {
  const workerd = execFileSync("pgrep", ["-P", String(running.pid), "-x", "workerd"], { encoding: "utf8" }).trim();
  execFileSync("prlimit", ["--pid", workerd, `--fsize=${bytes}:`]);
}

beforeAll(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), "code-context-faults-"));
  databasePort = await freePort();
  databaseServer = await startOwnDatabase();
  models = await startModelServer({ tokens: 1, dimension: 4, apiKey: PROVIDER_KEY });
  running = await spawnService({
    EMBED_PROVIDER: "openai",
    EMBED_BASE_URL: models.baseUrl,
    EMBED_MODEL: "model",
    EMBED_API_KEY: PROVIDER_KEY,
    DATA_DIR: path.join(folder, "service"),
    MINIFLARE_WORKERD_PATH: workerdThatSurvivesItsLimit(),
    DATABASE_URL: databaseServer.url,
    ...(await freePorts()),
  });
  repos = mkdtempSync(path.join(os.tmpdir(), "code-context-faults-repos-"));
  const large = new GitRepo({ root: repos, name: "large" });
  for (let i = 0; i < FILES; i++) {
    const lines = Array.from({ length: 60 }, (_, n) => `export const key${n} = "${randomBytes(75).toString("hex")}";`);
    large.write(`src/file${i}.ts`, `export function work${i}() {}\n${lines.join("\n")}\n`);
  }
  large.commit();
  new GitRepo({ root: repos, name: "small" }).write("one.ts", "export const one = 1;\n").commit();
  git = await startGitBackend(repos);
});

afterAll(async () => {
  await running.kill();
  await databaseServer.close();
  await models.close();
  await git.close();
  rmSync(repos, { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
});

interface Tenant {
  tenantId: string;
  workspaceId: string;
  apiKey: string;
  workerToken: string;
}

async function newTenant(): Promise<Tenant> {
  const db = openDb(databaseServer.url);
  const made = await createTenant(db, { name: "faults" });
  return { ...made, ...(await createWorkspace(db, { tenantId: made.tenantId })) };
}

const send = (route: string, key: string, body?: unknown, headers: Record<string, string> = {}) =>
  fetch(`${running.service.apiUrl}${route}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json", ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

const index = (own: Tenant, name: "large" | "small", headers: Record<string, string> = {}) =>
  send(
    "/index",
    own.workerToken,
    { workspaceId: own.workspaceId, source: { type: "git", url: git.url(name) } },
    headers,
  );

/** Asserts that a route says when to come back. */
async function expectAway(response: Response, status: number): Promise<void> {
  expect(response.status, await response.text()).toBe(status);
  expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
}

const workersLog = () => readFileSync(path.join(folder, "service", "logs", "workers.log"), "utf8");

/** The health probe calls the provider's root. */
const modelCalls = () => models.requests.filter((request) => request.path.endsWith("/embeddings")).length;

it("delays a run while the database is away, and counts every token the provider has", async () => {
  const [own, stranger] = [await newTenant(), await newTenant()];
  const embed = () => send("/embed", own.apiKey, { input: ["text"] });
  expect((await embed()).status).toBe(200);
  const { runId } = (await (await index(own, "large", { Prefer: "respond-async" })).json()) as { runId: string };
  await expect.poll(modelCalls, { interval: 20 }).toBeGreaterThan(3);

  await databaseServer.close();
  const until = Date.now() + DATABASE_AWAY_MS;
  do {
    // The gate knows this key, and keeps the credits itself.
    expect((await embed()).status).toBe(200);
    await expectAway(await send("/embed", stranger.apiKey, { input: ["text"] }), 503);
    await expectAway(await send(`/symbols?name=work1&workspaceId=${own.workspaceId}`, own.apiKey), 503);
    await expectAway(await index(own, "small"), 502);
    await expectAway(await send(`/index/${runId}`, own.workerToken), 502);
    await new Promise((resolve) => setTimeout(resolve, DATABASE_AWAY_MS / 6));
  } while (Date.now() < until);
  databaseServer = await startOwnDatabase();

  const status = async () => (await (await send(`/index/${runId}`, own.workerToken)).json()) as RunStatus;
  await expect.poll(async () => (await status()).state, { interval: 200 }).toBe("succeeded");
  expect(await status()).toMatchObject({ result: { fileCount: FILES, symbolCount: 61 * FILES } });
  // The model server reports one token a call.
  const usage = async () => {
    const response = await send("/usage", own.apiKey);
    if (!response.ok) return `${response.status} ${await response.text()}`;
    const { tokens, indexTokens } = (await response.json()) as UsageResponse;
    return tokens.embed + indexTokens;
  };
  await expect.poll(usage, { interval: 500 }).toBe(modelCalls());
});

it.skipIf(process.platform !== "linux")(
  "takes a run up again when the disk has space, and runs those of others meanwhile",
  async () => {
    const [own, other] = [await newTenant(), await newTenant()];
    limitFiles(FILE_LIMIT_BYTES);
    const large = index(own, "large");
    await expect
      .poll(() => git.requests.some(({ url }) => url.startsWith("/large/") && url.endsWith("upload-pack")))
      .toBe(true);
    const small = await index(other, "small");
    expect(small.status, await small.text()).toBe(200);
    const search = await send("/search", own.apiKey, { query: "work", workspaceId: own.workspaceId });
    expect(await search.json()).toMatchObject({ code: "NO_INDEX" });
    await expect.poll(workersLog).toContain("the object store failed to store an object");
    limitFiles("unlimited");
    const answer = await large;
    expect(answer.status, await answer.clone().text()).toBe(200);
    expect(await answer.json()).toMatchObject({ fileCount: FILES, symbolCount: 61 * FILES });
  },
);

it("keeps the provider's key to itself when the provider repeats it", async () => {
  const { apiKey } = await newTenant();
  models.fault({ kind: "status", status: 400 }, 1);
  const refused = await send("/embed", apiKey, { input: ["text"] });
  expect(refused.status).toBe(502);
  await expect.poll(workersLog).toContain("UPSTREAM_ERROR");
  for (const text of [await refused.text(), workersLog(), running.output()]) expect(text).not.toContain(PROVIDER_KEY);
});
