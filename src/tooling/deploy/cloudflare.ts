/** Client for the part of Cloudflare's API that a deployment needs besides wrangler. */
import { createHash } from "node:crypto";
import * as z from "zod";
import { OperatorError } from "../errors.ts";
import { PlatformError } from "./errors.ts";
import { createOnce, type JsonRequest, type Reason, requestJson } from "./http.ts";

export const CLOUDFLARE_API = "https://api.cloudflare.com/client/v4";

const Envelope = z.object({
  success: z.boolean().optional(),
  result: z.unknown(),
  result_info: z.object({ total_pages: z.number().optional() }).nullish(),
});
const Refusal = z.object({ errors: z.array(z.object({ code: z.number(), message: z.string() })) });
const Account = z.object({ id: z.string(), name: z.string() });
const Queue = z.object({ queue_id: z.string(), queue_name: z.string() });
const Token = z.object({ id: z.string(), name: z.string(), value: z.string().optional() });
const Secret = z.object({ name: z.string() });
const Bindings = z.object({
  bindings: z.array(z.looseObject({ type: z.string(), name: z.string(), text: z.string().optional() })),
});
const Domain = z.object({ id: z.string(), hostname: z.string(), service: z.string() });
const Version = z.object({ annotations: z.object({ "workers/message": z.string().optional() }).nullish() });
const Deployments = z.object({
  deployments: z.array(
    Version.extend({ versions: z.array(z.object({ version_id: z.string(), percentage: z.number() })) }),
  ),
});

/** A version of a Worker that took its requests. */
interface Deployment {
  /** Undefined where several versions shared the requests. */
  versionId: string | undefined;
  message: string | undefined;
}

/** Credentials of R2's S3 API. */
interface S3Credentials {
  accessKeyId: string;
  secretAccessKey: string;
}

/** Most pages of a list that are read. */
const MAX_PAGES = 100;

/** Permission group for reading and writing the objects of one bucket. */
const BUCKET_WRITE = "Workers R2 Storage Bucket Item Write";

/** Code of the refusal of a version whose secrets are not the present ones. */
const SECRETS_CHANGED = 10220;

export class Cloudflare {
  readonly #options: { apiUrl: string; token: string; accountId: string };

  constructor(options: { apiUrl: string; token: string; accountId: string }) {
    this.#options = options;
  }

  /** Lists the accounts of a token. Throws `PlatformError` (401, 403) if the token is invalid. */
  static async accounts(apiUrl: string, token: string): Promise<z.infer<typeof Account>[]> {
    return listAll(Account, { url: `${apiUrl}/accounts?per_page=50`, token });
  }

  /** The account's subdomain of `workers.dev`; undefined if it has not chosen one. */
  async workersSubdomain(): Promise<string | undefined> {
    const found = await this.#find(z.object({ subdomain: z.string().nullish() }), "/workers/subdomain");
    return found?.subdomain ?? undefined;
  }

  async hasBucket(name: string): Promise<boolean> {
    return (await this.#find(z.object({ name: z.string() }), `/r2/buckets/${name}`)) !== undefined;
  }

  async createBucket(name: string): Promise<void> {
    await createOnce(
      () => this.#create(z.unknown(), "/r2/buckets", { name }),
      async () => (await this.hasBucket(name)) || undefined,
    );
  }

  /** Deletes an empty bucket. Returns false if there is none. */
  async deleteBucket(name: string): Promise<boolean> {
    return this.#delete(`/r2/buckets/${name}`);
  }

  /** The bucket's lifecycle rules, in the API's format. */
  async lifecycle(bucket: string): Promise<unknown[]> {
    const found = await this.#find(
      z.object({ rules: z.array(z.unknown()).nullish() }),
      `/r2/buckets/${bucket}/lifecycle`,
    );
    return found?.rules ?? [];
  }

  async setLifecycle(bucket: string, rules: readonly unknown[]): Promise<void> {
    await this.#call(z.unknown(), "PUT", `/r2/buckets/${bucket}/lifecycle`, { rules });
  }

  /** The bucket's CORS rules; empty if it has none. */
  async cors(bucket: string): Promise<unknown[]> {
    const found = await this.#find(z.object({ rules: z.array(z.unknown()).nullish() }), `/r2/buckets/${bucket}/cors`);
    return found?.rules ?? [];
  }

  /** Replaces the bucket's CORS rules. R2 refuses an empty list, so none at all means deleting the configuration. */
  async setCors(bucket: string, rules: readonly unknown[]): Promise<void> {
    const path = `/r2/buckets/${bucket}/cors`;
    if (rules.length === 0) await this.#delete(path);
    else await this.#call(z.unknown(), "PUT", path, { rules });
  }

  async findQueue(name: string): Promise<z.infer<typeof Queue> | undefined> {
    const queues = await this.#list(Queue, `/queues?name=${encodeURIComponent(name)}`);
    return queues.find((queue) => queue.queue_name === name);
  }

  async createQueue(name: string): Promise<void> {
    await createOnce<unknown>(
      () => this.#create(Queue, "/queues", { queue_name: name }),
      () => this.findQueue(name),
    );
  }

  /** Returns false if there is no such queue. */
  async deleteQueue(name: string): Promise<boolean> {
    const queue = await this.findQueue(name);
    return queue !== undefined && (await this.#delete(`/queues/${queue.queue_id}`));
  }

  /** Names of a Worker's secrets (values cannot be read); undefined if there is no such Worker. */
  async secretNames(script: string): Promise<string[] | undefined> {
    const found = await this.#find(z.array(Secret), `/workers/scripts/${script}/secrets`);
    return found?.map(({ name }) => name);
  }

  /** The variables of a Worker's current version; undefined if there is no such Worker. */
  async vars(script: string): Promise<Record<string, string> | undefined> {
    const found = await this.#find(Bindings, `/workers/scripts/${script}/settings`);
    const texts = found?.bindings.filter(({ type }) => type === "plain_text");
    return texts && Object.fromEntries(texts.flatMap(({ name, text }) => (text === undefined ? [] : [[name, text]])));
  }

  /** Deployments of a Worker (the last ten), the current one first; empty if there is no such Worker. */
  async deployments(script: string): Promise<Deployment[]> {
    const found = await this.#find(Deployments, `/workers/scripts/${script}/deployments`);
    return Promise.all(
      (found?.deployments ?? []).map(async ({ versions, annotations }) => {
        const versionId = versions.length === 1 ? versions[0]?.version_id : undefined;
        const message = annotations?.["workers/message"];
        // An upload that is deployed at once leaves the message with the version.
        if (message !== undefined || versionId === undefined) return { versionId, message };
        const version = await this.#find(Version, `/workers/scripts/${script}/versions/${versionId}`);
        return { versionId, message: version?.annotations?.["workers/message"] };
      }),
    );
  }

  /**
   * Sends all requests of a Worker to one of its versions. Returns what Cloudflare says about secrets that have changed since: the
   * version brings its own back.
   */
  async deployVersion(script: string, versionId: string, message: string): Promise<string | undefined> {
    const path = `/workers/scripts/${script}/deployments`;
    const body = {
      strategy: "percentage",
      versions: [{ version_id: versionId, percentage: 100 }],
      annotations: { "workers/message": message },
    };
    try {
      await this.#call(z.unknown(), "POST", path, body);
      return undefined;
    } catch (error) {
      if (!(error instanceof PlatformError && error.codes.includes(SECRETS_CHANGED))) throw error;
      await this.#call(z.unknown(), "POST", `${path}?force=true`, body);
      return error.message;
    }
  }

  /** Returns false if there is no such Worker. */
  async deleteScript(name: string): Promise<boolean> {
    return this.#delete(`/workers/scripts/${name}?force=true`);
  }

  /** Custom domains with this host name, or of this Worker. */
  async domains(filter: { hostname: string } | { service: string }): Promise<z.infer<typeof Domain>[]> {
    const query = new URLSearchParams(filter).toString();
    return this.#call(z.array(Domain), "GET", `/workers/domains?${query}`);
  }

  /** Sends the requests for a host name of the account's zones to a Worker. Cloudflare makes the DNS record and the certificate. */
  async attachDomain(hostname: string, service: string): Promise<void> {
    await this.#call(z.unknown(), "PUT", "/workers/domains", { hostname, service, environment: "production" });
  }

  async detachDomain(id: string): Promise<void> {
    await this.#delete(`/workers/domains/${id}`);
  }

  async findToken(name: string): Promise<string | undefined> {
    const tokens = await this.#list(Token, "/tokens?per_page=50");
    return tokens.find((token) => token.name === name)?.id;
  }

  async deleteToken(id: string): Promise<void> {
    await this.#delete(`/tokens/${id}`);
  }

  /**
   * Creates a token for one bucket's objects and returns it as S3 credentials: the access key id is the token's id, the secret is the
   * SHA-256 of its value (Cloudflare, "R2: S3 API tokens"). The API returns the value only once.
   */
  async createBucketToken(name: string, bucket: string): Promise<S3Credentials> {
    const group = await this.bucketWriteGroup();
    const resource = `com.cloudflare.edge.r2.bucket.${this.#options.accountId}_default_${bucket}`;
    const policies = [{ effect: "allow", permission_groups: [{ id: group }], resources: { [resource]: "*" } }];
    const token = await createOnce(
      () => this.#create(Token, "/tokens", { name, policies }),
      async () => {
        // Its value is lost with the answer.
        const lost = await this.findToken(name);
        if (lost !== undefined) await this.deleteToken(lost);
        return undefined;
      },
    );
    if (token.value === undefined) throw new OperatorError("Cloudflare created an R2 token but did not show its value");
    return { accessKeyId: token.id, secretAccessKey: createHash("sha256").update(token.value).digest("hex") };
  }

  /** Id of the permission that an R2 key needs. Throws `PlatformError` (403) if the token may not see or create tokens. */
  async bucketWriteGroup(): Promise<string> {
    const groups = await this.#call(
      z.array(z.object({ id: z.string(), name: z.string() })),
      "GET",
      `/tokens/permission_groups?name=${encodeURIComponent(BUCKET_WRITE)}`,
    );
    const group = groups.find((candidate) => candidate.name === BUCKET_WRITE);
    if (!group)
      throw new OperatorError(
        `Cloudflare lists no permission group "${BUCKET_WRITE}": set R2_ACCESS_KEY_ID and R2_SECRET_ACCESS_KEY yourself`,
      );
    return group.id;
  }

  #call<T>(schema: z.ZodType<T>, method: JsonRequest["method"], path: string, body?: unknown): Promise<T> {
    const { apiUrl, token, accountId } = this.#options;
    return call(schema, { method, url: `${apiUrl}/accounts/${accountId}${path}`, token, body });
  }

  #create<T>(schema: z.ZodType<T>, path: string, body: unknown): Promise<T> {
    const { apiUrl, token, accountId } = this.#options;
    return call(schema, {
      method: "POST",
      url: `${apiUrl}/accounts/${accountId}${path}`,
      token,
      body,
      isCreation: true,
    });
  }

  /** All pages of a list. `path` has a query. */
  #list<T>(schema: z.ZodType<T>, path: string): Promise<T[]> {
    const { apiUrl, token, accountId } = this.#options;
    return listAll(schema, { url: `${apiUrl}/accounts/${accountId}${path}`, token });
  }

  /** Like a GET, but undefined for 404. */
  async #find<T>(schema: z.ZodType<T>, path: string): Promise<T | undefined> {
    try {
      return await this.#call(schema, "GET", path);
    } catch (error) {
      if (error instanceof PlatformError && error.status === 404) return undefined;
      throw error;
    }
  }

  /** DELETE that returns false for 404. */
  async #delete(path: string): Promise<boolean> {
    try {
      await this.#call(z.unknown(), "DELETE", path);
      return true;
    } catch (error) {
      if (!(error instanceof PlatformError && error.status === 404)) throw error;
      return false;
    }
  }
}

async function call<T>(schema: z.ZodType<T>, request: Omit<JsonRequest, "describe">): Promise<T> {
  return (await callPage(schema, request)).result;
}

async function callPage<T>(
  schema: z.ZodType<T>,
  request: Omit<JsonRequest, "describe">,
): Promise<{ result: T; pages: number }> {
  const target = `${request.method} ${new URL(request.url).pathname}`;
  const json = await requestJson({ ...request, describe });
  const answer = Envelope.safeParse(json);
  if (answer.data?.success === false)
    throw new OperatorError(`${target} failed: ${describe(json)?.message ?? "no reason given"}`);
  const result = schema.safeParse(answer.data?.result);
  if (!result.success) throw new OperatorError(`${target}: Cloudflare's answer has an unknown form`);
  return { result: result.data, pages: answer.data?.result_info?.total_pages ?? 1 };
}

/** All pages of a list. `url` has a query. */
async function listAll<T>(schema: z.ZodType<T>, { url, token }: { url: string; token: string }): Promise<T[]> {
  const all: T[] = [];
  for (let page = 1; page <= MAX_PAGES; page++) {
    const { result, pages } = await callPage(z.array(schema), { method: "GET", url: `${url}&page=${page}`, token });
    all.push(...result);
    if (page >= pages) break;
  }
  return all;
}

function describe(json: unknown): Reason | undefined {
  const errors = Refusal.safeParse(json).data?.errors ?? [];
  if (errors.length === 0) return undefined;
  return {
    message: errors.map(({ code, message }) => `${message} (${code})`).join("; "),
    codes: errors.map(({ code }) => code),
  };
}
