/**
 * Stands in for Cloudflare's edge in front of a Worker: adds the client's address, and cancels a request whose client has
 * disconnected (workerd treats a closed connection as half-closed and only notices a reset). It also forwards the
 * local S3 endpoint of R2, which Miniflare serves on a port of its own, and answers health requests while the service stops.
 */
import { HealthResponse } from "../../../contract/health.ts";
import { hasUnsignedAmzHeader, refuseUnsigned } from "./unsigned-headers.ts";
import { parseJson } from "./local-secrets.ts";
import { Agent, createServer, type IncomingMessage, request as httpRequest, type ServerResponse } from "node:http";
import { errnoOf, OperatorError } from "../../errors.ts";

const HOST = "127.0.0.1";
/** Prefix of headers that make Miniflare treat a request as one to another address or Worker, which would read its store without a signature. */
const INTERNAL = "mf-";
const S3_PATH = "/cdn-cgi/local/r2/s3/";
const CLIENT_ADDRESS = "cf-connecting-ip";
const HEALTH_PATH = /^(?:\/api\/v1)?\/healthz(?:\?|$)/;
/** Hop-by-hop headers; the site Worker removes those named by `Connection`. */
const OF_CONNECTION = new Set(["keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "expect"]);
/** workerd closes a connection that has been idle for 5 s; ours must be closed earlier, or a request may be sent into the close. */
const IDLE_MS = 2_000;
const CLIENT_IDLE_MS = 75_000;
const HEALTH_TIMEOUT_MS = 2_000;
/** Approximate duration of a restart. */
const RETRY_AFTER_SEC = "5";
/** Headers that describe the body or the connection of a response. */
const OF_BODY = new Set([
  "content-length",
  "content-type",
  "content-encoding",
  "connection",
  "keep-alive",
  "transfer-encoding",
]);

interface FrontOptions {
  /** Address to listen on; default 127.0.0.1. */
  host?: string;
  /** Port to listen on. */
  port: number;
  /** Variable that names the port, for the error when it is taken. */
  variable: string;
  /** Port of the Worker behind the front. */
  target: number;
  /** Port of the S3 endpoint. */
  s3?: number;
}

export interface Front {
  /**
   * Answers health requests with 503 `stopping` from now on, and still serves others. Resolves when no request is in flight.
   */
  drain(): Promise<void>;
  /** Ends every connection and stops listening. */
  close(): Promise<void>;
}

/** Whether a request's path is below a folder, also as the receiver reads it, who resolves `..`: beside the endpoint is one without signatures. */
function isBelow(folder: string, url: string): boolean {
  return (
    url.startsWith(folder) &&
    URL.canParse(url, "http://front") &&
    new URL(url, "http://front").pathname.startsWith(folder)
  );
}

/** Listens on the public port. Throws `OperatorError` when the port is taken. */
export async function startFront(options: FrontOptions): Promise<Front> {
  const agent = new Agent({ keepAlive: true, timeout: IDLE_MS });
  const inFlight = new Set<ServerResponse>();
  let whenIdle: (() => void) | undefined;
  const server = createServer({ keepAliveTimeout: CLIENT_IDLE_MS, requestTimeout: 0 }, (request, response) => {
    const url = request.url ?? "";
    if (whenIdle !== undefined && HEALTH_PATH.test(url)) return void answerStopping(request, response, options.target);
    inFlight.add(response);
    response.once("close", () => {
      inFlight.delete(response);
      if (inFlight.size === 0) whenIdle?.();
    });
    const isS3 = options.s3 !== undefined && isBelow(S3_PATH, url);
    if (isS3 && hasUnsignedAmzHeader(request)) return refuseUnsigned(response);
    forward(request, response, agent, isS3 ? (options.s3 ?? options.target) : options.target);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host ?? HOST, resolve);
  }).catch((error: unknown) => {
    throw errnoOf(error) === "EADDRINUSE" ? OperatorError.portTaken(options.port, options.variable) : error;
  });
  return {
    drain: () =>
      new Promise((resolve) => {
        whenIdle = resolve;
        if (inFlight.size === 0) resolve();
      }),
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      agent.destroy();
      await closed;
    },
  };
}

/** The api's health document, with the status `stopping` that only this process knows. */
async function answerStopping(request: IncomingMessage, response: ServerResponse, port: number): Promise<void> {
  const address = addressOf(request.socket.remoteAddress);
  const answer = await fetch(`http://${HOST}:${port}${request.url}`, {
    headers: { [CLIENT_ADDRESS]: address },
    signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS),
  }).catch(() => undefined);
  const text = await answer?.text().catch(() => undefined);
  const parsed = HealthResponse.safeParse(parseJson(text ?? ""));
  const health: HealthResponse = {
    ...(parsed.data ?? { version: "unknown", checks: {} }),
    ok: false,
    status: "stopping",
  };
  const headers = Object.fromEntries([...(answer?.headers ?? [])].filter(([name]) => !OF_BODY.has(name)));
  response.writeHead(503, { ...headers, "Content-Type": "application/json", "Retry-After": RETRY_AFTER_SEC });
  response.end(JSON.stringify(health));
}

function forward(request: IncomingMessage, response: ServerResponse, agent: Agent, port: number): void {
  const headers = passedOn(request.rawHeaders, CLIENT_ADDRESS, INTERNAL);
  headers.push(CLIENT_ADDRESS, addressOf(request.socket.remoteAddress));
  const { method, url } = request;
  const sent = httpRequest({ host: HOST, port, agent, method, path: url, headers, setHost: false });
  // Low latency of small responses matters more than full packets.
  sent.setNoDelay(true);
  let isAnswered = false;
  sent.on("response", (answer) => {
    answer.on("end", () => (isAnswered = true));
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage, passedOn(answer.rawHeaders, "connection"));
    answer.pipe(response);
    // A truncated response must not look complete.
    answer.on("error", () => response.destroy());
  });
  sent.on("error", () => {
    if (response.headersSent) response.destroy();
    else if (!response.destroyed) response.writeHead(502).end();
    // Otherwise the rest of the body would be read as the connection's next request.
    request.unpipe(sent);
    request.resume();
  });
  response.on("close", () => {
    // After the whole answer has arrived, the connection is free or has another client's request.
    if (response.writableFinished || isAnswered) return;
    // workerd notices a reset immediately.
    sent.socket?.resetAndDestroy();
    sent.destroy();
  });
  if (request.headers["content-length"] === undefined && request.headers["transfer-encoding"] === undefined) sent.end();
  else request.pipe(sent);
}

/** Raw headers without those of the connection, without `except`, and without those that begin with `exceptPrefix`. */
function passedOn(raw: readonly string[], except: string, exceptPrefix?: string): string[] {
  const kept: string[] = [];
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i] ?? "";
    const lower = name.toLowerCase();
    if (exceptPrefix !== undefined && lower.startsWith(exceptPrefix)) continue;
    if (lower !== except && !OF_CONNECTION.has(lower)) kept.push(name, raw[i + 1] ?? "");
  }
  return kept;
}

/** Converts an IPv4-mapped IPv6 address (`::ffff:127.0.0.1`) to IPv4. */
function addressOf(peer: string | undefined): string {
  return peer?.replace(/^::ffff:/, "") ?? HOST;
}
