/**
 * Process that serves a database: the HTTP endpoint, and behind it PGlite or a pool of connections to a PostgreSQL server. In one
 * process, a request's bytes go from the socket to the database and back without message passing, and a long query of PGlite blocks
 * only other queries.
 */
import { on, once } from "node:events";
import module from "node:module";
import { createNeonEndpoint, type Session } from "./neon-endpoint.ts";

/** What the process serves. */
export interface DatabaseSettings {
  database:
    | { type: "embedded"; folder: string; vacuums: boolean }
    | { type: "server"; url: string; connections: number | undefined };
  /** Of the endpoint, on 127.0.0.1; 0 for any free one. */
  port: number;
  /** The password that the endpoint requires. */
  password: string;
}

/** Messages to the process; `open` is the first. They are not arguments, which any user of the machine can read. */
export type DatabaseCommand = { type: "open"; settings: DatabaseSettings } | { type: "close" };

/** Reports of the process. */
export type DatabaseReport =
  | { type: "ready"; port: number }
  | { type: "closed" }
  | { type: "notice"; line: string }
  | { type: "failed"; message: string; code?: string | undefined };

interface Served {
  acquire(): Promise<Session>;
  close(): Promise<void>;
}

function report(message: DatabaseReport, sent: () => void = () => undefined): void {
  process.send?.(message, sent);
}

async function main(): Promise<void> {
  const commands = on(process, "message") as AsyncIterable<[DatabaseCommand]> & AsyncIterator<[DatabaseCommand]>;
  const first: IteratorResult<[DatabaseCommand]> = await commands.next();
  const [opening] = first.value as [DatabaseCommand];
  if (opening.type !== "open") throw new Error(`expected the settings and got "${opening.type}"`);
  const { database: source, port: listenPort, password } = opening.settings;

  let database: Served;
  try {
    database = await open(source, (line) => report({ type: "notice", line }));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return report({ type: "failed", message });
  }

  const server = createNeonEndpoint({
    acquire: () => database.acquire(),
    password,
    onFatal: (error) => {
      report({ type: "failed", message: error.message }, () => process.exit(1));
    },
  });
  server.on("error", (error: NodeJS.ErrnoException) =>
    report({ type: "failed", message: error.message, code: error.code }),
  );
  server.listen(listenPort, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  report({ type: "ready", port: typeof address === "object" && address ? address.port : listenPort });
  // Node writes its cache of compiled modules when a process exits, and this one is killed.
  module.flushCompileCache?.();

  // The only command that follows is to close.
  await commands.next();
  server.closeAllConnections();
  server.close();
  await database.close();
  report({ type: "closed" });
}

/** Either module is loaded only when it is needed. */
async function open(source: DatabaseSettings["database"], notice: (line: string) => void): Promise<Served> {
  if (source.type === "embedded") return (await import("./embedded.ts")).openEmbedded(source);
  const { openServer } = await import("./server-open.ts");
  return openServer(source.url, { connections: source.connections, onNotice: notice });
}

// A signal of the terminal or of systemd reaches this process too; the service closes the database when it has drained.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);
// The service has died: nothing may use its folder after it.
process.on("disconnect", () => process.exit(1));
await main();
