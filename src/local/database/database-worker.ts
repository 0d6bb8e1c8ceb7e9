/**
 * Thread that owns the database: PGlite and the HTTP endpoint in front of it. On one thread, a request's bytes go from the
 * socket to PostgreSQL and back without message passing, and a long query blocks only other queries.
 */
import { on, once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { PGlite } from "@electric-sql/pglite";
import { vector } from "@electric-sql/pglite-pgvector";
import { startAutovacuum } from "./autovacuum.ts";
import { createNeonEndpoint } from "./neon-endpoint.ts";

/** Start parameters of the thread. */
export interface DatabaseWorkerData {
  /** Folder of the database; in memory when absent. */
  folder: string | undefined;
  /** Archive from which a new database is created, instead of initialising one. */
  template: string | undefined;
  port: number;
  password: string;
}

/** Messages to the thread. */
export type DatabaseWorkerCommand = { type: "dump"; file: string } | { type: "close" };

/** Reports of the thread. */
export type DatabaseWorkerReport =
  | { type: "ready"; port: number }
  | { type: "dumped" }
  | { type: "failed"; message: string; code: string | undefined };

const LAST_LINES = 4;

async function main(): Promise<void> {
  const port = parentPort;
  if (!port) throw new Error("runs as a worker thread only");
  const { folder, template, port: listenPort, password } = workerData as DatabaseWorkerData;
  const report = (message: DatabaseWorkerReport) => port.postMessage(message);
  const complaints: string[] = [];

  let database: PGlite;
  try {
    database = await PGlite.create({
      dataDir: folder === undefined ? "memory://" : folder,
      extensions: { vector },
      ...(template !== undefined && { loadDataDir: new Blob([readFileSync(template)]) }),
      onStderr: (line) => {
        if (/\b(?:FATAL|PANIC|ERROR):/.test(line)) complaints.push(line);
        if (complaints.length > LAST_LINES) complaints.shift();
        return false;
      },
    });
    await database.exec("create extension if not exists vector");
  } catch (error) {
    const message = complaints.join("; ") || (error instanceof Error ? error.message : String(error));
    return report({ type: "failed", message, code: undefined });
  }

  const execute = (message: Uint8Array) => database.execProtocolRawSync(message);
  const server = createNeonEndpoint({
    execute,
    password,
    onFatal: (error) => {
      report({ type: "failed", message: error.message, code: undefined });
      process.exit(1);
    },
  });
  server.on("error", (error: NodeJS.ErrnoException) =>
    report({ type: "failed", message: error.message, code: error.code }),
  );
  server.listen(listenPort, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  // A database in memory is that of a test, which says itself when to analyze.
  const stopAutovacuum = folder === undefined ? () => {} : startAutovacuum(execute);
  report({ type: "ready", port: typeof address === "object" && address ? address.port : listenPort });

  for await (const [command] of on(port, "message") as AsyncIterable<[DatabaseWorkerCommand]>) {
    if (command.type === "close") break;
    const archive = await database.dumpDataDir("none");
    writeFileSync(command.file, new Uint8Array(await archive.arrayBuffer()));
    report({ type: "dumped" });
  }
  stopAutovacuum();
  server.closeAllConnections();
  server.close();
  await database.close();
  process.exit(0);
}

await main();
