/** Starts and stops the thread that serves a database. */
import { Worker } from "node:worker_threads";
import type { DatabaseWorkerCommand, DatabaseWorkerData, DatabaseWorkerReport } from "./database-worker.ts";
import { OperatorError } from "../../errors.ts";

interface DatabaseThreadOptions {
  data: DatabaseWorkerData;
  /** The error for a database that cannot be opened, from what the thread says of it. */
  explain: (message: string) => Error;
  /** Called when the database dies after it has started. */
  onFatal?: ((error: Error) => void) | undefined;
  /** Called with a line about a server that stops or starts answering. */
  onNotice?: ((line: string) => void) | undefined;
}

interface DatabaseThread {
  /** Connection string with the password; `openDb` takes it. */
  url: string;
  /** Writes an archive of an embedded database to a file. */
  dump(file: string): Promise<void>;
  close(): Promise<void>;
}

/** Resolves when the endpoint listens. Throws `OperatorError` if its port is taken, or what `explain` returns. */
export async function startDatabaseThread(options: DatabaseThreadOptions): Promise<DatabaseThread> {
  const { data, explain, onFatal, onNotice } = options;
  const worker = new Worker(new URL("./database-worker.ts", import.meta.url), { workerData: data, execArgv: [] });
  const exited = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
  let started = false;
  let closing = false;
  const port = await new Promise<number>((resolve, reject) => {
    const fail = (error: Error) => {
      if (!started) reject(error);
      else if (!closing) onFatal?.(error);
    };
    worker.on("message", (report: DatabaseWorkerReport) => {
      if (report.type === "notice") return onNotice?.(report.line);
      if (report.type === "dumped") return;
      if (report.type === "ready") {
        started = true;
        return resolve(report.port);
      }
      if (started) return fail(new Error(`the database has failed: ${report.message}`));
      fail(report.code === "EADDRINUSE" ? OperatorError.portTaken(data.port) : explain(report.message));
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
  return {
    url: `postgres://local:${data.password}@127.0.0.1:${port}/postgres`,
    dump: async (file) => {
      const dumped = new Promise<void>((resolve, reject) => {
        worker.on("message", (report: DatabaseWorkerReport) => report.type === "dumped" && resolve());
        worker.once("exit", () => reject(new Error("the database has stopped")));
      });
      send({ type: "dump", file });
      await dumped;
    },
    close: async () => {
      closing = true;
      send({ type: "close" });
      await exited;
    },
  };
}
