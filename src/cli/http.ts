import type { IncomingMessage, request } from "node:http";
import { Readable } from "node:stream";
import type { AnswerLike, SentRequest } from "../client/call.ts";

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const MAX_REDIRECTS = 5;

/**
 * `fetch` on node:http. The first real `fetch` of a process loads undici, which takes longer than the three requests of a pull.
 * Redirects fall back to `fetch`.
 */
export async function httpFetch(url: string, init: SentRequest): Promise<AnswerLike> {
  const incoming = await httpRequest(url, init);
  const status = incoming.statusCode ?? 0;
  if (REDIRECTS.has(status)) {
    incoming.resume();
    return fetch(url, init);
  }
  return {
    ok: status >= 200 && status < 300,
    status,
    headers: { get: (name) => headerOf(incoming, name) },
    text: async () => {
      const parts: Buffer[] = [];
      for await (const part of incoming) parts.push(part as Buffer);
      return Buffer.concat(parts).toString("utf8");
    },
    get body() {
      return Readable.toWeb(incoming) as ReadableStream<Uint8Array>;
    },
  };
}

/** Loads node:http without `import`, which reads all exports of the module; some of them load undici. */
function nodeHttp(name: "node:http" | "node:https"): { request: typeof request } {
  return process.getBuiltinModule(name);
}

/** Sends one request; resolves with the response head. Aborting also ends the body. */
export async function httpRequest(
  url: string,
  { method, headers, signal, body }: SentRequest,
): Promise<IncomingMessage> {
  const http = nodeHttp(url.startsWith("https:") ? "node:https" : "node:http");
  return new Promise((resolve, reject) => {
    const sent = http.request(url, { method, headers, signal }, resolve);
    sent.on("error", reject);
    // `end` with a body sets Content-Length.
    sent.end(body);
  });
}

/** Sends a GET without credentials and follows redirects. */
export async function httpDownload(url: string, init: SentRequest): Promise<IncomingMessage> {
  let target = url;
  for (let hops = 0; ; hops++) {
    const incoming = await httpRequest(target, init);
    const { location } = incoming.headers;
    if (location === undefined || !REDIRECTS.has(incoming.statusCode ?? 0) || hops === MAX_REDIRECTS) return incoming;
    incoming.resume();
    target = new URL(location, target).href;
  }
}

/** A header by case-insensitive name, with repeated values joined; null if absent. */
export function headerOf(incoming: IncomingMessage, name: string): string | null {
  const value = incoming.headers[name.toLowerCase()];
  return Array.isArray(value) ? value.join(", ") : (value ?? null);
}
