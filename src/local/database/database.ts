import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Worker } from "node:worker_threads";
import type { DatabaseWorkerCommand, DatabaseWorkerData, DatabaseWorkerReport } from "./database-worker.ts";
import { StartError } from "../errors.ts";
import { migrate } from "./migrations.ts";
import { saveTemplate, templatePath } from "./template.ts";
import { localSecrets, newSecrets } from "../stack/local-secrets.ts";

export interface DatabaseOptions {
  /** Data directory; the database is its subfolder `database`. In memory when absent. */
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
 * Throws `StartError` if the port is taken or the folder's database cannot be opened.
 */
export async function startDatabase(options: DatabaseOptions = {}): Promise<RunningDatabase> {
  const { dataDir, port = 0 } = options;
  if (dataDir !== undefined) mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const folder = dataDir === undefined ? undefined : path.join(dataDir, "database");
  if (dataDir !== undefined) setAsideUnfinished(dataDir);
  const isNew = folder === undefined || !existsSync(folder);
  const template = templatePath();
  // PGlite creates world-writable files, so the folder itself is restricted to the owner.
  if (folder !== undefined) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { databasePassword: password } = dataDir === undefined ? newSecrets() : localSecrets(dataDir);
  const worker = new Worker(new URL("./database-worker.ts", import.meta.url), {
    workerData: {
      folder,
      template: isNew && existsSync(template) ? template : undefined,
      port,
      password,
    } satisfies DatabaseWorkerData,
    execArgv: [],
  });
  const exited = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
  let started = false;
  let closing = false;
  const actualPort = await new Promise<number>((resolve, reject) => {
    const fail = (error: Error) => {
      if (!started) reject(error);
      else if (!closing) options.onFatal?.(error);
    };
    worker.on("message", (report: DatabaseWorkerReport) => {
      if (report.type === "ready") {
        started = true;
        return resolve(report.port);
      }
      if (report.type === "dumped") return;
      if (started) return fail(new Error(`the database has failed: ${report.message}`));
      fail(
        report.code === "EADDRINUSE" ? StartError.portTaken(port) : new StartError(cannotOpen(folder, report.message)),
      );
    });
    worker.on("error", (error) => fail(error instanceof Error ? error : new Error(String(error))));
    worker.on("exit", () => fail(new Error("the database has stopped")));
  }).catch(async (error: unknown) => {
    await worker.terminate();
    throw error;
  });
  const send = (command: DatabaseWorkerCommand) => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread, not a window
    worker.postMessage(command);
  };
  const database: RunningDatabase = {
    url: `postgres://local:${password}@127.0.0.1:${actualPort}/postgres`,
    close: async () => {
      closing = true;
      send({ type: "close" });
      await exited;
    },
  };
  try {
    await migrate(database.url);
    if (isNew && !existsSync(template)) {
      await saveTemplate(template, async (file) => {
        const dumped = new Promise<void>((resolve, reject) => {
          worker.on("message", (report: DatabaseWorkerReport) => report.type === "dumped" && resolve());
          worker.once("exit", () => reject(new Error("the database has stopped")));
        });
        send({ type: "dump", file });
        await dumped;
      });
    }
    if (dataDir !== undefined) writeFileSync(path.join(dataDir, READY_MARK), "");
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}

/** Creates the archive for new databases if it is missing. */
export async function prepareTemplate(): Promise<void> {
  if (existsSync(templatePath())) return;
  const database = await startDatabase();
  await database.close();
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

function cannotOpen(folder: string | undefined, message: string): string {
  return folder === undefined
    ? `the database cannot start: ${message}`
    : `the database in ${folder} cannot be opened (${message}): move it away or set DATA_DIR to another directory`;
}
