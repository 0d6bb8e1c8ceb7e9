/**
 * The part of Neon's API that a deployment uses, as its published schema (@neondatabase/api-client) and its manual describe it. Every
 * project has the same database: the one given.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";

/** The key of a person, who is a member of `organizations`. */
export const FAKE_NEON_KEY = "fake-neon-key";
/** The key of the organization `ORGANIZATION`. */
export const FAKE_NEON_ORG_KEY = "fake-neon-org-key";
export const ORGANIZATION = { id: "org-morning-bread-81040908", name: "Acme" };

const Id = z.string().regex(/^[a-z0-9-]{1,60}$/);
const ProjectRequest = z.strictObject({
  project: z.strictObject({
    name: z.string().min(1).max(256).optional(),
    region_id: z.string().optional(),
    pg_version: z.int().min(14).max(18).optional(),
    org_id: Id.optional(),
    branch: z.strictObject({ name: z.string(), role_name: z.string(), database_name: z.string() }).partial().optional(),
  }),
});
const REGIONS = new Set(["aws-us-east-1", "aws-us-east-2", "aws-eu-central-1", "azure-eastus2"]);
/** `default`, `maximum` of `limit` in the list of projects. */
const LIMIT = z.coerce.number().int().min(1).max(400).default(10);

interface Project {
  name: string;
  polls: number;
  orgId: string;
}

/** Thrown by a route; becomes Neon's `GeneralError`. */
class NeonRefusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export class FakeNeon {
  readonly projects = new Map<string, Project>();
  /** Organizations of the person. */
  organizations = [ORGANIZATION];
  readonly unknown: string[] = [];
  beforeChange: (change: string) => void = () => {};
  /** Status that a change is answered with after it was made, in place of the true answer. */
  answerWith: (change: string) => number | undefined = () => undefined;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(databaseUrl: string): Promise<FakeNeon> {
    const server = createServer();
    const fake = new FakeNeon(server);
    server.on("request", (request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const url = new URL(request.url ?? "/", "http://fake");
        const key = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1];
        const body = Buffer.concat(chunks).toString();
        const { status, json } = fake.#answer(request.method ?? "GET", url, key, body, databaseUrl);
        response.writeHead(status, { "Content-Type": "application/json" });
        response.end(JSON.stringify(json));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return fake;
  }

  get apiUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/api/v2`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer(method: string, url: URL, key: string | undefined, body: string, databaseUrl: string) {
    const path = url.pathname.replace(/^\/api\/v2/, "");
    try {
      if (key !== FAKE_NEON_KEY && key !== FAKE_NEON_ORG_KEY)
        throw new NeonRefusal(401, "supplied credentials do not pass authentication");
      if (method !== "GET") this.beforeChange(`${method} ${path}`);
      const answer = this.#route(method, path, url.searchParams, key, body, databaseUrl);
      const status = method === "GET" ? undefined : this.answerWith(`${method} ${path}`);
      return status === undefined ? answer : refusal(status, "internal error");
    } catch (error) {
      if (error instanceof z.ZodError) return refusal(400, z.prettifyError(error));
      if (!(error instanceof NeonRefusal)) throw error;
      return refusal(error.status, error.message);
    }
  }

  #route(method: string, path: string, query: URLSearchParams, key: string, body: string, databaseUrl: string) {
    if (path === "/users/me/organizations" && method === "GET")
      return ok({ organizations: key === FAKE_NEON_KEY ? this.organizations : [ORGANIZATION] });
    if (path === "/projects" && method === "GET") return this.#list(query, key);
    if (path === "/projects" && method === "POST") return this.#create(ProjectRequest.parse(JSON.parse(body)), key);
    const [, id = "", sub] = /^\/projects\/([^/]+)(?:\/(\w+))?$/.exec(path) ?? [];
    const project = this.projects.get(Id.parse(id));
    if (!project || !this.#mayUse(project.orgId, key)) throw new NeonRefusal(404, "project not found");
    if (method === "DELETE" && sub === undefined) {
      this.projects.delete(id);
      return ok({ project: { id } });
    }
    if (sub === "operations")
      return ok({ operations: [{ id: "op", status: project.polls++ === 0 ? "running" : "finished" }] });
    if (sub === "connection_uri") {
      z.object({ database_name: z.string(), role_name: z.string() }).parse(Object.fromEntries(query));
      if (project.polls < 2) throw new NeonRefusal(423, "project already has running conflicting operations");
      return ok({ uri: databaseUrl });
    }
    this.unknown.push(`${method} ${path}`);
    throw new NeonRefusal(404, "this page could not be found");
  }

  #mayUse(orgId: string, key: string): boolean {
    const owners = key === FAKE_NEON_KEY ? this.organizations : [ORGANIZATION];
    return owners.some(({ id }) => id === orgId);
  }

  /** The key of an organization implies it; a person's key does not. */
  #owner(given: string | null | undefined, key: string): string {
    const orgId = given ?? (key === FAKE_NEON_ORG_KEY ? ORGANIZATION.id : undefined);
    if (orgId === undefined)
      throw new NeonRefusal(400, "org_id is required, you can find it on your organization settings page");
    if (!this.#mayUse(Id.parse(orgId), key)) throw new NeonRefusal(403, "not allowed to access this organization");
    return orgId;
  }

  /** One project a page, however high the limit; the cursor is the last one's id. */
  #list(query: URLSearchParams, key: string) {
    LIMIT.parse(query.get("limit") ?? undefined);
    const owner = this.#owner(query.get("org_id"), key);
    const search = query.get("search") ?? "";
    const found = [...this.projects].filter(
      ([id, { name, orgId }]) => orgId === owner && (name.includes(search) || id.includes(search)),
    );
    const after = found.findIndex(([id]) => id === query.get("cursor"));
    const page = found.slice(after + 1, after + 2).map(([id, { name, orgId }]) => ({ id, name, org_id: orgId }));
    return ok({ projects: page, pagination: { cursor: page.at(-1)?.id ?? query.get("cursor") ?? "" } });
  }

  #create({ project }: z.infer<typeof ProjectRequest>, key: string) {
    if (project.region_id !== undefined && !REGIONS.has(project.region_id))
      throw new NeonRefusal(400, `unknown region ${project.region_id}`);
    const orgId = this.#owner(project.org_id, key);
    const id = `project-${this.projects.size + 1}`;
    const name = project.name ?? id;
    this.projects.set(id, { name, polls: 0, orgId });
    return {
      status: 201,
      json: { project: { id, name, org_id: orgId }, operations: [{ id: "op", status: "running" }] },
    };
  }
}

function ok(json: unknown): { status: number; json: unknown } {
  return { status: 200, json };
}

function refusal(status: number, message: string): { status: number; json: unknown } {
  return { status, json: { request_id: "00000000-0000-4000-8000-000000000000", code: "", message } };
}
