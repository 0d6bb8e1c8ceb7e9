/**
 * A service whose Workers are killed at a chosen statement and started again on the same data. The database is outside of it, as in
 * production; the Workers' queues are lost with the process.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { expect } from "vitest";
import { startDatabase } from "../../../src/tooling/local/database/database.ts";
import { freePort } from "../../../src/tooling/local/stack/ports.ts";
import { DEVELOPMENT_VARS } from "../../../src/tooling/local/stack/environment.ts";
import { type RunningService, startService } from "../../../src/tooling/local/stack/service.ts";
import { keepCertificates } from "./certificates.ts";
import { type StatementProxy, startStatementProxy, type Stop } from "./statement-proxy.ts";

export class KillableService {
  readonly #options: Parameters<typeof startService>[0];
  readonly #proxy: StatementProxy;
  readonly #closeDatabase: () => Promise<void>;
  /** Of the database, past the proxy. */
  readonly databaseUrl: string;
  readonly apiUrl: string;
  readonly siteUrl: string;
  readonly dataDir: string;
  #running: RunningService | undefined;
  readonly #restoreCertificates = keepCertificates();

  private constructor(
    options: Parameters<typeof startService>[0],
    proxy: StatementProxy,
    database: { url: string; close(): Promise<void> },
  ) {
    this.#options = options;
    this.#proxy = proxy;
    this.#closeDatabase = () => database.close();
    this.databaseUrl = database.url;
    this.dataDir = options.dataDir;
    this.apiUrl = `http://127.0.0.1:${options.port}`;
    this.siteUrl = `http://127.0.0.1:${options.sitePort}`;
  }

  /** `vars` are variables of the Workers, `more` other options of the stack. */
  static async start(
    vars: Record<string, string>,
    more: Pick<Parameters<typeof startService>[0], "publicApiUrl" | "publicSiteUrl" | "choosePort"> = {},
  ): Promise<KillableService> {
    const folder = mkdtempSync(path.join(os.tmpdir(), "code-context-killable-"));
    const database = await startDatabase();
    const proxy = await startStatementProxy(database.url);
    const options = {
      dataDir: folder,
      port: await freePort(),
      sitePort: await freePort(),
      databaseUrl: proxy.url,
      vars: { ...DEVELOPMENT_VARS, ...vars },
      ...more,
    };
    const service = new KillableService(options, proxy, database);
    await service.restart();
    return service;
  }

  /** Waits for the Workers, which Miniflare restarts after a kill, and lets them reach their database again. */
  async resume(): Promise<void> {
    this.#proxy.resume();
    const isHealthy = () => fetch(`${this.apiUrl}/healthz`).then((response) => response.ok);
    await expect.poll(isHealthy).toBe(true);
  }

  /** Starts the whole service, or starts it again after a kill. Where the restart of the Workers is enough, `resume` takes half the CPU time. */
  async restart(): Promise<void> {
    await this.stop();
    this.#proxy.resume();
    this.#running = await startService(this.#options);
  }

  /** Stops the Workers, or what a kill has left: the front and the lock of the data directory. */
  async stop(): Promise<void> {
    await this.#running?.stop();
    this.#running = undefined;
  }

  /** Kills the Workers with SIGKILL as soon as they reach a statement; resolves when they are dead. */
  killAt(stop: Stop): Promise<void> {
    return this.#proxy.stopAt(stop, () => {
      const workers = execFileSync("pgrep", ["-P", String(process.pid), "-x", "workerd"], { encoding: "utf8" });
      for (const pid of workers.trim().split("\n")) process.kill(Number(pid), "SIGKILL");
    });
  }

  /** Runs the indexer's daily job. Rejects if the Workers die meanwhile. */
  async runScheduled(): Promise<void> {
    await this.#running?.stack.runScheduled();
  }

  async close(): Promise<void> {
    await this.stop();
    await this.#proxy[Symbol.asyncDispose]();
    await this.#closeDatabase();
    this.#restoreCertificates();
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}
