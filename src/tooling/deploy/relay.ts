/**
 * An address on this machine that passes wrangler's requests on to Cloudflare's API and repeats those that were refused for now. wrangler
 * itself repeats only a few of its calls, so that one 429 among dozens of requests would end an upload.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { pause } from "../../lib/pause.ts";
import { ATTEMPTS, delayMs, isRefusedForNow } from "./http.ts";

const TIMEOUT_MS = 120_000;
/** Headers of a single connection, and those that fetch sets itself. */
const NOT_PASSED_ON = new Set([
  "connection",
  "content-encoding",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "transfer-encoding",
]);

interface Relay {
  url: string;
  close: () => void;
}

/** Starts a relay to the API at `apiUrl`. It holds no credentials: wrangler's requests have their own. */
export async function startRelay(apiUrl: string): Promise<Relay> {
  const server = createServer((request, response) => {
    passOn(apiUrl, request, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : undefined);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function passOn(apiUrl: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const method = request.method ?? "GET";
  const body = await buffer(request);
  const answer = await repeated(`${apiUrl}${request.url ?? "/"}`, {
    method,
    headers: Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
      typeof value === "string" && !NOT_PASSED_ON.has(name) ? [[name, value]] : [],
    ),
    ...(body.length > 0 && { body: new Uint8Array(body) }),
  });
  const bytes = new Uint8Array(await answer.arrayBuffer());
  response.writeHead(answer.status, [...answer.headers].filter(([name]) => !NOT_PASSED_ON.has(name)).flat());
  response.end(bytes);
}

/** Repeats what was refused for now, and a GET that failed. A change that may have been made is left to wrangler. */
async function repeated(url: string, init: RequestInit & { method: string }): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) }).catch((error: unknown) => {
      if (init.method === "GET" && attempt < ATTEMPTS) return undefined;
      throw error;
    });
    const isFailedRead = init.method === "GET" && (answer?.status ?? 0) >= 500;
    if (answer && !(isRefusedForNow(answer) || isFailedRead)) return answer;
    if (answer && attempt === ATTEMPTS) return answer;
    await answer?.body?.cancel();
    await pause(delayMs(attempt, answer?.headers.get("Retry-After") ?? null));
  }
}
