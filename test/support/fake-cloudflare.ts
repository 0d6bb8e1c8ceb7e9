/**
 * An in-memory fake of the part of Cloudflare's API that a deployment uses, with the routes, forms and codes that wrangler, the typed
 * client (`cloudflare` on npm) and the manual name. Like the real API it rejects a Worker whose queue, bucket or Durable Object namespace
 * is missing, names that are taken, deleting a bucket with objects, a wrong token, and what a token may not do.
 */
import { createHash, randomUUID } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { z } from "zod";
import {
  activate,
  addVersion,
  type Binding,
  deployVersion,
  exportsName,
  type Metadata,
  newScript,
  Refusal,
  type Script,
  shownBindings,
} from "./fake-workers.ts";
import { type Call, FakeDomains } from "./fake-domains.ts";
import { bucketRoute, type FakeBuckets } from "./fake-r2.ts";

const ACCOUNT = "0123456789abcdef0123456789abcdef";
export const FAKE_TOKEN = "fake-cloudflare-token";
/** Lists that come in pages, here of two. */
const PAGED = /^\/accounts(?:\/\w+\/(?:queues|tokens))?$/;
const PAGE_SIZE = 2;
const KEEP_ALIVE_MS = 600_000;
const BUCKET_WRITE = "Workers R2 Storage Bucket Item Write";
interface Queue {
  id: string;
  name: string;
  consumers: unknown[];
}

export class FakeCloudflare {
  readonly accountId = ACCOUNT;
  readonly scripts = new Map<string, Script>();
  readonly queues = new Map<string, Queue>();
  readonly buckets: FakeBuckets = new Map();
  readonly tokens = new Map<string, { name: string; value: string; resources: string[] }>();
  readonly domains = new FakeDomains((service) => this.scripts.has(service));
  /** What the token may do. By default it belongs to the account, so that it cannot list accounts. */
  readonly token = { listsAccounts: false, makesTokens: true };
  subdomain: string | undefined = "fake";
  /** Called with each request; true answers it with 429. */
  isTooMany: (request: string) => boolean = () => false;
  /** Requests without a route in the fake; tests fail on them. */
  readonly unknown: string[] = [];
  /** `METHOD path` of every request that changed something. */
  readonly changes: string[] = [];
  /** Called before each change with its method and path; a `Refusal` that it throws is the answer. */
  beforeChange: (change: string) => void = () => {};
  /** Status that a change is answered with after it was made, in place of the true answer. */
  answerWith: (change: string) => number | undefined = () => undefined;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<FakeCloudflare> {
    // Longer than any pause of a client: a connection that is closed just as a request is sent on it fails that request.
    const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS });
    const fake = new FakeCloudflare(server);
    server.on("request", (incoming, outgoing) => {
      const url = new URL(incoming.url ?? "/", "http://fake");
      const body = incoming.method === "GET" ? undefined : (Readable.toWeb(incoming) as ReadableStream);
      const headers = new Headers(
        Object.entries(incoming.headers).flatMap(([name, value]) =>
          typeof value === "string" ? [[name, value] as [string, string]] : [],
        ),
      );
      const request = new Request(url, {
        method: incoming.method ?? "GET",
        headers,
        ...(body && { body, duplex: "half" }),
      });
      const respond = async () => {
        const response = await fake.#answer(request);
        outgoing.writeHead(response.status, Object.fromEntries(response.headers));
        outgoing.end(Buffer.from(await response.arrayBuffer()));
      };
      respond().catch((error: unknown) => {
        console.error(`fake Cloudflare: ${incoming.method} ${incoming.url}`, error);
        incoming.socket.destroy();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return fake;
  }

  get apiUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/client/v4`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Secret of the S3 credentials that belong to a token. */
  secretOf(tokenId: string): string {
    return createHash("sha256")
      .update(this.tokens.get(tokenId)?.value ?? "")
      .digest("hex");
  }

  async #answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const path = url.pathname.replace(/^\/client\/v4/, "");
    const call = { method: request.method, path, query: url.searchParams, request };
    try {
      if (this.isTooMany(`${request.method} ${path}`))
        throw new Refusal(429, 971, "Please wait and consider throttling your request speed");
      if (request.method !== "GET") {
        this.beforeChange(`${request.method} ${path}`);
        this.changes.push(`${request.method} ${path}`);
      }
      if (request.headers.get("Authorization") !== `Bearer ${FAKE_TOKEN}`)
        throw new Refusal(403, 9109, "Invalid access token");
      const result = await this.#route(call);
      const status = request.method === "GET" ? undefined : this.answerWith(`${request.method} ${path}`);
      if (status !== undefined) return envelope(status, false, [{ code: 10001, message: "Internal error" }], null);
      const [shown, pages] = PAGED.test(path) ? onePage(result, url.searchParams) : [result, 1];
      return envelope(200, true, [], shown, pages);
    } catch (error) {
      if (error instanceof z.ZodError)
        return envelope(400, false, [{ code: 10001, message: z.prettifyError(error) }], null);
      if (!(error instanceof Refusal)) throw error;
      const answer = envelope(error.status, false, [{ code: error.code, message: error.message }], null);
      if (error.status === 429) answer.headers.set("Retry-After", "0");
      return answer;
    } finally {
      if (request.body && !request.bodyUsed) await request.arrayBuffer();
    }
  }

  async #route(call: Call): Promise<unknown> {
    const { method, path } = call;
    if (path === "/accounts") {
      if (!this.token.listsAccounts)
        throw new Refusal(400, 1001, "List accounts endpoint does not support account owned tokens.");
      return [{ id: ACCOUNT, name: "Fake" }];
    }
    const [, account, area = "", ...rest] = /^\/accounts\/([^/]+)\/(.*)$/.exec(path)?.slice(0, 3) ?? [];
    if (account !== ACCOUNT) return this.#noRoute(call);
    const parts = [...area.split("/"), ...rest];
    if (parts[0] === "r2" && parts[1] === "buckets") return bucketRoute(this.buckets, call, parts.slice(2));
    if (parts[0] === "queues") return this.#queueRoute(call, parts.slice(1));
    if (parts[0] === "tokens") return this.#tokenRoute(call, parts.slice(1));
    if (parts[0] === "workers") return this.#workerRoute(call, parts.slice(1));
    if (method === "GET" && parts[0] === "event_notifications") return [];
    return this.#noRoute(call);
  }

  #noRoute({ method, path }: Call): never {
    this.unknown.push(`${method} ${path}`);
    throw new Refusal(404, 7003, `Could not route to ${path}`);
  }

  async #queueRoute(call: Call, [id, sub, consumerId]: string[]): Promise<unknown> {
    const { method, query, request } = call;
    if (id === undefined && method === "GET") {
      const name = query.get("name");
      return [...this.queues.values()].filter((queue) => name === null || queue.name === name).map(queueJson);
    }
    if (id === undefined) {
      const name = z.object({ queue_name: z.string() }).parse(await request.json()).queue_name;
      if (this.queues.has(name)) throw new Refusal(409, 11009, `Queue name '${name}' is already taken`);
      const queue = { id: randomUUID().replaceAll("-", ""), name, consumers: [] };
      this.queues.set(name, queue);
      return queueJson(queue);
    }
    const queue = [...this.queues.values()].find((candidate) => candidate.id === id);
    if (!queue) throw new Refusal(404, 11000, "Queue not found");
    if (sub === undefined && method === "GET") return queueJson(queue);
    if (sub === undefined && method === "DELETE") {
      this.queues.delete(queue.name);
      return {};
    }
    if (sub !== "consumers") return this.#noRoute(call);
    if (method === "GET") return queue.consumers;
    const consumer = z.looseObject({ script_name: z.string() }).parse(await request.json());
    if (!this.scripts.has(consumer.script_name)) throw new Refusal(400, 11001, "Script not found");
    if (method === "POST" && queue.consumers.length > 0) throw new Refusal(409, 11004, "A consumer already exists");
    const stored = {
      ...consumer,
      consumer_id: consumerId ?? randomUUID(),
      type: "worker",
      script: consumer.script_name,
    };
    queue.consumers = [stored];
    return stored;
  }

  async #tokenRoute(call: Call, [id]: string[]): Promise<unknown> {
    const { method, request } = call;
    if (!this.token.makesTokens) throw new Refusal(403, 9109, "Unauthorized to access requested resource");
    if (id === "permission_groups")
      return [
        { id: "group-bucket-write", name: BUCKET_WRITE },
        { id: "other", name: "Other" },
      ];
    if (id !== undefined) {
      if (method !== "DELETE") return this.#noRoute(call);
      if (!this.tokens.delete(id)) throw new Refusal(404, 1001, "Token not found");
      return { id };
    }
    if (method === "GET")
      return [...this.tokens].map(([tokenId, { name }]) => ({ id: tokenId, name, status: "active" }));
    const policy = z.object({
      effect: z.enum(["allow", "deny"]),
      permission_groups: z.array(z.object({ id: z.literal("group-bucket-write") })).min(1),
      resources: z.record(z.string(), z.literal("*")),
    });
    const wanted = z
      .strictObject({ name: z.string().min(1).max(120), policies: z.array(policy).min(1) })
      .parse(await request.json());
    const resources = wanted.policies.flatMap(({ resources }) => Object.keys(resources));
    for (const resource of resources) {
      const bucket = /^com\.cloudflare\.edge\.r2\.bucket\.([0-9a-f]{32})_default_(.+)$/.exec(resource);
      if (bucket?.[1] !== ACCOUNT || !this.buckets.has(bucket[2] ?? ""))
        throw new Refusal(400, 1001, `Invalid resource ${resource}`);
    }
    const tokenId = randomUUID().replaceAll("-", "");
    const value = randomUUID();
    this.tokens.set(tokenId, { name: wanted.name, value, resources });
    return { id: tokenId, name: wanted.name, value };
  }

  async #workerRoute(call: Call, parts: string[]): Promise<unknown> {
    const { method, request } = call;
    const [area, name = "", sub, versionId] = parts;
    if (area === "subdomain") {
      if (this.subdomain === undefined) throw new Refusal(404, 10007, "You do not have a workers.dev subdomain.");
      return { subdomain: this.subdomain };
    }
    if (area === "domains") return this.domains.route(call, name);
    if (area === "scripts" && name === "") return [...this.scripts.keys()].map((id) => ({ id }));
    const script = this.scripts.get(name);
    if (area === "services" || area === "workers") {
      if (!script) throw new Refusal(404, 10090, "This service does not exist on your account.");
      return area === "workers"
        ? { id: name, name, subdomain: { enabled: true, previews_enabled: false }, observability: { enabled: true } }
        : { id: name, default_environment: { environment: "production", script: { last_deployed_from: "wrangler" } } };
    }
    if (area !== "scripts") return this.#noRoute(call);
    if (sub === undefined && method === "PUT") return this.#upload(name, await request.formData());
    if (!script) throw new Refusal(404, 10007, "This Worker does not exist on your account.");
    if (sub === undefined && method === "DELETE") {
      const isBound = [...this.scripts].some(
        ([other, { metadata }]) => other !== name && metadata.bindings.some(({ service }) => service === name),
      );
      if (isBound && call.query.get("force") !== "true")
        throw new Refusal(400, 10064, "Cannot delete this Worker as it is still referenced by other Workers.");
      this.scripts.delete(name);
      return {};
    }
    switch (sub ?? "") {
      case "secrets":
        return [...script.secrets.keys()].map((secret) => ({ name: secret, type: "secret_text" }));
      case "deployments":
        if (method === "POST") return deployVersion(script, await request.json(), call.query.get("force") === "true");
        return {
          deployments: script.deployments.slice(0, 10).map(({ versionId, message }) => ({
            id: randomUUID(),
            source: "wrangler",
            strategy: "percentage",
            versions: [{ version_id: versionId, percentage: 100 }],
            annotations: message === undefined ? {} : { "workers/message": message },
          })),
        };
      case "versions":
        // wrangler uploads to a Worker without Durable Objects of its own in two steps: a version, then its deployment.
        if (method === "POST") {
          const versionId = await this.#addVersion(name, script, await request.formData());
          const resources = { bindings: shownBindings(script), script: { etag: randomUUID() }, script_runtime: {} };
          return { id: versionId, resources, startup_time_ms: 5, metadata: { has_preview: false } };
        }
        return {
          id: versionId,
          annotations: script.versions.get(versionId ?? "")?.metadata.annotations,
          items: [...script.versions.keys()].map((id) => ({ id })),
          resources: { bindings: shownBindings(script), script: {} },
        };
      case "settings":
        return { bindings: shownBindings(script) };
      case "script-settings":
        return {};
      case "subdomain":
        return { enabled: true, previews_enabled: false };
      case "schedules":
        if (method === "PUT") script.crons = await request.json();
        return { schedules: script.crons };
      case "bindings":
        return shownBindings(script);
      default:
        return this.#noRoute(call);
    }
  }

  /** Uploads and deploys in one step. */
  async #upload(name: string, form: FormData): Promise<unknown> {
    const script = this.scripts.get(name) ?? newScript();
    const versionId = await this.#addVersion(name, script, form);
    activate(script, versionId);
    this.scripts.set(name, script);
    return { id: name, etag: randomUUID(), startup_time_ms: 5, deployment_id: randomUUID(), entry_point: "worker.js" };
  }

  #addVersion(name: string, script: Script, form: FormData): Promise<string> {
    return addVersion(script, form, (binding, metadata) => this.#checkBinding(name, binding, metadata));
  }

  #checkBinding(script: string, binding: z.infer<typeof Binding>, metadata: Metadata): void {
    const {
      type,
      queue_name: queue,
      bucket_name: bucket,
      script_name: owner,
      class_name: className,
      service,
    } = binding;
    if (type === "queue" && !this.queues.has(queue ?? ""))
      throw new Refusal(400, 10200, `Queue "${queue}" does not exist.`);
    if (type === "r2_bucket" && !this.buckets.has(bucket ?? ""))
      throw new Refusal(400, 10085, `R2 bucket '${bucket}' not found.`);
    if (type === "service" && !this.scripts.has(service ?? ""))
      throw new Refusal(400, 10144, `Service "${service}" was not found.`);
    const { entrypoint } = binding;
    if (
      type === "service" &&
      entrypoint !== undefined &&
      !exportsName(this.scripts.get(service ?? "")?.code, entrypoint)
    )
      throw new Refusal(400, 10144, `Service "${service}" has no entrypoint "${entrypoint}".`);
    if (type !== "durable_object_namespace") return;
    const owning = owner === undefined || owner === script ? metadata : this.scripts.get(owner)?.metadata;
    if (owning?.exports?.[className ?? ""] === undefined)
      throw new Refusal(
        400,
        10061,
        `Cannot create binding for class "${className}": ${owner ?? script} does not export it.`,
      );
  }
}

function queueJson({ id, name, consumers }: Queue) {
  return {
    queue_id: id,
    queue_name: name,
    consumers,
    producers: [],
    consumers_total_count: consumers.length,
    producers_total_count: 0,
  };
}

function onePage(result: unknown, query: URLSearchParams): [unknown, number] {
  if (!Array.isArray(result)) return [result, 1];
  const start = (Number(query.get("page") ?? "1") - 1) * PAGE_SIZE;
  return [result.slice(start, start + PAGE_SIZE), Math.ceil(result.length / PAGE_SIZE)];
}

function envelope(status: number, success: boolean, errors: unknown[], result: unknown, pages = 1): Response {
  const info = { page: 1, per_page: PAGE_SIZE, count: 1, total_count: 1, total_pages: pages };
  return Response.json({ success, errors, messages: [], result, result_info: info }, { status });
}
