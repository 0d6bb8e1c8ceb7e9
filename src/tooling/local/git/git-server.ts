/** Git repositories over smart HTTP: `git http-backend`, a CGI program, behind Node's HTTP server. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import os from "node:os";
import path from "node:path";
import type { Readable, Writable } from "node:stream";
import { createGunzip } from "node:zlib";

interface GitCgiRequest {
  /** Root folder of URL paths. */
  root: string;
  method: string;
  /** Including the query. */
  url: string;
  contentType: string | undefined;
  /** Length of the decompressed body; unknown when absent. */
  contentLength?: number;
  /** The Git-Protocol header: without it the server speaks version 0. */
  protocol: string | undefined;
  /** Settings for git. */
  config?: Readonly<Record<string, string>>;
}

/** Starts `git http-backend` for one request. Its input is the request's body, its output a CGI response. */
export function spawnHttpBackend(request: GitCgiRequest): ChildProcessByStdio<Writable, Readable, null> {
  const [pathname = "/", query = ""] = request.url.split("?");
  const config = { "uploadpack.allowFilter": "true", "safe.directory": "*", ...request.config };
  const settings = Object.entries(config).flatMap(([key, value]) => ["-c", `${key}=${value}`]);
  return spawn("git", [...settings, "http-backend"], {
    env: {
      PATH: process.env["PATH"] ?? "",
      // The user's own git configuration must not affect what is served.
      GIT_CONFIG_NOSYSTEM: "1",
      HOME: path.join(os.tmpdir(), "no-such-home"),
      GIT_PROJECT_ROOT: request.root,
      GIT_HTTP_EXPORT_ALL: "1",
      PATH_INFO: decodeURIComponent(pathname),
      QUERY_STRING: query,
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.contentType ?? "",
      ...(request.contentLength !== undefined && { CONTENT_LENGTH: String(request.contentLength) }),
      ...(request.protocol !== undefined && { GIT_PROTOCOL: request.protocol }),
    },
    stdio: ["pipe", "pipe", "ignore"],
  });
}

interface CgiHead {
  status: number;
  headers: [name: string, value: string][];
  /** Where the body begins. */
  bodyStart: number;
}

/** The head of a CGI response (RFC 3875 §6); undefined while it is not complete. */
export function parseCgiHead(output: Buffer): CgiHead | undefined {
  const end = output.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const head: CgiHead = { status: 200, headers: [], bodyStart: end + 4 };
  for (const line of output.subarray(0, end).toString("latin1").split("\r\n")) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon);
    const value = line.slice(colon + 1).trim();
    if (name.toLowerCase() === "status") head.status = Number.parseInt(value, 10);
    else head.headers.push([name, value]);
  }
  return head;
}

interface GitServer {
  /** `http://127.0.0.1:<port>` */
  origin: string;
  close(): Promise<void>;
}

/** Serves the repositories below a folder, read-only, on a free port of 127.0.0.1. */
export async function startGitServer(root: string): Promise<GitServer> {
  const server = createServer((request, response) => {
    serve(root, request, response).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return {
    origin: `http://127.0.0.1:${port}`,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function serve(root: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = "GET", url = "/", headers } = request;
  const child = spawnHttpBackend({
    root,
    method,
    url,
    contentType: headers["content-type"],
    protocol: headers["git-protocol"]?.toString(),
  });
  response.on("close", () => child.kill());
  child.stdin.on("error", () => undefined);
  const failed = new Promise<never>((_resolve, reject) => child.once("error", reject));
  const body = headers["content-encoding"] === "gzip" ? request.pipe(createGunzip()) : request;
  body.on("error", () => child.kill()).pipe(child.stdin);
  await Promise.race([answer(child.stdout, response), failed]);
}

async function answer(output: Readable, response: ServerResponse): Promise<void> {
  let head: Buffer | undefined = Buffer.alloc(0);
  for await (const data of output as AsyncIterable<Buffer>) {
    let body = data;
    if (head !== undefined) {
      head = Buffer.concat([head, data]);
      const parsed = parseCgiHead(head);
      if (!parsed) continue;
      body = head.subarray(parsed.bodyStart);
      head = undefined;
      response.writeHead(parsed.status, Object.fromEntries(parsed.headers));
    }
    if (!response.write(body)) await once(response, "drain");
  }
  if (head !== undefined) response.writeHead(502);
  response.end();
}
