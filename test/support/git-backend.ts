import type { ChildProcess } from "node:child_process";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { parseCgiHead, spawnHttpBackend } from "../../src/tooling/local/git/git-server.ts";

/** How a {@link GitBackend} behaves; may be changed between requests through `backend.options`. */
export interface GitBackendOptions {
  /** `uploadpack.allowFilter`. Default true. */
  filters?: boolean;
  /** Drop the Git-Protocol header: the server answers protocol v0. */
  v0Only?: boolean;
  /** Hide these capabilities from a v0 advertisement (e.g. `ofs-delta`, `shallow`, `side-band-64k`). */
  hideCapabilities?: readonly string[];
  /** Required password (or token) of Basic authorization; others get 401. */
  requireToken?: string;
  /** Required user name. */
  requireUser?: string;
  /** Destroy the connection after so many body bytes of each upload-pack answer. */
  cutAfterBytes?: number;
  /** End the body cleanly instead of destroying the connection. */
  cutCleanly?: boolean;
  /** Apply the cut only to the first so many upload-pack answers. */
  cutTimes?: number;
  /** Wait so long before answering. */
  delayMs?: number;
  /** Stop sending after so many body bytes of an upload-pack answer, without closing. */
  stallAfterBytes?: number;
  /** Answer `GET /redirect/<path>` with a redirect to `<redirectTo>/<path>`. */
  redirectTo?: string;
  /** Fail requests that use `filter blob:limit` with HTTP 500, as some hosts do. */
  failBlobLimit?: boolean;
  /** Answer the first so many requests with HTTP 503. */
  unavailableTimes?: number;
  /** More `-c key=value` settings for git. */
  config?: Readonly<Record<string, string>>;
  /** Changes the bytes of upload-pack answers. */
  transform?: (body: Buffer) => Buffer;
  /** Answers by hand: return true when done. */
  intercept?: (request: IncomingMessage, response: ServerResponse) => boolean;
}

/** What was asked of the server. */
export interface SeenRequest {
  method: string;
  url: string;
  headers: IncomingMessage["headers"];
  /** Decompressed. */
  body: string;
  /** Body bytes answered. */
  sentBytes: number;
}

export interface GitBackend extends AsyncDisposable {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string;
  options: GitBackendOptions;
  readonly requests: SeenRequest[];
  /** URL of a repository below the root, e.g. `repo` or `owner/repo.git`. */
  url(repository: string): string;
  close(): Promise<void>;
}

/** Starts `git http-backend` behind a Node HTTP server, on a free port of 127.0.0.1. */
export async function startGitBackend(root: string, options: GitBackendOptions = {}): Promise<GitBackend> {
  const requests: SeenRequest[] = [];
  const children = new Set<ChildProcess>();
  // A connection that is closed as idle while a Worker sends on it loses the request.
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    void handle(backend, root, children, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = async (): Promise<void> => {
    for (const child of children) child.kill();
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
  const backend: GitBackend = {
    origin,
    options,
    requests,
    url: (repository) => `${origin}/${repository}`,
    close,
    [Symbol.asyncDispose]: close,
  };
  return backend;
}

async function handle(
  backend: GitBackend,
  root: string,
  children: Set<ChildProcess>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { options } = backend;
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const raw = Buffer.concat(chunks);
  const body = request.headers["content-encoding"] === "gzip" ? gunzipSync(raw) : raw;
  const { url = "/", method = "GET", headers } = request;
  const seen: SeenRequest = { method, url, headers, body: body.toString("latin1"), sentBytes: 0 };
  backend.requests.push(seen);
  if (options.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, options.delayMs));
  if (options.intercept?.(request, response) === true) return;
  const plain = (status: number, text: string, extra: Record<string, string> = {}): void => {
    response.writeHead(status, { "content-type": "text/plain", ...extra }).end(text);
  };
  if ((options.unavailableTimes ?? 0) > 0) {
    options.unavailableTimes = (options.unavailableTimes ?? 0) - 1;
    return plain(503, "try again later\n");
  }
  if (options.redirectTo !== undefined && url.startsWith("/redirect/")) {
    return plain(302, "moved\n", { location: `${options.redirectTo}/${url.slice("/redirect/".length)}` });
  }
  if (options.requireToken !== undefined) {
    const sent = Buffer.from((headers.authorization ?? "").replace(/^Basic /, ""), "base64").toString();
    const colon = sent.indexOf(":");
    const good = sent.slice(colon + 1) === options.requireToken;
    if (!good || (options.requireUser !== undefined && sent.slice(0, colon) !== options.requireUser)) {
      const challenge = { "www-authenticate": 'Basic realm="git"' };
      return plain(401, `Invalid credentials: ${headers.authorization ?? "none"} ${sent}\n`, challenge);
    }
  }
  if (options.failBlobLimit === true && seen.body.includes("filter blob:limit")) {
    return plain(500, "blob:limit is not supported\n");
  }
  runCgi(backend, root, children, seen, body, response);
}

function runCgi(
  backend: GitBackend,
  root: string,
  children: Set<ChildProcess>,
  seen: SeenRequest,
  body: Buffer,
  response: ServerResponse,
): void {
  const { options } = backend;
  const child = spawnHttpBackend({
    root,
    method: seen.method,
    url: seen.url,
    contentType: seen.headers["content-type"],
    contentLength: body.length,
    protocol: options.v0Only === true ? undefined : seen.headers["git-protocol"]?.toString(),
    config: { "uploadpack.allowFilter": String(options.filters ?? true), ...options.config },
  });
  children.add(child);
  const isPack = seen.url.endsWith("/git-upload-pack");
  let cut = isPack ? options.cutAfterBytes : undefined;
  if (cut !== undefined && options.cutTimes !== undefined && options.cutTimes-- <= 0) cut = undefined;
  const buffered = (options.transform !== undefined && isPack) || (options.hideCapabilities !== undefined && !isPack);
  const held: Buffer[] = [];
  let head: Buffer | undefined = Buffer.alloc(0);
  let stopped = false;
  const stop = (clean: boolean): void => {
    stopped = true;
    if (clean) response.end();
    else response.destroy();
    child.kill();
  };
  const send = (data: Buffer): void => {
    if (stopped) return;
    const limit = cut ?? (isPack ? options.stallAfterBytes : undefined);
    const part = limit === undefined ? data : data.subarray(0, Math.max(0, limit - seen.sentBytes));
    seen.sentBytes += part.length;
    const more = response.write(part);
    if (part.length < data.length) {
      if (cut === undefined) {
        stopped = true;
        child.kill();
      } else response.socket?.write("", () => stop(options.cutCleanly === true));
    } else if (!more) {
      child.stdout.pause();
      response.once("drain", () => child.stdout.resume());
    }
  };
  const onBody = (data: Buffer): void => {
    if (buffered) held.push(data);
    else send(data);
  };
  child.stdout.on("data", (data: Buffer) => {
    if (head === undefined) return onBody(data);
    head = Buffer.concat([head, data]);
    const parsed = parseCgiHead(head);
    if (!parsed) return;
    const rest = head.subarray(parsed.bodyStart);
    head = undefined;
    for (const [name, value] of parsed.headers) response.setHeader(name, value);
    response.statusCode = parsed.status;
    response.removeHeader("content-length");
    if (rest.length > 0) onBody(rest);
  });
  child.stdin.on("error", () => undefined);
  child.stdin.end(body);
  child.on("close", () => {
    children.delete(child);
    if (buffered && !stopped) {
      const all = Buffer.concat(held);
      send(isPack ? (options.transform?.(all) ?? all) : hideCapabilities(all, options.hideCapabilities ?? []));
    }
    if (!stopped) response.end();
  });
  response.on("close", () => child.kill());
}

/** Removes capabilities from the first line of a v0 advertisement, fixing its length. */
function hideCapabilities(body: Buffer, names: readonly string[]): Buffer {
  const nul = body.indexOf(0);
  if (nul < 0) return body;
  const end = body.indexOf(10, nul);
  const start = body.indexOf("\n0000") + 5;
  const line = body.subarray(start + 4, end).toString("latin1");
  const [ref = "", features = ""] = line.split("\0");
  const kept = features.split(" ").filter((feature) => !names.includes(feature.split("=")[0] ?? ""));
  const text = `${ref}\0${kept.join(" ")}\n`;
  const packet = (text.length + 4).toString(16).padStart(4, "0") + text;
  return Buffer.concat([body.subarray(0, start), Buffer.from(packet, "latin1"), body.subarray(end + 1)]);
}
