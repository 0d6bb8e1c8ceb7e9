/**
 * A GitHub Enterprise Server, as far as Apps and sign-in use it, with git repositories behind it. Its answers have the types of GitHub's
 * published OpenAPI description (`@octokit/openapi-types`), its events those of `@octokit/webhooks-types`. It checks what GitHub checks: the
 * fields of a manifest, that codes are used once, the tokens of Apps (signature, issuer, times), what a token may read, and PKCE.
 */
import { createHash, createHmac, createPublicKey, generateKeyPairSync, randomBytes, verify } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import path from "node:path";
import type { components, operations } from "@octokit/openapi-types";
import type { InstallationEvent, InstallationRepositoriesEvent, PushEvent } from "@octokit/webhooks-types";
import * as z from "zod";
import { FakeSignIns } from "./fake-github-sign-in.ts";
import { startGitBackend } from "./git-backend.ts";
import { GitRepo } from "./git-repo.ts";

type Schemas = components["schemas"];
type Conversion = operations["apps/create-from-manifest"]["responses"][201]["content"]["application/json"];

/** The fields of a manifest (docs.github.com, "Registering a GitHub App from a manifest"). */
const Manifest = z.strictObject({
  name: z.string().min(1).max(34),
  url: z.url(),
  hook_attributes: z.strictObject({ url: z.url(), active: z.boolean().optional() }).optional(),
  redirect_url: z.url().optional(),
  callback_urls: z.array(z.url()).max(10).optional(),
  setup_url: z.url().optional(),
  description: z.string().optional(),
  public: z.boolean().optional(),
  default_events: z.array(z.enum(["push", "delete", "repository"])).optional(),
  default_permissions: z
    .partialRecord(z.enum(["contents", "metadata", "emails"]), z.enum(["read", "write"]))
    .optional(),
  request_oauth_on_install: z.boolean().optional(),
  setup_on_update: z.boolean().optional(),
});

export interface FakeApp {
  id: number;
  slug: string;
  name: string;
  owner: string;
  manifest: z.infer<typeof Manifest>;
  webhookSecret: string;
  clientSecret: string;
  /** Private key in PEM (PKCS #1, as GitHub sends it). */
  pem: string;
}

interface Installation {
  id: number;
  app: FakeApp;
  repositories: Set<number>;
  isSuspended: boolean;
}

interface Token {
  installation: Installation;
  repositories: ReadonlySet<number> | "all";
  permissions: Record<string, string>;
}

interface FakeRepository {
  id: number;
  name: string;
  isPrivate: boolean;
}

const md5 = (text: string) => createHash("md5").update(text).digest("hex");

export class FakeGithub implements AsyncDisposable {
  readonly work = new GitRepo();
  readonly apps: FakeApp[] = [];
  readonly installations = new Map<number, Installation>();
  readonly repositories: FakeRepository[] = [];
  /** Every secret that it has given out. */
  readonly secrets: string[] = [];
  readonly signIns = new FakeSignIns(this.secrets);
  /** The calls of its API: method, path and status. */
  readonly calls: string[] = [];
  /** Answers the API with this status, or not at all. */
  failing: number | "silence" | "redirect" | undefined;
  origin = "";
  #backend: Awaited<ReturnType<typeof startGitBackend>> | undefined;
  readonly #codes = new Map<string, FakeApp>();
  readonly #tokens = new Map<string, Token>();

  /** Starts it with repositories of one account, all with the same files. */
  static async start(names: readonly string[], files: Readonly<Record<string, string>>): Promise<FakeGithub> {
    const fake = new FakeGithub();
    fake.work.files(files).commit("first");
    for (const name of names) {
      fake.work.git("clone", "-q", "--bare", fake.work.dir, path.join(fake.work.root, `acme/${name}.git`));
      fake.repositories.push({ id: 1_000 + fake.repositories.length, name: `acme/${name}`, isPrivate: true });
    }
    fake.#backend = await startGitBackend(fake.work.root, {
      intercept: (request, response) => fake.#answer(request, response),
    });
    fake.origin = fake.#backend.origin;
    return fake;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#backend?.close();
    this.work.remove();
  }

  /** What a person does on the page of a manifest: confirms. Returns where GitHub leads the browser. */
  confirmManifest(action: string, manifest: string): URL {
    const url = new URL(action);
    const [, , organization] = url.pathname.split("/");
    if (url.origin !== this.origin || !/^(?:\/organizations\/[\w-]+)?\/settings\/apps\/new$/.test(url.pathname))
      throw new Error(`no form is sent to ${action}`);
    const parsed = Manifest.parse(JSON.parse(manifest));
    const { privateKey: pem } = generateKeyPairSync("rsa", {
      modulusLength: 2_048,
      privateKeyEncoding: { type: "pkcs1", format: "pem" },
      publicKeyEncoding: { type: "spki", format: "pem" },
    });
    const app = {
      id: 37 + this.apps.length,
      slug: parsed.name.toLowerCase().replace(/[^a-z\d]+/g, "-"),
      name: parsed.name,
      owner: organization === "apps" ? "ann" : (organization ?? ""),
      manifest: parsed,
      webhookSecret: randomBytes(20).toString("hex"),
      clientSecret: randomBytes(20).toString("hex"),
      pem,
    };
    this.secrets.push(app.webhookSecret, app.clientSecret, pem.split("\n")[3] ?? "");
    this.apps.push(app);
    const code = randomBytes(20).toString("hex");
    this.#codes.set(code, app);
    const back = new URL(parsed.redirect_url ?? "");
    back.searchParams.set("code", code);
    back.searchParams.set("state", url.searchParams.get("state") ?? "");
    return back;
  }

  /** Installs an App on repositories, and reports it. */
  async install(app: FakeApp, repositories = this.repositories): Promise<number> {
    const id = 5_000 + this.installations.size;
    const installation = {
      id,
      app,
      repositories: new Set(repositories.map((one) => one.id)),
      isSuspended: false,
    };
    this.installations.set(id, installation);
    await this.report(id, "created");
    return id;
  }

  /** Reports a change of an installation, after making it. */
  async report(id: number, action: "created" | "deleted" | "suspend" | "unsuspend"): Promise<Response> {
    const installation = this.#installation(id);
    if (action === "deleted") this.installations.delete(id);
    installation.isSuspended = action === "suspend" || (installation.isSuspended && action !== "unsuspend");
    const event = {
      action,
      installation: { id, account: { login: "acme" } },
      repositories: this.repositories
        .filter((one) => installation.repositories.has(one.id))
        .map((one) => ({ id: one.id, node_id: md5(one.name), name: one.name, full_name: one.name, private: true })),
    } satisfies Partial<Record<keyof InstallationEvent, unknown>>;
    return this.deliver(installation.app, "installation", event);
  }

  /** Adds a repository to an installation or removes it, and reports it. */
  async select(id: number, repository: FakeRepository, action: "added" | "removed"): Promise<Response> {
    const installation = this.#installation(id);
    if (action === "added") installation.repositories.add(repository.id);
    else installation.repositories.delete(repository.id);
    const list = [{ id: repository.id, full_name: repository.name }];
    const event = {
      action,
      installation: { id },
      repository_selection: "selected",
      repositories_added: action === "added" ? list : [],
      repositories_removed: action === "removed" ? list : [],
    } satisfies Partial<Record<keyof InstallationRepositoriesEvent, unknown>>;
    return this.deliver(installation.app, "installation_repositories", event);
  }

  /** Pushes a branch of the work tree to a repository, and reports it. */
  async push(app: FakeApp, repository: FakeRepository, branch = "main"): Promise<Response> {
    this.work.git("push", "-q", path.join(this.work.root, `${repository.name}.git`), branch);
    return this.reportPush(app, repository, {
      ref: `refs/heads/${branch}`,
      after: this.work.git("rev-parse", branch).trim(),
    });
  }

  reportPush(app: FakeApp, repository: FakeRepository, push: Pick<PushEvent, "ref" | "after">): Promise<Response> {
    const installation = [...this.installations.values()].find((one) => one.app === app);
    const event = {
      ...push,
      before: "1481a2de7b2a7d02428ad93446ab166be7793fbb",
      deleted: /^0+$/.test(push.after),
      repository: { id: repository.id, full_name: repository.name, default_branch: "main", pushed_at: Date.now() },
      installation: { id: installation?.id ?? 0 },
    } satisfies Partial<Record<keyof PushEvent, unknown>>;
    return this.deliver(app, "push", event);
  }

  /** Sends an event to the webhook of an App. `headers` replace those of GitHub. */
  deliver(app: FakeApp, event: string, payload: object, headers: Record<string, string> = {}): Promise<Response> {
    const body = JSON.stringify(payload);
    return fetch(app.manifest.hook_attributes?.url ?? "", {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        "X-GitHub-Event": event,
        "X-GitHub-Delivery": crypto.randomUUID(),
        "X-GitHub-Hook-Installation-Target-Type": "integration",
        "X-GitHub-Hook-Installation-Target-ID": String(app.id),
        "X-Hub-Signature-256": `sha256=${createHmac("sha256", app.webhookSecret).update(body).digest("hex")}`,
        ...headers,
      },
      body,
    });
  }

  #installation(id: number): Installation {
    const installation = this.installations.get(id);
    if (!installation) throw new Error(`there is no installation ${id}`);
    return installation;
  }

  /** Answers by hand what is not git, and refuses git without a token. Returns whether it has answered. */
  #answer(request: IncomingMessage, response: ServerResponse): boolean {
    const url = new URL(request.url ?? "/", this.origin);
    const body = this.#backend?.requests.at(-1)?.body ?? "";
    if (url.pathname.includes(".git/")) {
      if (this.#mayRead(request, url.pathname)) return false;
      response.writeHead(401, { "www-authenticate": 'Basic realm="GitHub"' }).end();
      return true;
    }
    if (this.failing === "silence") return true;
    const [status, answer] =
      typeof this.failing === "number" ? [this.failing, { message: "failed" }] : this.#route(request, url, body);
    this.calls.push(`${request.method} ${url.pathname} ${status}`);
    if (this.failing === "redirect") response.writeHead(302, { Location: "http://127.0.0.1:1/stolen" }).end();
    else if (typeof answer === "string") response.writeHead(status, { Location: answer }).end();
    else response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(answer));
    return true;
  }

  #mayRead({ headers }: IncomingMessage, pathname: string): boolean {
    const repository = this.repositories.find(({ name }) => pathname.startsWith(`/${name}.git/`));
    if (repository?.isPrivate === false) return true;
    const sent = Buffer.from((headers.authorization ?? "").replace(/^Basic /, ""), "base64").toString();
    const token = sent.startsWith("x-access-token:") ? this.#tokens.get(sent.slice(15)) : undefined;
    return (
      repository !== undefined &&
      token?.permissions["contents"] === "read" &&
      (token.repositories === "all" || token.repositories.has(repository.id)) &&
      token.installation.repositories.has(repository.id)
    );
  }

  #route(request: IncomingMessage, url: URL, body: string): [number, unknown] {
    const { pathname, searchParams } = url;
    const call = `${request.method} ${pathname.replace(/^\/api\/v3/, "")}`;
    const bearer = (request.headers.authorization ?? "").replace(/^Bearer /, "");
    const conversion = /^POST \/app-manifests\/(\w+)\/conversions$/.exec(call)?.[1];
    if (conversion !== undefined) return this.#convert(conversion);
    if (call === "GET /login/oauth/authorize") return this.signIns.authorize(searchParams);
    if (call === "POST /login/oauth/access_token") return this.signIns.exchange(request, body);
    // Pages that a person opens.
    if (/^POST (?:\/organizations\/[\w-]+)?\/settings\/apps\/new$/.test(call))
      return [302, this.confirmManifest(url.href, new URLSearchParams(body).get("manifest") ?? "").href];
    const installed = this.apps.find(({ slug }) => call === `GET /apps/${slug}/installations/new`);
    if (installed) {
      void this.install(installed);
      return [302, installed.manifest.setup_url ?? ""];
    }
    if (call === "GET /user/emails") return this.signIns.emails(bearer);
    if (call === "GET /installation/repositories") return this.#list(bearer, searchParams);
    const app = this.#appOf(bearer);
    if (!app) return [401, { message: "A JSON web token could not be decoded" }];
    if (call === "GET /app/installations")
      return [200, [...this.installations.values()].filter((one) => one.app === app).map((one) => describe(one))];
    const id = /^POST \/app\/installations\/(\d+)\/access_tokens$/.exec(call)?.[1];
    return id === undefined ? [404, { message: "Not Found" }] : this.#mint(app, Number(id), body);
  }

  #convert(code: string): [number, unknown] {
    const app = this.#codes.get(code);
    this.#codes.delete(code);
    if (!app) return [404, { message: "Not Found" }];
    const at = new Date().toISOString();
    const made = {
      id: app.id,
      slug: app.slug,
      node_id: "MDExOkludGVncmF0aW9uMQ==",
      name: app.name,
      owner: { login: app.owner } as Schemas["simple-user"],
      description: null,
      external_url: app.manifest.url,
      html_url: `${this.origin}/apps/${app.slug}`,
      created_at: at,
      updated_at: at,
      permissions: app.manifest.default_permissions ?? {},
      events: app.manifest.default_events ?? [],
      client_id: "Iv1.b507a08c87ecfe98",
      client_secret: app.clientSecret,
      webhook_secret: app.webhookSecret,
      pem: app.pem,
    } satisfies Conversion;
    return [201, made];
  }

  /** The App whose token this is, checked as GitHub does. */
  #appOf(jwt: string): FakeApp | undefined {
    const [header = "", claims = "", signature = ""] = jwt.split(".");
    const parse = (part: string) =>
      JSON.parse(Buffer.from(part, "base64url").toString() || "{}") as Record<string, unknown>;
    const { iss, iat, exp } = parse(claims);
    const app = this.apps.find(({ id }) => String(id) === iss);
    const now = Date.now() / 1_000;
    const isTimely = Number(iat) <= now && Number(exp) > now && Number(exp) - now <= 600;
    if (!app || parse(header)["alg"] !== "RS256" || !isTimely) return undefined;
    const signed = Buffer.from(`${header}.${claims}`);
    return verify("sha256", signed, createPublicKey(app.pem), Buffer.from(signature, "base64url")) ? app : undefined;
  }

  #mint(app: FakeApp, id: number, body: string): [number, unknown] {
    const installation = this.installations.get(id);
    if (installation?.app !== app) return [404, { message: "Not Found" }];
    if (installation.isSuspended) return [403, { message: "This installation has been suspended" }];
    type Wanted = NonNullable<operations["apps/create-installation-access-token"]["requestBody"]>;
    const wanted = JSON.parse(body) as Wanted["content"]["application/json"];
    const ids = wanted?.repository_ids;
    const permissions = Object.entries(wanted?.permissions ?? {}) as [string, string][];
    const isGranted = permissions.every(([name, level]) => level === "read" && ["contents", "metadata"].includes(name));
    if (!isGranted || ids?.some((one) => !installation.repositories.has(one)) === true)
      return [422, { message: "There is at least one repository that does not exist or is not accessible" }];
    const token = `ghs_${randomBytes(18).toString("hex")}`;
    this.secrets.push(token);
    this.#tokens.set(token, {
      installation,
      repositories: ids ? new Set(ids) : "all",
      permissions: Object.fromEntries(permissions),
    });
    const made = {
      token,
      expires_at: new Date(Date.now() + 3_600_000).toISOString(),
      ...(ids && {
        repository_selection: "selected" as const,
        repositories: this.repositories.filter((one) => ids.includes(one.id)).map((one) => this.#describe(one)),
      }),
    } satisfies Schemas["installation-token"];
    return [201, made];
  }

  #list(bearer: string, query: URLSearchParams): [number, unknown] {
    const token = this.#tokens.get(bearer);
    if (token?.permissions["metadata"] !== "read") return [401, { message: "Bad credentials" }];
    const all = this.repositories.filter((one) => token.installation.repositories.has(one.id));
    const [rows, page] = [Number(query.get("per_page") ?? "30"), Number(query.get("page") ?? "1")];
    const repositories = all.slice((page - 1) * rows, page * rows).map((one) => this.#describe(one));
    return [200, { total_count: all.length, repositories }];
  }

  #describe({ id, name, isPrivate }: FakeRepository): Schemas["repository"] {
    const described = {
      id,
      name: name.split("/")[1] ?? "",
      full_name: name,
      private: isPrivate,
      archived: false,
      html_url: `${this.origin}/${name}`,
      clone_url: `${this.origin}/${name}.git`,
      default_branch: "main",
    } satisfies Partial<Schemas["repository"]>;
    return described as Schemas["repository"];
  }
}

function describe({ id, app, isSuspended }: Installation): Partial<Schemas["installation"]> {
  return {
    id,
    account: { login: app.owner } as Schemas["simple-user"],
    repository_selection: "selected",
    app_id: app.id,
    app_slug: app.slug,
    suspended_at: isSuspended ? new Date().toISOString() : null,
  };
}
