import type { IncomingMessage, request } from "node:http";
import { Readable } from "node:stream";
import type { AnswerLike, SentRequest } from "../client/transport.ts";

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const MAX_REDIRECTS = 5;

/**
 * `fetch` on node:http. The first `fetch` of a process loads all of undici, which takes longer than the three requests of a pull.
 * Redirects are left to `fetch`.
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

/** An `import` asks a module for all of its exports, and node:http loads undici for some of them. */
function nodeHttp(name: "node:http" | "node:https"): { request: typeof request } {
  return process.getBuiltinModule(name);
}

/** Sends one request; resolves when the head of the answer is there. Aborting breaks the body off, too. */
export async function httpRequest(
  url: string,
  { method, headers, signal, body }: SentRequest,
): Promise<IncomingMessage> {
  const http = nodeHttp(url.startsWith("https:") ? "node:https" : "node:http");
  return new Promise((resolve, reject) => {
    const sent = http.request(url, { method, headers, signal }, resolve);
    sent.on("error", reject);
    // With a body given at once, its length is sent along.
    sent.end(body);
  });
}

/** The same for a GET whose URL is all that it needs to be answered: it is followed wherever it is sent. */
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

/** A header by its name in any case, its repetitions joined, or null. */
export function headerOf(incoming: IncomingMessage, name: string): string | null {
  const value = incoming.headers[name.toLowerCase()];
  return Array.isArray(value) ? value.join(", ") : (value ?? null);
}
