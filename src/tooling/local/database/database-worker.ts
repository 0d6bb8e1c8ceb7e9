/**
 * Thread that serves a database: the HTTP endpoint, and behind it PGlite or a pool of connections to a PostgreSQL server. On one
 * thread, a request's bytes go from the socket to the database and back without message passing, and a long query of PGlite blocks
 * only other queries.
 */
import { on, once } from "node:events";
import { parentPort, workerData } from "node:worker_threads";
import { createNeonEndpoint, type Session } from "./neon-endpoint.ts";

/** What the thread is started with, as its `workerData`. */
export interface DatabaseWorkerData {
  database:
    | { type: "embedded"; folder: string | undefined; template: string | undefined }
    | { type: "server"; url: string; connections: number | undefined };
  /** Of the endpoint, on 127.0.0.1; 0 for any free one. */
  port: number;
  /** The password that the endpoint requires. */
  password: string;
}

/** Messages to the thread. */
export type DatabaseWorkerCommand = { type: "dump"; file: string } | { type: "close" };

/** Reports of the thread. */
export type DatabaseWorkerReport =
  | { type: "ready"; port: number }
  | { type: "dumped" }
  | { type: "notice"; line: string }
  | { type: "failed"; message: string; code: string | undefined };

interface Served {
  acquire(): Promise<Session>;
  dump?(file: string): Promise<void>;
  close(): Promise<void>;
}

async function main(): Promise<void> {
  const port = parentPort;
  if (!port) throw new Error("runs as a worker thread only");
  const { database: source, port: listenPort, password } = workerData as DatabaseWorkerData;
  const report = (message: DatabaseWorkerReport) => port.postMessage(message);

  let database: Served;
  try {
    database = await open(source, (line) => report({ type: "notice", line }));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return report({ type: "failed", message, code: undefined });
  }

  const server = createNeonEndpoint({
    acquire: () => database.acquire(),
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
  report({ type: "ready", port: typeof address === "object" && address ? address.port : listenPort });

  for await (const [command] of on(port, "message") as AsyncIterable<[DatabaseWorkerCommand]>) {
    if (command.type === "close") break;
    await database.dump?.(command.file);
    report({ type: "dumped" });
  }
  server.closeAllConnections();
  server.close();
  await database.close();
  process.exit(0);
}

/** Either module is loaded only when it is needed. */
async function open(source: DatabaseWorkerData["database"], notice: (line: string) => void): Promise<Served> {
  if (source.type === "embedded") return (await import("./embedded.ts")).openEmbedded(source);
  const { openServer } = await import("./server-open.ts");
  return openServer(source.url, { connections: source.connections, onNotice: notice });
}

await main();
