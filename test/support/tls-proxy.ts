/** A reverse proxy that terminates TLS, as operators put one in front of the service: keeps Host, and appends to X-Forwarded-For. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type IncomingMessage, request as httpRequest, type ServerResponse } from "node:http";
import { createServer, request as httpsRequest } from "node:https";
import type { AddressInfo } from "node:net";

const read = (name: string) => readFileSync(new URL(`tls/${name}`, import.meta.url));
/** For code.example.com and api.example.com; signed by itself, good for a hundred years. */
const certificate = read("certificate.pem");

export interface TlsProxy extends AsyncDisposable {
  port: number;
}

export async function startTlsProxy(target: string): Promise<TlsProxy> {
  const { hostname, port } = new URL(target);
  const server = createServer({ cert: certificate, key: read("key.pem") }, (request, response) => {
    const { "x-forwarded-for": before, ...headers } = request.headers;
    const peer = request.socket.remoteAddress ?? "";
    const sent = httpRequest({
      hostname,
      port,
      method: request.method,
      path: request.url,
      headers: {
        ...headers,
        "x-forwarded-for": before === undefined ? peer : `${String(before)}, ${peer}`,
        "x-forwarded-proto": "https",
      },
    });
    sent.on("response", (answer: IncomingMessage) => pass(answer, response));
    sent.on("error", () => response.destroy());
    request.pipe(sent);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

function pass(answer: IncomingMessage, response: ServerResponse): void {
  response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
  answer.pipe(response);
}

export interface TlsRequest {
  /** Name that the client looked up and verifies. */
  name: string;
  path: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

export interface TlsAnswer {
  status: number;
  headers: IncomingMessage["headers"];
  text: string;
}

/** Sends a request to the proxy over TLS, and verifies its certificate. */
export async function askOverTls(
  port: number,
  { name, path, method = "GET", headers, body }: TlsRequest,
): Promise<TlsAnswer> {
  const request = httpsRequest({
    host: "127.0.0.1",
    port,
    servername: name,
    ca: certificate,
    method,
    path,
    headers: { Host: name, ...headers },
    agent: false,
  });
  request.end(body);
  const [answer] = (await once(request, "response")) as [IncomingMessage];
  let text = "";
  for await (const chunk of answer.setEncoding("utf8")) text += String(chunk);
  return { status: answer.statusCode ?? 0, headers: answer.headers, text };
}
