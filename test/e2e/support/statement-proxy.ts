/** Sits between the Workers and their database and stops at a chosen statement, so that tests can kill a process there. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A statement on its way, as the driver of Neon's protocol sends it. */
export interface Statement {
  query: string;
  params: readonly (string | null)[];
}

/** Where to stop: before a statement reaches the database, or after it was carried out and before its answer leaves. */
export interface Stop {
  at: "before" | "after";
  matches: (statement: Statement) => boolean | Promise<boolean>;
  /** The statement that matches, counted from 1; default the first. */
  occurrence?: number;
}

export interface StatementProxy extends AsyncDisposable {
  /** Connection string of the database, by way of the proxy. */
  url: string;
  /** Runs `action` at the stop. From then on every statement is refused until `resume`. Resolves when the action has run. */
  stopAt(stop: Stop, action: () => void): Promise<void>;
  resume(): void;
}

interface Armed extends Stop {
  left: number;
  reached: () => void;
}

export async function startStatementProxy(databaseUrl: string): Promise<StatementProxy> {
  const target = new URL(databaseUrl);
  let armed: Armed | undefined;
  let isStopped = false;

  const reaches = async ({ query, params }: Statement): Promise<boolean> => {
    const stop = armed;
    if (!stop || !(await stop.matches({ query, params: params ?? [] }))) return false;
    stop.left--;
    return stop.left === 0 && armed === stop;
  };
  const stopNow = () => {
    isStopped = true;
    armed?.reached();
    armed = undefined;
  };
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    // The stack asks whether Neon's protocol is spoken here.
    if (request.method !== "POST") return void response.writeHead(405).end();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const parsed = JSON.parse(body.toString()) as Statement | { queries: Statement[] };
    const statements = "queries" in parsed ? parsed.queries : [parsed];
    let isReached = false;
    for (const statement of statements) isReached ||= await reaches(statement);
    if (isReached && armed?.at === "before") stopNow();
    if (isStopped) return void response.destroy();
    const headers = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
      /^(neon-|content-type)/.test(name) && typeof value === "string" ? [[name, value]] : [],
    );
    // The connection string names the proxy's port; the database checks the password only.
    const answer = await fetch(`http://${target.host}/sql`, { method: "POST", headers, body });
    const bytes = Buffer.from(await answer.arrayBuffer());
    if (isReached) stopNow();
    if (isStopped) return void response.destroy();
    response.writeHead(answer.status, { "content-type": "application/json" }).end(bytes);
  };
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const url = new URL(databaseUrl);
  url.port = String(port);
  return {
    url: url.href,
    stopAt: (stop, action) =>
      new Promise((resolve) => {
        const reached = () => {
          action();
          resolve();
        };
        armed = { ...stop, left: stop.occurrence ?? 1, reached };
      }),
    resume: () => {
      isStopped = false;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
