import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { randomBytes } from "node:crypto";
import { isLoopback } from "../../../service/db/client.ts";
import { OperatorError } from "../../errors.ts";
import { startDatabaseProcess } from "./database-process.ts";
import { migrate } from "./migrations.ts";
import { copyTemplate, ensureTemplate } from "./template.ts";
import { localSecrets, newSecrets } from "../stack/local-secrets.ts";

/** PostgreSQL closes the connection at once, and an endpoint answers; the bundles that are built meanwhile may keep this process busy. */
const PROBE_TIMEOUT_MS = 30_000;

interface DatabaseOptions {
  /** Data directory; the database is its subfolder `database`. When absent, a temporary one that is removed when the database is closed. */
  dataDir?: string;
  /** Port on 127.0.0.1; any free one when absent. */
  port?: number;
  /** Called when the database dies after it has started. */
  onFatal?: (error: Error) => void;
}

export interface RunningDatabase {
  /** Connection string with the password; `openDb` takes it. */
  url: string;
  close(): Promise<void>;
}

/**
 * Starts PostgreSQL (PGlite with pgvector) behind an endpoint of Neon's protocol on 127.0.0.1 and applies the migrations.
 * Throws `OperatorError` if the port is taken or the folder's database cannot be opened.
 */
export async function startDatabase({ dataDir, ...options }: DatabaseOptions = {}): Promise<RunningDatabase> {
  if (dataDir !== undefined) return startIn(dataDir, { ...options, isTemporary: false });
  const temporary = mkdtempSync(path.join(os.tmpdir(), "code-context-database-"));
  const remove = () => rmSync(temporary, { recursive: true, force: true });
  try {
    const database = await startIn(temporary, { ...options, isTemporary: true });
    return { url: database.url, close: () => database.close().finally(remove) };
  } catch (error) {
    remove();
    throw error;
  }
}

async function startIn(
  dataDir: string,
  { port = 0, onFatal, isTemporary }: Omit<DatabaseOptions, "dataDir"> & { isTemporary: boolean },
): Promise<RunningDatabase> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  setAsideUnfinished(dataDir);
  const folder = path.join(dataDir, "database");
  if (!existsSync(folder)) await copyTemplate(makeDatabase, folder);
  const { databasePassword: password } = localSecrets(dataDir);
  const database = await startDatabaseProcess({
    // A temporary database is that of a test, which says itself when to analyze.
    settings: { database: { type: "embedded", folder, vacuums: !isTemporary }, port, password },
    pidFile: path.join(dataDir, "database.pid"),
    explain: (message) =>
      new OperatorError(
        `the database in ${folder} cannot be opened (${message}): move it away or set DATA_DIR to another directory`,
      ),
    onFatal,
  });
  try {
    await migrate(database.url);
    writeFileSync(path.join(dataDir, READY_MARK), "");
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}

/** Makes a database with all migrations in an empty folder. */
async function makeDatabase(folder: string): Promise<void> {
  const database = await startDatabaseProcess({
    settings: {
      database: { type: "embedded", folder, vacuums: false },
      port: 0,
      password: newSecrets().databasePassword,
    },
    explain: (message) => new OperatorError(`the database cannot start: ${message}`),
  });
  try {
    await migrate(database.url);
  } finally {
    await database.close();
  }
}

export interface ServerDatabaseOptions {
  /** Maximum number of connections to the server. */
  connections?: number;
  /** Called when the endpoint dies. */
  onFatal?: (error: Error) => void;
  /** Called with a line when the server stops answering and when it answers again. */
  onNotice?: (line: string) => void;
}

/**
 * Starts an endpoint of Neon's protocol on 127.0.0.1 in front of a PostgreSQL server, without migrating its database. Throws
 * `OperatorError` that names `DATABASE_URL` if the server cannot be used. The URL of the result has a password of its own.
 */
export async function connectServer(url: string, options: ServerDatabaseOptions = {}): Promise<RunningDatabase> {
  const explain = (message: string) => new OperatorError(`DATABASE_URL: ${message}`);
  return startDatabaseProcess({
    settings: {
      database: { type: "server", url, connections: options.connections },
      port: 0,
      password: randomBytes(24).toString("base64url"),
    },
    explain,
    onFatal: options.onFatal,
    onNotice: options.onNotice,
  });
}

/**
 * Makes the database of a `DATABASE_URL` reachable over Neon's protocol: Neon itself and a local stack's endpoint are so already;
 * in front of any other PostgreSQL an endpoint is started. Does not migrate. Throws `OperatorError` as `connectServer` does.
 */
export async function openDatabaseUrl(url: string, options: ServerDatabaseOptions = {}): Promise<RunningDatabase> {
  return (await speaksHttp(url)) ? { url, close: async () => {} } : connectServer(url, options);
}

async function speaksHttp(url: string): Promise<boolean> {
  // A URL with the folder of a socket may have no host.
  if (!URL.canParse(url)) return false;
  const { hostname, port } = new URL(url);
  if (hostname.endsWith(".neon.tech")) return true;
  if (!isLoopback(hostname) || port === "") return false;
  // PostgreSQL closes the connection; an endpoint answers, if only that the password is missing.
  const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS);
  return fetch(`http://${hostname}:${port}/sql`, { method: "POST", body: '{"query":"select 1"}', signal }).then(
    () => true,
    () => false,
  );
}

/** Makes the database that new ones are copies of if it is missing. */
export async function prepareTemplate(): Promise<void> {
  await ensureTemplate(makeDatabase);
}

/** Present once a database is complete. */
const READY_MARK = "database-made";

/** Renames the incomplete database of a first start that was killed; it cannot be opened. */
function setAsideUnfinished(dataDir: string): void {
  const folder = path.join(dataDir, "database");
  if (!existsSync(folder) || existsSync(path.join(dataDir, READY_MARK))) return;
  rmSync(`${folder}.unfinished`, { recursive: true, force: true });
  renameSync(folder, `${folder}.unfinished`);
}
