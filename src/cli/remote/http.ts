import type { IncomingMessage, request } from "node:http";
import { Readable } from "node:stream";
import type { AnswerLike, SentRequest } from "../../interface/client/call.ts";

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const MAX_REDIRECTS = 5;

/**
 * `fetch` on node:http. The first real `fetch` of a process loads undici, which takes longer than the three requests of a pull.
 * Redirects are followed within the origin only: header and body hold credentials. One to elsewhere is the answer.
 */
export async function httpFetch(url: string, init: SentRequest): Promise<AnswerLike> {
  const incoming = await followed(url, init, ({ origin }) => origin === new URL(url).origin);
  const status = incoming.statusCode ?? 0;
  return {
    ok: status >= 200 && status < 300,
    status,
    headers: { get: (name) => headerOf(incoming, name) },
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
async function httpRequest(url: string, { method, headers, signal, body }: SentRequest): Promise<IncomingMessage> {
  const http = nodeHttp(url.startsWith("https:") ? "node:https" : "node:http");
  return new Promise((resolve, reject) => {
    const sent = http.request(url, { method, headers, signal }, resolve);
    sent.on("error", reject);
    // `end` with a body sets Content-Length.
    sent.end(body);
  });
}

/** Sends a GET without credentials and follows redirects, to any origin. */
export function httpDownload(url: string, init: SentRequest): Promise<IncomingMessage> {
  return followed(url, init, () => true);
}

/** Sends a request and follows the redirects that `mayFollow`. 301 to 303 make it a GET, as browsers do. */
async function followed(url: string, init: SentRequest, mayFollow: (target: URL) => boolean): Promise<IncomingMessage> {
  let target = url;
  let { body, method } = init;
  for (let hops = 0; ; hops++) {
    const incoming = await httpRequest(target, { ...init, method, ...(body === undefined ? {} : { body }) });
    const status = incoming.statusCode ?? 0;
    const { location } = incoming.headers;
    const isRedirect = location !== undefined && REDIRECTS.has(status) && hops < MAX_REDIRECTS;
    const next = isRedirect && URL.canParse(location, target) ? new URL(location, target) : undefined;
    if (!next || !mayFollow(next)) return incoming;
    // Not drained: it may never end.
    incoming.destroy();
    target = next.href;
    if (status < 307 && method !== "GET") {
      method = "GET";
      body = undefined;
    }
  }
}

/** A header by case-insensitive name, with repeated values joined; null if absent. */
export function headerOf(incoming: IncomingMessage, name: string): string | null {
  const value = incoming.headers[name.toLowerCase()];
  return Array.isArray(value) ? value.join(", ") : (value ?? null);
}
