/** The way around hono for the one route where its layers cost more than the route's own work. */
import { REQUEST_ID_HEADER } from "../contract/index.ts";
import type { Logger } from "../log.ts";
import { requestTimer } from "../time-limit.ts";
import type { Exchange } from "./exchange.ts";
import { respondToError } from "./middleware/errors.ts";
import { logUnlessWell, requestIdFor } from "./middleware/request-id.ts";
import { postEmbed } from "./routes/embed.ts";
import { type Services, servicesOf } from "./services.ts";

/** POST routes by path. Hono has each of them too, for spellings of the path that are not looked up here. */
const ROUTES = new Map<string, (exchange: Exchange) => Promise<Response>>([
  ["/embed", postEmbed],
  ["/api/v1/embed", postEmbed],
]);

class DirectExchange implements Exchange {
  readonly request: Request;
  readonly env: ApiEnv;
  readonly services: Services;
  readonly requestId: string;
  readonly within = requestTimer();
  readonly #ctx: ExecutionContext;
  readonly #headers: Record<string, string>;
  #log: Logger | undefined;
  #work: Promise<unknown> | undefined;
  #outlivesClient = false;

  constructor(request: Request, env: ApiEnv, ctx: ExecutionContext) {
    this.request = request;
    this.env = env;
    this.#ctx = ctx;
    this.services = servicesOf(env);
    this.requestId = requestIdFor(request.headers.get(REQUEST_ID_HEADER));
    this.#headers = { [REQUEST_ID_HEADER]: this.requestId };
  }

  get log(): Logger {
    return (this.#log ??= this.services.log.with({ requestId: this.requestId }));
  }

  get signal(): AbortSignal | undefined {
    return this.#outlivesClient ? this.request.signal : undefined;
  }

  /** To be told of all that the request does, as soon as it has begun. */
  begun(work: Promise<unknown>): void {
    this.#work = work;
    if (this.#outlivesClient) this.#ctx.waitUntil(work);
  }

  outliveClient(): void {
    if (this.#outlivesClient) return;
    this.#outlivesClient = true;
    if (this.#work) this.#ctx.waitUntil(this.#work);
  }

  setHeader(name: string, value: string): void {
    this.#headers[name] = value;
  }

  respond(body: string | Uint8Array<ArrayBuffer>, status: number, headers: Record<string, string>): Response {
    return new Response(body, { status, headers: Object.assign(this.#headers, headers) });
  }

  waitUntil(work: Promise<unknown>): void {
    this.#ctx.waitUntil(work);
  }
}

/** Answers a request that has a direct route; undefined when it has none. */
export function answerDirectly(request: Request, env: ApiEnv, ctx: ExecutionContext): Promise<Response> | undefined {
  if (request.method !== "POST") return undefined;
  const route = ROUTES.get(pathOf(request.url));
  return route && answer(route, new DirectExchange(request, env, ctx));
}

async function answer(route: (exchange: Exchange) => Promise<Response>, exchange: DirectExchange): Promise<Response> {
  const startedAtMs = Date.now();
  const work = route(exchange).catch((error: unknown) => respondToError(error, exchange));
  exchange.begun(work);
  const response = await work;
  logUnlessWell(exchange, response.status, startedAtMs);
  return response;
}

/** The path of an absolute URL, up to its query; a URL with a fragment never gets here. */
function pathOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("://") + 3);
  const end = url.indexOf("?", start);
  return end < 0 ? url.slice(start) : url.slice(start, end);
}
