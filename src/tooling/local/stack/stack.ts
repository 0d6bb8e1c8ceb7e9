/**
 * The whole service on this machine: database, and the production bundles of the three Workers under workerd with local
 * queues, R2 and Durable Objects, all kept in one data directory.
 */
import { accessSync, chmodSync, constants, readdirSync } from "node:fs";
import path from "node:path";
import { makeFolder } from "../../../cli/machine/folders.ts";
import { openDb } from "../../../service/db/client.ts";
import { saveCredentialKey } from "../../../service/tenancy/index.ts";
import { TenancyError } from "../../../service/tenancy/errors.ts";
import { buildBundles } from "../bundles/bundles.ts";
import { openDatabaseUrl, startDatabase } from "../database/database.ts";
import { errnoOf, OperatorError } from "../../errors.ts";
import { lockDataDir } from "./lock.ts";
import { growInLargeSteps } from "./miniflare-growth.ts";
import { createLogSink, type LogSink } from "./logs.ts";
import { migrate } from "../database/migrations.ts";
import { claimPort, freePort } from "./ports.ts";
import { CREDENTIALS_FILE, type LocalSecrets, localSecrets, SECRETS_FILE } from "./local-secrets.ts";
import { passExtraCertificatesOnly } from "./certificates.ts";
import { startSchedules } from "./schedules.ts";
import type { RunningWorkers } from "./workers.ts";

export interface StackOptions {
  dataDir: string;
  /** Address to listen on; default 127.0.0.1. */
  host?: string;
  /** Public URL of the api, if not at `host`; prefix of signed snapshot URLs. */
  publicApiUrl?: string | undefined;
  /** Public URL of the site, if not at `host`; prefix of links in mail. */
  publicSiteUrl?: string | undefined;
  /** Port of the api; 0 for any free one. */
  port: number;
  /** Port of the site; 0 for any free one. */
  sitePort: number;
  /** A PostgreSQL server, or a database that speaks Neon's protocol, to use instead of the embedded one. */
  databaseUrl?: string | undefined;
  /** Maximum number of connections to the server of `databaseUrl`. */
  databaseConnections?: number | undefined;
  /** Variables of the Workers by name; override the defaults of their configuration. */
  vars?: Record<string, string>;
  /** Port on 127.0.0.1 where DevTools find the Workers; none when absent. */
  inspectorPort?: number;
  /** Print the Workers' logs instead of writing them to the data directory. */
  logToConsole?: boolean;
  /** Chooses the Workers' ports behind the public ones; `freePort` by default. For tests in which another program takes one. */
  choosePort?: () => Promise<number>;
  /** Called once when a part of the running stack dies. */
  onFatal?: (error: Error) => void;
  /** Called at the start of slow steps. */
  onProgress?: (step: string) => void;
}

export interface RunningStack {
  apiUrl: string;
  siteUrl: string;
  databaseUrl: string;
  dataDir: string;
  /** Direct address of the api Worker, for benchmarks that must not measure the local front. */
  apiWorkerPort: number;
  /** Runs the indexer's daily job now and waits for it. */
  runScheduled(): Promise<void>;
  /** Rebuilds the Workers whose sources have changed and restarts them. Returns their names. */
  rebuild(): Promise<string[]>;
  /** Answers `/healthz` with 503 `stopping` and waits until no request is in flight: at least `noticeMs`, at most 10 s. */
  drain(noticeMs: number): Promise<void>;
  stop(): Promise<void>;
}

const LOOPBACK = "127.0.0.1";
const EVERY_ADDRESS = "0.0.0.0";
/** On Cloudflare every minute; here mail waits after a kill no longer than runs do. */
const OUTBOX_CRON = "* * * * *";
const OUTBOX_INTERVAL_MS = 10_000;
const READY_TIMEOUT_MS = 60_000;
const READY_POLL_MS = 100;

/**
 * Starts everything and resolves when `/healthz` answers ok. On a `OperatorError` (a taken port, a locked directory) everything that was
 * started is stopped again.
 */
export async function startStack(options: StackOptions): Promise<RunningStack> {
  const stops: (() => Promise<void> | void)[] = [];
  const stop = async () => {
    for (const step of stops.splice(0).toReversed()) await step();
  };
  try {
    return await start(options, stops, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(
  options: StackOptions,
  stops: (() => Promise<void> | void)[],
  stop: () => Promise<void>,
): Promise<RunningStack> {
  const { dataDir, onProgress } = options;
  openDataDir(dataDir);
  stops.push(await lockDataDir(dataDir));
  const secrets = localSecrets(dataDir);
  const port = options.port === 0 ? await freePort() : options.port;
  const sitePort = options.sitePort === 0 ? await freePort() : options.sitePort;
  const { host = LOOPBACK } = options;
  await claimPort(port, "PORT", host);
  await claimPort(sitePort, "SITE_PORT", host);

  onProgress?.("preparing the database and the Workers");
  // Wait for both even if one fails, so that whatever has started is stopped.
  passExtraCertificatesOnly(dataDir);
  const steps = [openDatabase(options, secrets, stops), buildBundles()] as const;
  // Not imported at the top: loading Miniflare takes half a second, in which the database's process is at work already.
  const stopPatching = growInLargeSteps();
  const workersModule = import("./workers.ts").finally(stopPatching);
  await Promise.allSettled([...steps, workersModule]);
  const [database] = await Promise.all(steps);
  const logs: LogSink = createLogSink(options.logToConsole === true ? undefined : path.join(dataDir, "logs"));
  stops.push(() => logs.close());

  const reachedAt = host === EVERY_ADDRESS ? LOOPBACK : host;
  const apiUrl = `http://${reachedAt}:${port}`;
  const siteUrl = `http://${reachedAt}:${sitePort}`;
  const { startWorkers } = await workersModule;
  const workers = await startWorkers({
    apiUrl: options.publicApiUrl ?? apiUrl,
    siteUrl: options.publicSiteUrl ?? siteUrl,
    host,
    port,
    sitePort,
    databaseUrl: database,
    secrets,
    vars: options.vars ?? {},
    objectsDir: path.join(dataDir, "objects"),
    mailDir: path.join(dataDir, "mail"),
    inspectorPort: options.inspectorPort,
    choosePort: options.choosePort ?? freePort,
    logs,
  });
  stops.push(() => workers.stop());
  await waitUntilHealthy(workers, apiUrl, siteUrl);

  const onError = (error: unknown) => logs.write(`scheduled job: ${asError(error).message}`);
  const schedules = startSchedules({ dataDir, run: (cron) => workers.runScheduled("indexer", cron), onError });
  stops.push(() => schedules.stop());
  const sendMail = () => void workers.runScheduled("site", OUTBOX_CRON).catch(onError);
  const outbox = setInterval(sendMail, OUTBOX_INTERVAL_MS);
  outbox.unref();
  stops.push(() => clearInterval(outbox));
  sendMail();
  return {
    apiUrl,
    siteUrl,
    databaseUrl: database,
    dataDir,
    apiWorkerPort: workers.apiPort,
    runScheduled: () => schedules.runDaily(),
    rebuild: async () => {
      const built = await buildBundles();
      if (built.length > 0) await workers.reload();
      return built;
    },
    drain: (noticeMs) => workers.drain(noticeMs),
    stop,
  };
}

/** Names that may exist in an otherwise empty data directory. */
const FRESH = new Set(["lock", ".gitkeep", ".DS_Store"]);

function openDataDir(dataDir: string): void {
  let names: string[];
  try {
    makeFolder(dataDir);
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
    names = readdirSync(dataDir);
  } catch (error) {
    const code = errnoOf(error) ?? "unknown error";
    throw new OperatorError(
      `the data directory ${dataDir} cannot be used (${code}): set DATA_DIR to one that can be written`,
    );
  }
  if (!names.includes(SECRETS_FILE) && names.some((name) => !FRESH.has(name))) {
    throw new OperatorError(
      names.includes(CREDENTIALS_FILE)
        ? `${dataDir} is a data directory without its ${SECRETS_FILE}: put the file back, or set DATA_DIR to an empty or a new directory`
        : `${dataDir} holds files that are not this service's: set DATA_DIR to an empty or a new directory`,
    );
  }
  try {
    // The folder may have existed, readable by others, before it held secrets.
    chmodSync(dataDir, 0o700);
  } catch (error) {
    throw new OperatorError(
      `the permissions of ${dataDir} cannot be set to 0700 (${errnoOf(error) ?? "unknown error"}): set DATA_DIR to a directory of your own`,
    );
  }
}

async function openDatabase(
  options: StackOptions,
  secrets: LocalSecrets,
  stops: (() => Promise<void> | void)[],
): Promise<string> {
  const { dataDir, databaseUrl, databaseConnections, onFatal } = options;
  if (databaseUrl === undefined) {
    const database = await startDatabase({ dataDir, ...(onFatal && { onFatal }) });
    stops.push(() => database.close());
    await claimDatabase(database.url, secrets, `${dataDir}: put back the ${SECRETS_FILE} that belongs to its database`);
    return database.url;
  }
  const database = await openDatabaseUrl(databaseUrl, {
    ...(databaseConnections !== undefined && { connections: databaseConnections }),
    ...(onFatal && { onFatal }),
    onNotice: (line) => console.error(line),
  });
  stops.push(() => database.close());
  await migrate(database.url);
  await claimDatabase(
    database.url,
    secrets,
    `DATABASE_URL: use the DATA_DIR of that installation (or its ${SECRETS_FILE}), or an empty database`,
  );
  return database.url;
}

/** Throws `OperatorError`, with the remedy, if the database was set up with another key, whose credentials would stop working. */
async function claimDatabase(url: string, { encryptionKey }: LocalSecrets, remedy: string): Promise<void> {
  try {
    await saveCredentialKey(openDb(url), encryptionKey);
  } catch (error) {
    if (!(error instanceof TenancyError)) throw error;
    throw new OperatorError(`the database belongs to an installation with another ENCRYPTION_KEY: ${remedy}`);
  }
}

/**
 * Polls the api's health past the front, so that no rate limit applies; then requests each public port once.
 */
async function waitUntilHealthy(workers: RunningWorkers, apiUrl: string, siteUrl: string): Promise<void> {
  const deadline = Date.now() + READY_TIMEOUT_MS;
  for (;;) {
    const response = await workers.fetchApi("/healthz");
    const text = await response.text();
    if (response.ok) break;
    if (Date.now() > deadline) {
      throw new OperatorError(`the service is not healthy after ${READY_TIMEOUT_MS / 1000} s: ${text.slice(0, 300)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, READY_POLL_MS));
  }
  for (const url of [`${apiUrl}/healthz`, `${siteUrl}/api/v1/healthz`]) {
    const response = await fetch(url, { signal: AbortSignal.timeout(READY_TIMEOUT_MS) }).catch((error: unknown) =>
      asError(error),
    );
    if (response instanceof Error || !response.ok)
      throw new OperatorError(
        `${url} does not answer: ${response instanceof Error ? response.message : response.status}`,
      );
    await response.body?.cancel();
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
