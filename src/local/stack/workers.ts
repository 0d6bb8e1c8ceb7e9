/** The three Workers under Miniflare: their own configuration files, adapted to run without Cloudflare. */
import { setTimeout } from "node:timers/promises";
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare, type V4WorkerOptions } from "miniflare";
import { unstable_getMiniflareWorkerOptions as readWorkerOptions, unstable_readConfig as readConfig } from "wrangler";
import { bundleFolder, bundleModules, configPath, type WorkerName } from "../bundles/bundles.ts";
import { errnoOf, StartError } from "../errors.ts";
import { type Front, startFront } from "./front.ts";
import { guardChildren } from "./guard.ts";
import type { LogSink } from "./logs.ts";
import { createMailbox } from "./mailbox.ts";
import { freePort } from "./ports.ts";
import type { LocalSecrets } from "./local-secrets.ts";

export const API_NAME = "code-context-api";
export const INDEXER_NAME = "code-context-indexer";
export const SITE_NAME = "code-context-site";

const HOST = "127.0.0.1";
/** Longest time that requests in flight get to finish when the service stops. */
const DRAIN_MS = 10_000;
/** What was answered is settled and on disk well within this time; see `src/gate/commits.ts`. */
const SETTLE_MS = 250;
const SNAPSHOTS_BUCKET = "code-context-snapshots";
const SNAPSHOTS_BINDING = "SNAPSHOTS";

export interface WorkersOptions {
  apiUrl: string;
  port: number;
  sitePort: number;
  databaseUrl: string;
  secrets: LocalSecrets;
  /** Variables and secrets by name; only those that a Worker declares reach it. */
  vars: Record<string, string>;
  /** Folder of R2 objects and Durable Objects. */
  objectsDir: string;
  /** Folder that mail is written to. */
  mailDir: string;
  /** Port on 127.0.0.1 where DevTools find the Workers; none when absent. */
  inspectorPort?: number | undefined;
  logs: LogSink;
}

export interface RunningWorkers {
  miniflare: Miniflare;
  /** Where the api Worker listens itself, behind the front. */
  apiPort: number;
  /** Reports the service as stopping and waits until no request is in flight: at least `noticeMs`, at most `DRAIN_MS`. */
  drain(noticeMs: number): Promise<void>;
  stop(): Promise<void>;
}

/**
 * An isolate has 128 MB in production, and V8 collects accordingly; without a limit it would rather grow. All isolates, those of
 * Miniflare's simulators too, share one process here, which keeps what it once took.
 *
 * - Collect early: small young generations (smaller ones promote more than they save), and a first full collection at 8 MB of old objects instead of 32. The simulator of R2
 *   turns the bytes of an upload into ten times their size of small objects; it held 60 MB of them before its first collection.
 * - Leave grammars to the baseline compiler. The lexer of one is a single function of up to 430 KB (Swift; Bash 160 KB), which the
 *   optimizing compiler takes up after a few lines of source, with some 600 bytes of memory for each of its own. Parsing
 *   alone is a quarter slower for it, a run hardly: it waits for the database.
 *
 * Indexing 57,000 files (tc39/test262) grows workerd by 125 MB with these flags, for moments by 135 to 150 MB, and by 450 MB
 * without any. The indexer's own isolate is 55 MB of that.
 */
const V8_FLAGS = [
  "--optimize-for-size",
  "--max-semi-space-size=4",
  "--initial-old-space-size=8",
  "--no-wasm-tier-up",
  "--no-wasm-dynamic-tiering",
].join(" ");

/** Starts workerd with everything in it. */
export async function startWorkers(options: WorkersOptions): Promise<RunningWorkers> {
  // Miniflare's own entry; behind the front only its S3 endpoint is used.
  const entryPort = await freePort();
  const apiPort = await freePort();
  const sitePort = await freePort();
  const vars = {
    MAIL_PROVIDER: "local",
    ...options.vars,
    DATABASE_URL: options.databaseUrl,
    ENCRYPTION_KEY: options.secrets.encryptionKey,
    R2_ACCESS_KEY_ID: options.secrets.r2AccessKeyId,
    R2_SECRET_ACCESS_KEY: options.secrets.r2SecretAccessKey,
    SNAPSHOTS_S3_URL: `${options.apiUrl}/cdn-cgi/local/r2/s3/${SNAPSHOTS_BUCKET}`,
  };
  let releaseGuard = () => {};
  const guard = () => {
    releaseGuard();
    releaseGuard = guardChildren("workerd");
  };
  const s3Credentials = {
    accessKeyId: options.secrets.r2AccessKeyId,
    secretAccessKey: options.secrets.r2SecretAccessKey,
  };
  // The only way in: Miniflare has no option for it.
  process.env["MINIFLARE_WORKERD_V8_FLAGS"] ??= V8_FLAGS;
  const miniflare = withoutSignalHandlers(
    () =>
      new Miniflare(
        convertV4MiniflareOptions({
          host: HOST,
          port: entryPort,
          ...(options.inspectorPort !== undefined && { inspectorPort: options.inspectorPort, inspectorHost: HOST }),
          cf: false,
          log: new SinkLog(options.logs),
          handleStructuredLogs: ({ message }) => options.logs.write(message),
          unsafeHandleRuntimeRestart: guard,
          logRequests: false,
          resourcePersistencePath: options.objectsDir,
          telemetry: { enabled: false },
          workers: [
            { ...workerOptions("api", vars, s3Credentials), ...listening(apiPort) },
            workerOptions("indexer", vars),
            withMailbox({ ...workerOptions("site", vars), ...listening(sitePort) }, options.mailDir),
          ],
        }),
      ),
  );
  try {
    await miniflare.ready;
  } catch (error) {
    await miniflare.dispose().catch(() => undefined);
    const reason =
      (error instanceof Error ? error.message : String(error)).trim().split("\n").at(-1) ?? "no reason given";
    throw errnoOf(error) === "ERR_ADDRESS_IN_USE"
      ? new StartError(`a port was taken while starting (${reason}): set PORT and SITE_PORT to free ports`)
      : new StartError(`the Workers runtime cannot start: ${reason}`);
  }
  guard();
  const fronts: Front[] = [];
  const closeFronts = () => Promise.all(fronts.map((front) => front.close()));
  try {
    fronts.push(await startFront({ port: options.port, variable: "PORT", target: apiPort, s3: entryPort }));
    fronts.push(await startFront({ port: options.sitePort, variable: "SITE_PORT", target: sitePort }));
  } catch (error) {
    await closeFronts();
    await miniflare.dispose().catch(() => undefined);
    throw error;
  }
  return {
    miniflare,
    apiPort,
    drain: async (noticeMs) => {
      await Promise.race([
        Promise.all([...fronts.map((front) => front.drain()), setTimeout(noticeMs)]),
        setTimeout(DRAIN_MS, undefined, { ref: false }),
      ]);
    },
    stop: async () => {
      await closeFronts();
      await setTimeout(SETTLE_MS);
      await miniflare.dispose();
      releaseGuard();
    },
  };
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Miniflare exits the process at a signal at once; whoever started the stack stops it in order instead. */
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
  const file = configPath(worker);
  const config = readConfig({ config: file }, { hideWarnings: true });
  // Without their names: wrangler would look for the secrets in its own places and complain.
  const { workerOptions: base } = readWorkerOptions({ ...config, secrets: undefined });
  const { modulesRules: _modulesRules, ...rest } = base;
  const declared = [...Object.keys(config.vars), ...(config.secrets?.required ?? [])];
  const bindings = Object.fromEntries(declared.map((name) => [name, vars[name] ?? textOf(config.vars[name])]));
  return {
    ...rest,
    name: config.name ?? worker,
    modules: bundleModules(worker),
    modulesRoot: bundleFolder(worker),
    bindings,
    ...(s3Credentials && {
      r2Buckets: { [SNAPSHOTS_BINDING]: { id: SNAPSHOTS_BUCKET, s3Credentials } },
    }),
  };
}

/** Adds the service that takes mail; only the local stack has one, so it is in no configuration file. */
function withMailbox(worker: V4WorkerOptions, folder: string): V4WorkerOptions {
  return { ...worker, serviceBindings: { ...worker.serviceBindings, MAILBOX: createMailbox(folder) } };
}

function listening(port: number): Pick<V4WorkerOptions, "unsafeDirectSockets"> {
  return { unsafeDirectSockets: [{ host: HOST, port }] };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);
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
