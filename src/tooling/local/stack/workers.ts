/** The three Workers under Miniflare: their own configuration files, adapted to run without Cloudflare. */
import { setTimeout } from "node:timers/promises";
import {
  convertV4MiniflareOptions,
  Log,
  LogLevel,
  Miniflare,
  type MiniflareOptions,
  type V4WorkerOptions,
} from "miniflare";
import { bundleFolder, bundleModules, bundleOptions, type WorkerName } from "../bundles/bundles.ts";
import { localBucketUrl, SNAPSHOTS_BUCKET } from "./bucket-url.ts";
import { errnoOf, OperatorError } from "../../errors.ts";
import { type Front, startFront } from "./front.ts";
import { guardChildren } from "./guard.ts";
import type { LogSink } from "./logs.ts";
import { createMailbox } from "./mailbox.ts";
import type { LocalSecrets } from "./local-secrets.ts";

const API_NAME = "code-context-api";
const SITE_NAME = "code-context-site";
export const INDEXER_NAME = "code-context-indexer";
const HOST = "127.0.0.1";
/** Time limit for requests in flight when the service stops. */
const DRAIN_MS = 10_000;
const SNAPSHOTS_BINDING = "SNAPSHOTS";

interface WorkersOptions {
  /** Public URL of the api; prefix of signed snapshot URLs. */
  apiUrl: string;
  /** Public URL of the site; prefix of links. */
  siteUrl: string;
  /** Address at which the api and the site listen; everything behind them listens on 127.0.0.1. */
  host: string;
  port: number;
  sitePort: number;
  databaseUrl: string;
  secrets: LocalSecrets;
  /** Variables and secrets by name; a Worker gets only those that it declares. */
  vars: Record<string, string>;
  /** Folder of R2 objects and Durable Objects. */
  objectsDir: string;
  /** Folder that mail is written to. */
  mailDir: string;
  /** Port on 127.0.0.1 where DevTools find the Workers; none when absent. */
  inspectorPort?: number | undefined;
  /** Chooses the ports behind the public ones. */
  choosePort: () => Promise<number>;
  logs: LogSink;
}

/** The parts of a Worker's handle that are used here; the types of Miniflare are those of another runtime version. */
interface WorkerHandle {
  fetch(url: string): Promise<Response>;
  scheduled(event: { scheduledTime: Date; cron: string }): Promise<{ outcome: string }>;
}

export interface RunningWorkers {
  /** Sends a request to the api Worker past the front, so that no rate limit by address applies. */
  fetchApi(path: string): Promise<Response>;
  /** Runs a Worker's job of a schedule in its wrangler.toml and waits for it. Throws when it fails. */
  runScheduled(worker: "indexer" | "site", cron: string): Promise<void>;
  /** Direct address of the api Worker, behind the front. */
  apiPort: number;
  /** Reloads the bundles. */
  reload(): Promise<void>;
  /** Reports the service as stopping and waits until no request is in flight: at least `noticeMs`, at most `DRAIN_MS`. */
  drain(noticeMs: number): Promise<void>;
  stop(): Promise<void>;
}

/** Starts workerd with everything in it. */
export async function startWorkers(options: WorkersOptions): Promise<RunningWorkers> {
  const { miniflare, miniflareOptions, guard, ports } = await startRuntime(options);
  const fronts: Front[] = [];
  const closeFronts = () => Promise.all(fronts.map((front) => front.close()));
  try {
    const { host, port } = options;
    fronts.push(await startFront({ host, port, variable: "PORT", target: ports.api, s3: ports.entry }));
    fronts.push(await startFront({ host, port: options.sitePort, variable: "SITE_PORT", target: ports.site }));
  } catch (error) {
    await closeFronts();
    await miniflare.dispose().catch(() => undefined);
    throw error;
  }
  const handleOf = async (name: string) => (await miniflare.getWorker(name)) as unknown as WorkerHandle;
  return {
    fetchApi: async (path) => (await handleOf(API_NAME)).fetch(`http://localhost${path}`),
    runScheduled: async (worker, cron) => {
      const handle = await handleOf(worker === "site" ? SITE_NAME : INDEXER_NAME);
      const { outcome } = await handle.scheduled({ scheduledTime: new Date(), cron });
      if (outcome !== "ok") throw new Error(`the ${worker}'s scheduled job ended with ${outcome}`);
    },
    apiPort: ports.api,
    reload: async () => {
      await miniflare.setOptions(miniflareOptions());
      guard.renew();
    },
    drain: async (noticeMs) => {
      await Promise.race([
        Promise.all([...fronts.map((front) => front.drain()), setTimeout(noticeMs)]),
        setTimeout(DRAIN_MS, undefined, { ref: false }),
      ]);
    },
    stop: async () => {
      await closeFronts();
      await miniflare.dispose();
      guard.release();
    },
  };
}

interface Runtime {
  miniflare: Miniflare;
  /** Built anew from the current bundles. */
  miniflareOptions: () => MiniflareOptions;
  guard: { renew(): void; release(): void };
  ports: Ports;
}

/** Of 127.0.0.1. `entry` is Miniflare's own; behind the front only its S3 endpoint is used. */
interface Ports {
  entry: number;
  api: number;
  site: number;
}

/** Another process may take a port between its choice and its use. */
const MAX_STARTS = 3;

/** Starts workerd on free ports. Throws `OperatorError` if it cannot. */
async function startRuntime(options: WorkersOptions): Promise<Runtime> {
  let release = () => {};
  const guard = {
    renew: () => {
      release();
      release = guardChildren("workerd");
    },
    release: () => release(),
  };
  for (let starts = 1; ; starts++) {
    const { choosePort } = options;
    const ports = { entry: await choosePort(), api: await choosePort(), site: await choosePort() };
    const miniflareOptions = () => optionsOf(options, ports, guard.renew);
    const miniflare = withoutSignalHandlers(() => new Miniflare(miniflareOptions()));
    try {
      await miniflare.ready;
      guard.renew();
      return { miniflare, miniflareOptions, guard, ports };
    } catch (error) {
      await miniflare.dispose().catch(() => undefined);
      if (errnoOf(error) === "ERR_ADDRESS_IN_USE" && starts < MAX_STARTS) continue;
      const message = error instanceof Error ? error.message : String(error);
      const reason = message.trim().split("\n").at(-1) ?? "no reason given";
      throw new OperatorError(`the Workers runtime cannot start: ${reason}`);
    }
  }
}

function optionsOf(options: WorkersOptions, ports: Ports, onRestart: () => void): MiniflareOptions {
  const vars = {
    MAIL_PROVIDER: "local",
    ...options.vars,
    API_URL: options.apiUrl,
    SITE_URL: options.siteUrl,
    DATABASE_URL: options.databaseUrl,
    ENCRYPTION_KEY: options.secrets.encryptionKey,
    R2_ACCESS_KEY_ID: options.secrets.r2AccessKeyId,
    R2_SECRET_ACCESS_KEY: options.secrets.r2SecretAccessKey,
    SNAPSHOTS_S3_URL: localBucketUrl(options.apiUrl),
  };
  const s3Credentials = {
    accessKeyId: options.secrets.r2AccessKeyId,
    secretAccessKey: options.secrets.r2SecretAccessKey,
  };
  return convertV4MiniflareOptions({
    host: HOST,
    port: ports.entry,
    ...(options.inspectorPort !== undefined && { inspectorPort: options.inspectorPort, inspectorHost: HOST }),
    cf: false,
    log: new SinkLog(options.logs),
    handleStructuredLogs: ({ message }) => options.logs.write(message),
    unsafeHandleRuntimeRestart: onRestart,
    logRequests: false,
    resourcePersistencePath: options.objectsDir,
    telemetry: { enabled: false },
    workers: [
      {
        ...workerOptions("api", vars, s3Credentials),
        ...listening(ports.api),
        // Otherwise the S3 endpoint accepts only names of this machine in Host.
        routes: [`${new URL(options.apiUrl).hostname}/*`],
      },
      withMailbox({ ...workerOptions("site", vars), ...listening(ports.site) }, options.mailDir),
      workerOptions("indexer", vars),
    ],
  });
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Removes Miniflare's signal handlers, which exit immediately; the stack's owner shuts it down in order. */
function withoutSignalHandlers<T>(create: () => T): T {
  const before = new Map(SIGNALS.map((signal) => [signal, process.listeners(signal)]));
  const created = create();
  for (const [signal, listeners] of before) {
    for (const listener of process.listeners(signal)) {
      if (!listeners.includes(listener)) process.removeListener(signal, listener);
    }
  }
  return created;
}

function workerOptions(
  worker: WorkerName,
  vars: Record<string, string>,
  s3Credentials?: { accessKeyId: string; secretAccessKey: string },
): V4WorkerOptions {
  const { name, options, variables } = bundleOptions(worker);
  return {
    ...options,
    name,
    modules: bundleModules(worker),
    modulesRoot: bundleFolder(worker),
    bindings: Object.fromEntries(Object.entries(variables).map(([key, value]) => [key, vars[key] ?? value])),
    ...(s3Credentials && {
      r2Buckets: { [SNAPSHOTS_BINDING]: { id: SNAPSHOTS_BUCKET, s3Credentials } },
    }),
  };
}

/** Adds the mail service, which exists only in the local stack and therefore in no configuration file. */
function withMailbox(worker: V4WorkerOptions, folder: string): V4WorkerOptions {
  return { ...worker, serviceBindings: { ...worker.serviceBindings, MAILBOX: createMailbox(folder) } };
}

function listening(port: number): Pick<V4WorkerOptions, "unsafeDirectSockets"> {
  return { unsafeDirectSockets: [{ host: HOST, port }] };
}

/** Miniflare's own messages, which would otherwise go to the console. */
class SinkLog extends Log {
  readonly #logs: LogSink;

  constructor(logs: LogSink) {
    super(LogLevel.WARN);
    this.#logs = logs;
  }

  override log(message: string): void {
    this.#logs.write(message);
  }
}
