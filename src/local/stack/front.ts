/**
 * What Cloudflare's edge does in front of a Worker and workerd alone does not: it says who is calling, and it ends a
 * request whose client has left (workerd takes a closed connection for one that is merely done sending, and only notices a
 * reset). It also sends the local S3 endpoint of R2, which Miniflare serves on a port of its own, out through the public
 * one.
 */
import { Agent, createServer, type IncomingMessage, request as httpRequest, type ServerResponse } from "node:http";
import { errnoOf, StartError } from "../errors.ts";

const HOST = "127.0.0.1";
const S3_PATH = "/cdn-cgi/local/r2/s3/";
const CLIENT_ADDRESS = "cf-connecting-ip";
/** Headers of one connection, with those that `Connection` names left to the proxy behind. */
const OF_CONNECTION = new Set(["keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "expect"]);
/** workerd closes a connection that has been idle for 5 s; ours must be gone before, or a request may meet the closing. */
const IDLE_MS = 2_000;
const CLIENT_IDLE_MS = 75_000;

export interface FrontOptions {
  /** Port to listen on at 127.0.0.1. */
  port: number;
  /** Variable that names the port, for the error when it is taken. */
  variable: string;
  /** Port of the Worker behind. */
  target: number;
  /** Port of the S3 endpoint. */
  s3?: number;
}

export interface Front {
  /** Ends every connection and stops listening. */
  close(): Promise<void>;
}

/** Listens where clients call. Throws `StartError` when the port is taken. */
export async function startFront(options: FrontOptions): Promise<Front> {
  const agent = new Agent({ keepAlive: true, timeout: IDLE_MS });
  const server = createServer({ keepAliveTimeout: CLIENT_IDLE_MS, requestTimeout: 0 }, (request, response) => {
    const isS3 = options.s3 !== undefined && (request.url ?? "").startsWith(S3_PATH);
    forward(request, response, agent, isS3 ? (options.s3 ?? options.target) : options.target);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, HOST, resolve);
  }).catch((error: unknown) => {
    throw errnoOf(error) === "EADDRINUSE" ? StartError.portTaken(options.port, options.variable) : error;
  });
  return {
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      agent.destroy();
      await closed;
    },
  };
}

function forward(request: IncomingMessage, response: ServerResponse, agent: Agent, port: number): void {
  const headers = passedOn(request.rawHeaders, CLIENT_ADDRESS);
  headers.push(CLIENT_ADDRESS, addressOf(request.socket.remoteAddress));
  const { method, url } = request;
  const sent = httpRequest({ host: HOST, port, agent, method, path: url, headers, setHost: false });
  // Small answers are worth more than full packets here.
  sent.setNoDelay(true);
  sent.on("response", (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage, passedOn(answer.rawHeaders, "connection"));
    answer.pipe(response);
    // An answer that breaks off must not look like one that is complete.
    answer.on("error", () => response.destroy());
  });
  sent.on("error", () => {
    if (response.headersSent) response.destroy();
    else if (!response.destroyed) response.writeHead(502).end();
    // Else what the client still sends would stand in the way of its next request.
    request.unpipe(sent);
    request.resume();
  });
  response.on("close", () => {
    if (response.writableFinished) return;
    // A reset is what workerd notices at once.
    sent.socket?.resetAndDestroy();
    sent.destroy();
  });
  if (request.headers["content-length"] === undefined && request.headers["transfer-encoding"] === undefined) sent.end();
  else request.pipe(sent);
}

/** Raw headers without those of the connection and without `except`. */
function passedOn(raw: readonly string[], except: string): string[] {
  const kept: string[] = [];
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i] ?? "";
    const lower = name.toLowerCase();
    if (lower !== except && !OF_CONNECTION.has(lower)) kept.push(name, raw[i + 1] ?? "");
  }
  return kept;
}

/** An IPv4 address that Node shows as IPv6 (`::ffff:127.0.0.1`) is the same client. */
function addressOf(peer: string | undefined): string {
  return peer?.replace(/^::ffff:/, "") ?? HOST;
}
