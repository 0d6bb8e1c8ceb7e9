import { Buffer } from "node:buffer";
import { GitError, makeScrub, overLimit, protocolError, type Scrub } from "../errors.ts";
import { GZIP_MIN_BYTES, type GitLimits, MAX_REDIRECTS } from "../limits.ts";
import type { Operation } from "../operation.ts";
import { checkRemoteUrl, checkRepositoryUrl, defaultUsername, type GitHostPolicy } from "./url.ts";

export interface GitRemote {
  /** `https://host/path`, with or without `.git`. */
  url: string;
  /** Sent as HTTP Basic; the user name defaults to the one the host expects with a token. */
  auth?: { token: string; username?: string } | undefined;
}

export interface GitDeps {
  fetch: typeof fetch;
  hosts: GitHostPolicy;
  signal?: AbortSignal | undefined;
  limits?: Partial<GitLimits> | undefined;
  userAgent?: string | undefined;
}

const DEFAULT_USER_AGENT = "git/2.45.0 (code-context)";
const SERVICE_SUFFIX = "/info/refs?service=git-upload-pack";

/** Transfer counters of a session. */
interface Traffic {
  requests: number;
  receivedBytes: number;
  sentBytes: number;
}

/** One response body: read with an idle timeout, counted toward the byte limit, cancelled if it is not read to the end. */
export interface BodyReader {
  /** The next bytes, at least one, valid until the next read. Undefined at the end of the body. */
  read(): Promise<Uint8Array | undefined>;
  cancel(): void;
  /** The error for a body that ended too early. */
  cutOff(where: string): GitError;
}

/** HTTP client for one remote: address checks, redirects, authorization, timeouts, status codes. */
export class HttpTransport {
  readonly traffic: Traffic = { requests: 0, receivedBytes: 0, sentBytes: 0 };
  readonly scrub: Scrub;
  readonly limits: GitLimits;
  #base: string;
  #authorization: string | undefined;
  readonly #deps: GitDeps;
  /** Sent with every request; empty for servers that reject it. */
  gitProtocol = "version=2";

  constructor(remote: GitRemote, deps: GitDeps, limits: GitLimits) {
    const url = checkRepositoryUrl(remote.url, deps.hosts);
    this.#base = url.href.replace(/\/+$/, "");
    this.#deps = deps;
    this.limits = limits;
    const { auth } = remote;
    const username = auth?.username ?? defaultUsername(url.hostname);
    this.scrub = makeScrub(auth === undefined ? undefined : { token: auth.token, username });
    if (auth !== undefined) {
      this.#authorization = `Basic ${Buffer.from(`${username}:${auth.token}`).toString("base64")}`;
    }
  }

  /** Requests the reference advertisement; later requests use the URL it was redirected to. */
  async getRefs(operation: Operation): Promise<BodyReader> {
    let url = this.#base + SERVICE_SUFFIX;
    for (let hop = 0; ; hop++) {
      const { response, controller } = await this.#send(operation, url, "GET", undefined);
      if (response.status < 300 || response.status > 399 || response.status === 304) {
        return this.#accept(operation, response, controller, "application/x-git-upload-pack-advertisement");
      }
      const location = response.headers.get("location");
      discard(response, controller);
      if (location === null) throw protocolError(`HTTP ${response.status} without a location`);
      if (hop >= MAX_REDIRECTS) throw protocolError(`more than ${MAX_REDIRECTS} redirects`);
      url = this.#follow(url, location);
    }
  }

  #follow(from: string, location: string): string {
    const here = new URL(from);
    let next: URL;
    try {
      next = new URL(location, here);
    } catch {
      throw protocolError("redirect to an invalid URL");
    }
    if (here.protocol === "https:" && next.protocol !== "https:") {
      throw new GitError("URL_FORBIDDEN", "repository URL not allowed: redirect from https to http");
    }
    const checked = checkRemoteUrl(next.href, this.#deps.hosts);
    if (!checked.href.endsWith(SERVICE_SUFFIX)) {
      const where = this.scrub(checked.origin + checked.pathname);
      throw protocolError(`redirect to ${where}, which is not a Git repository (a login page?)`);
    }
    if (checked.origin !== here.origin) this.#authorization = undefined;
    this.#base = checked.href.slice(0, -SERVICE_SUFFIX.length);
    return checked.href;
  }

  /** Sends a request to git-upload-pack. A large `body` is gzip-compressed. */
  async post(operation: Operation, body: string): Promise<BodyReader> {
    const { response, controller } = await this.#send(operation, `${this.#base}/git-upload-pack`, "POST", body);
    if (response.status >= 300 && response.status < 400) {
      discard(response, controller);
      throw protocolError(`the server redirects a POST (HTTP ${response.status})`);
    }
    return this.#accept(operation, response, controller, "application/x-git-upload-pack-result");
  }

  async #send(
    operation: Operation,
    url: string,
    method: "GET" | "POST",
    text: string | undefined,
  ): Promise<{ response: Response; controller: AbortController }> {
    operation.check();
    const headers: Record<string, string> = {
      "user-agent": this.#deps.userAgent ?? DEFAULT_USER_AGENT,
      accept: method === "GET" ? "*/*" : "application/x-git-upload-pack-result",
      "accept-encoding": "identity",
    };
    if (this.gitProtocol !== "") headers["git-protocol"] = this.gitProtocol;
    if (this.#authorization !== undefined) headers["authorization"] = this.#authorization;
    const controller = new AbortController();
    const init: RequestInit = { method, headers, redirect: "manual", signal: controller.signal };
    if (text !== undefined) {
      headers["content-type"] = "application/x-git-upload-pack-request";
      let body = new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>;
      if (body.length > GZIP_MIN_BYTES) {
        headers["content-encoding"] = "gzip";
        body = await gzip(body);
      }
      init.body = body;
      this.traffic.sentBytes += body.length;
    }
    this.traffic.requests++;
    try {
      const pending = this.#deps.fetch.call(undefined, url, init);
      return {
        response: await operation.race(pending, this.limits.headersMs, "no answer from the server"),
        controller,
      };
    } catch (error) {
      controller.abort();
      throw this.#networkError(error);
    }
  }

  #networkError(error: unknown): GitError {
    if (error instanceof GitError) return error;
    const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : "";
    const message = error instanceof Error ? error.message : String(error);
    // What workerd says of a host name that has no address.
    if (message.startsWith("internal error"))
      return new GitError("NETWORK", "connection failed: the host was not reached");
    return new GitError("NETWORK", this.scrub(`connection failed: ${message}${cause}`));
  }

  #accept(operation: Operation, response: Response, controller: AbortController, contentType: string): BodyReader {
    const { status } = response;
    const type = response.headers.get("content-type") ?? "";
    const body = new StreamBody(this, operation, response, controller);
    if (status === 200 && type.toLowerCase().startsWith(contentType)) return body;
    // The body is not repeated: the address may lead to a server that the service reaches and the tenant does not.
    body.cancel();
    const stderr = `HTTP ${status}`;
    if (status === 200) {
      const media = MEDIA_TYPE.exec(type)?.[0].toLowerCase() ?? "unknown";
      throw protocolError(`not a Git smart-HTTP server (content type ${media})`);
    }
    if (status === 401 || status === 403) {
      const had = this.#authorization === undefined ? "no credentials were sent" : "the token was not accepted";
      throw new GitError("AUTH", `access denied (HTTP ${status}; ${had})`, { stderr });
    }
    if (status === 404 || status === 410) {
      throw new GitError("NOT_FOUND", `repository not found, or not visible to this token (HTTP ${status})`, {
        stderr,
      });
    }
    if (status === 429 || status === 408 || status >= 500) {
      throw new GitError("NETWORK", `the server answered HTTP ${status}`, { stderr, status });
    }
    throw protocolError(`the server answered HTTP ${status}`, stderr);
  }

  /** @internal */
  toReadError(error: unknown): GitError {
    return this.#networkError(error);
  }
}

/** Type and subtype, without parameters. */
const MEDIA_TYPE = /^[\w.+-]{1,30}\/[\w.+-]{1,60}/;

/** Read size. By default workerd reads 4 KiB at a time into a new buffer, with some kilobytes of objects per read. */
const READ_BYTES = 128 * 1024;

interface ChunkReader {
  /** Undefined at the end. */
  read(): Promise<Uint8Array | undefined>;
  cancel(): Promise<void>;
}

/** Reads into one reused buffer if the stream supports it (network streams do, most hand-made ones do not). */
function chunkReader(body: ReadableStream<Uint8Array>): ChunkReader {
  let reader: ReadableStreamBYOBReader;
  try {
    reader = body.getReader({ mode: "byob" });
  } catch {
    const chunks = body.getReader();
    return { read: async () => (await chunks.read()).value, cancel: () => chunks.cancel() };
  }
  let spare: ArrayBufferLike = new ArrayBuffer(READ_BYTES);
  return {
    read: async () => {
      const { value, done } = await reader.read(new Uint8Array(spare));
      if (done || value === undefined) return undefined;
      spare = value.buffer;
      return value;
    },
    cancel: () => reader.cancel(),
  };
}

class StreamBody implements BodyReader {
  readonly #transport: HttpTransport;
  readonly #operation: Operation;
  readonly #controller: AbortController;
  readonly #reader: ChunkReader | undefined;
  #over = false;

  constructor(transport: HttpTransport, operation: Operation, response: Response, controller: AbortController) {
    this.#transport = transport;
    this.#operation = operation;
    this.#controller = controller;
    this.#reader = response.body === null ? undefined : chunkReader(response.body as ReadableStream<Uint8Array>);
  }

  async read(): Promise<Uint8Array | undefined> {
    if (this.#reader === undefined || this.#over) return undefined;
    const { limits, traffic } = this.#transport;
    for (;;) {
      let chunk: Uint8Array | undefined;
      try {
        chunk = await this.#operation.race(this.#reader.read(), limits.idleMs, "the server stopped sending: nothing");
      } catch (error) {
        this.cancel();
        throw this.#transport.toReadError(error);
      }
      if (chunk === undefined) {
        this.#over = true;
        return undefined;
      }
      traffic.receivedBytes += chunk.length;
      if (traffic.receivedBytes > limits.totalBytes) {
        this.cancel();
        throw overLimit(`more than ${limits.totalBytes} bytes received`);
      }
      if (chunk.length > 0) return chunk;
    }
  }

  cancel(): void {
    if (this.#over) return;
    this.#over = true;
    this.#reader?.cancel().catch(() => undefined);
    this.#controller.abort();
  }

  cutOff(where: string): GitError {
    return new GitError("NETWORK", `the server closed the connection too early (${where})`);
  }
}

function discard(response: Response, controller: AbortController): void {
  response.body?.cancel().catch(() => undefined);
  controller.abort();
}

async function gzip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Response(bytes).body!.pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
