import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Fault, ModelServerOptions } from "./model-faults.ts";
import { answerFor, type Answer } from "./model-wire.ts";

/**
 * A model server for tests. Implements the documented wire format of one provider over real HTTP on 127.0.0.1, answers with
 * deterministic vectors and scores (`expectedVector`, `expectedScore`), logs its requests, and injects faults.
 */

export type { Fault, ModelApi, ModelServerOptions, TokenCount } from "./model-faults.ts";
export { expectedScore, expectedVector } from "./model-wire.ts";

export interface LoggedRequest {
  path: string;
  headers: IncomingMessage["headers"];
  body: Record<string, unknown>;
  /** Milliseconds since the epoch. */
  receivedAt: number;
  /** Resolves to whether the client disconnected before the answer was complete. */
  aborted: Promise<boolean>;
}

export interface ModelServer {
  /** Value for `EMBED_BASE_URL`: `http://127.0.0.1:PORT/v1` (`/v2` for Cohere). */
  readonly baseUrl: string;
  readonly port: number;
  /** In order of arrival. */
  readonly requests: LoggedRequest[];
  /** Highest number of concurrent requests so far. */
  readonly maxInFlight: number;
  /** Injects a fault into the next `times` requests (default: all). Faults are queued. */
  fault(fault: Fault, times?: number): void;
  /** Sends the answers of all `held` requests. */
  release(): void;
  /** Drops all faults and the log. */
  reset(): void;
  /** Resolves when `count` requests have arrived since the start or the last `reset`. */
  received(count: number): Promise<void>;
  /** Ends every connection and stops listening. */
  close(): Promise<void>;
}

export async function startModelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
  const api = options.api ?? "openai";
  const faults: { fault: Fault; times: number }[] = [];
  const requests: LoggedRequest[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  const held: (() => void)[] = [];
  let inFlight = 0;
  let maxInFlight = 0;

  const nextFault = (): Fault | undefined => {
    const head = faults[0];
    if (head === undefined) return undefined;
    head.times -= 1;
    if (head.times <= 0) faults.shift();
    return head.fault;
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    inFlight += 1;
    maxInFlight = Math.max(maxInFlight, inFlight);
    const { promise: aborted, resolve: settleAborted } = Promise.withResolvers<boolean>();
    response.on("close", () => {
      inFlight -= 1;
      settleAborted(!response.writableFinished);
    });
    const body = await readJson(request);
    const path = request.url ?? "/";
    requests.push({ path, headers: request.headers, body, receivedAt: Date.now(), aborted });
    for (const waiter of waiting) if (requests.length >= waiter.count) waiter.resolve();
    const fault = nextFault();
    if (fault?.kind === "held") await new Promise<void>((resolve) => held.push(resolve));
    else if (fault !== undefined && (await misbehave(fault, request, response, body))) return;
    const authorised = options.apiKey === undefined || request.headers.authorization === `Bearer ${options.apiKey}`;
    const answer = authorised ? answerFor(api, path, body, options, fault?.kind) : unauthorised(request);
    send(response, answer, fault);
  };

  // A connection that is closed as idle while a Worker sends on it loses the request.
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    handle(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/${api === "cohere" ? "v2" : "v1"}`,
    port,
    requests,
    get maxInFlight() {
      return maxInFlight;
    },
    fault: (fault, times = Infinity) => void faults.push({ fault, times }),
    release: () => {
      for (const resolve of held.splice(0)) resolve();
    },
    reset: () => {
      faults.length = 0;
      requests.length = 0;
      maxInFlight = inFlight;
    },
    received: (count) =>
      new Promise((resolve) => {
        if (requests.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
    close: () => closeServer(server),
  };
}

async function readJson(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  try {
    return JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
  } catch {
    return {};
  }
}

/** An error that reveals host, key and model, as those of real servers do. */
function indiscreetError(request: IncomingMessage, body: Record<string, unknown>): string {
  const message = `request to ${request.headers.host} with ${request.headers.authorization} for ${String(body["model"])} failed`;
  return JSON.stringify({ error: { message, type: "server_error" } });
}

function unauthorised(request: IncomingMessage): Answer {
  return { status: 401, text: indiscreetError(request, {}) };
}

/** Injects a fault. Returns true if the request was answered, or is not to be answered. */
async function misbehave(
  fault: Exclude<Fault, { kind: "held" }>,
  request: IncomingMessage,
  response: ServerResponse,
  body: Record<string, unknown>,
): Promise<boolean> {
  switch (fault.kind) {
    case "hang":
      return true;
    case "hang-mid-body":
    case "reset-mid-body":
      response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
      response.write('{"data": [');
      if (fault.kind === "reset-mid-body") {
        // Give the head time to be sent, so that the client loses the connection during the body.
        await new Promise((resolve) => setTimeout(resolve, 20));
        request.socket.resetAndDestroy();
      }
      return true;
    case "reset":
      request.socket.resetAndDestroy();
      return true;
    case "status":
      if (fault.retryAfter !== undefined) response.setHeader("retry-after", fault.retryAfter);
      send(response, { status: fault.status, text: fault.body ?? indiscreetError(request, body) });
      return true;
    case "redirect":
      response.setHeader("location", fault.location);
      send(response, { status: 307, text: "" });
      return true;
    case "html":
      response.writeHead(200, { "content-type": "text/html" }).end("<html><body>Welcome to nginx</body></html>");
      return true;
    case "cut-json":
      send(response, { status: 200, text: '{"data": [{"index": 0, "embed' });
      return true;
    case "error-in-2xx":
      send(response, { status: 200, text: indiscreetError(request, body) });
      return true;
    case "json":
      send(response, { status: 200, text: JSON.stringify(fault.value) });
      return true;
    case "slow":
      await new Promise((resolve) => setTimeout(resolve, fault.delayMs));
      break;
    case "padding":
    case "too-few":
    case "too-many":
    case "duplicate-index":
    case "missing-index":
    case "wrong-dimension":
    case "inconsistent-dimension":
    case "nan":
    case "infinity":
      break;
  }
  // The remaining faults change the answer itself.
  return false;
}

function send(response: ServerResponse, answer: Answer, fault?: Fault): void {
  if (response.destroyed) return;
  response.writeHead(answer.status, { "content-type": "application/json" });
  response.end(answer.text + (fault?.kind === "padding" ? " ".repeat(fault.bytes) : ""));
}

async function closeServer(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}
