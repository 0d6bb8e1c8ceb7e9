/**
 * Starts and stops the process that serves a database. It is a process and not a thread, because V8 may abort when several threads of
 * one process compile and free WebAssembly (nodejs/node#64500): PGlite is one, and Node strips types with another.
 */
import { type ChildProcess, fork } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import module from "node:module";
import path from "node:path";
import type { DatabaseCommand, DatabaseReport, DatabaseSettings } from "./database-server.ts";
import { OperatorError } from "../../errors.ts";
import { processRecord, runningProcess } from "../stack/processes.ts";

interface DatabaseProcessOptions {
  settings: DatabaseSettings;
  /** Where the process is recorded while it runs, so that no second one opens the same folder; not recorded when absent. */
  pidFile?: string | undefined;
  /** The error for a database that cannot be opened, from what the process says of it. */
  explain: (message: string) => Error;
  /** Called when the database dies after it has started. */
  onFatal?: ((error: Error) => void) | undefined;
  /** Called with a line about a server that stops or starts answering. */
  onNotice?: ((line: string) => void) | undefined;
}

interface DatabaseProcess {
  /** Connection string with the password; `openDb` takes it. */
  url: string;
  close(): Promise<void>;
}

/** Resolves when the endpoint listens. Throws `OperatorError` if its port is taken, or what `explain` returns. */
export async function startDatabaseProcess(options: DatabaseProcessOptions): Promise<DatabaseProcess> {
  const { settings, pidFile, explain, onFatal, onNotice } = options;
  if (pidFile !== undefined) await awaitOrphan(pidFile);
  const child = fork(new URL("./database-server.ts", import.meta.url), {
    execArgv: [],
    env: { ...process.env, NODE_COMPILE_CACHE: module.getCompileCacheDir?.() ?? process.env["NODE_COMPILE_CACHE"] },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const exited = new Promise<void>((resolve) => child.once("close", () => resolve()));
  if (pidFile !== undefined && child.pid !== undefined)
    writeFileSync(pidFile, processRecord(child.pid), { mode: 0o600 });
  let started = false;
  let closing = false;
  const port = await new Promise<number>((resolve, reject) => {
    const fail = (error: Error) => {
      if (!started) reject(error);
      else if (!closing) onFatal?.(error);
    };
    child.on("message", (report: DatabaseReport) => {
      if (report.type === "notice") return onNotice?.(report.line);
      // Everything is on disk; V8 would take 0.35 s to give back the memory of PGlite.
      if (report.type === "closed") return void child.kill("SIGKILL");
      if (report.type === "ready") {
        started = true;
        return resolve(report.port);
      }
      if (started) return fail(new Error(`the database has failed: ${report.message}`));
      fail(report.code === "EADDRINUSE" ? OperatorError.portTaken(settings.port) : explain(report.message));
    });
    child.on("error", fail);
    child.on("exit", (code, signal) => fail(new Error(`the database has stopped (${signal ?? `exit code ${code}`})`)));
    send(child, { type: "open", settings });
  }).catch(async (error: unknown) => {
    child.kill("SIGKILL");
    await exited;
    if (pidFile !== undefined) rmSync(pidFile, { force: true });
    throw error;
  });
  return {
    url: `postgres://local:${settings.password}@127.0.0.1:${port}/postgres`,
    close: async () => {
      closing = true;
      send(child, { type: "close" });
      await exited;
      if (pidFile !== undefined) rmSync(pidFile, { force: true });
    },
  };
}

/** A process that has ended reports that itself; what cannot be sent to it is dropped. */
function send(child: ChildProcess, command: DatabaseCommand): void {
  child.send(command, () => undefined);
}

const ORPHAN_POLL_MS = 20;
const ORPHAN_TIMEOUT_MS = 30_000;

/**
 * Waits for the database of a service that was killed: its process ends by itself, but only after its current statement, and two
 * processes would damage the folder. Throws `OperatorError` if it does not end in time.
 */
async function awaitOrphan(pidFile: string): Promise<void> {
  const deadline = Date.now() + ORPHAN_TIMEOUT_MS;
  for (let pid = runningProcess(pidFile); pid !== undefined; pid = runningProcess(pidFile)) {
    if (Date.now() > deadline) {
      throw new OperatorError(`the database in ${path.dirname(pidFile)} is in use by process ${pid}: stop it`);
    }
    await new Promise((resolve) => setTimeout(resolve, ORPHAN_POLL_MS));
  }
}
