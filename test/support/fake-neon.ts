/** The part of Neon's API that a deployment uses. Every project has the same database: the one given. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";

export const FAKE_NEON_KEY = "fake-neon-key";

export class FakeNeon {
  readonly projects = new Map<string, { name: string; polls: number }>();
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
        const body = Buffer.concat(chunks).toString();
        const isKnown = request.headers.authorization === `Bearer ${FAKE_NEON_KEY}`;
        const url = new URL(request.url ?? "/", "http://fake");
        const answer = isKnown
          ? fake.#route(request.method ?? "GET", url, body, databaseUrl)
          : { status: 401, json: { message: "authentication failed" } };
        response.writeHead(answer.status, { "Content-Type": "application/json" });
        response.end(JSON.stringify(answer.json));
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

  #route(method: string, url: URL, body: string, databaseUrl: string): { status: number; json: unknown } {
    const path = url.pathname.replace(/^\/api\/v2/, "");
    if (method !== "GET") this.beforeChange(`${method} ${path}`);
    if (path === "/projects" && method === "GET") {
      // One project a page; the cursor is the last one's id.
      const found = [...this.projects].filter(([, { name }]) => name.includes(url.searchParams.get("search") ?? ""));
      const after = found.findIndex(([id]) => id === url.searchParams.get("cursor"));
      const page = found.slice(after + 1, after + 2).map(([id, { name }]) => ({ id, name }));
      return ok({ projects: page, pagination: { cursor: page.at(-1)?.id ?? url.searchParams.get("cursor") ?? "" } });
    }
    if (path === "/projects" && method === "POST") {
      const { name } = z.object({ project: z.object({ name: z.string() }) }).parse(JSON.parse(body)).project;
      const id = `project-${this.projects.size + 1}`;
      this.projects.set(id, { name, polls: 0 });
      const status = this.answerWith(`${method} ${path}`);
      if (status !== undefined) return { status, json: { message: "internal error" } };
      return { status: 201, json: { project: { id, name } } };
    }
    const [, id = "", sub] = /^\/projects\/([^/]+)(?:\/(\w+))?$/.exec(path) ?? [];
    const project = this.projects.get(id);
    if (!project) return { status: 404, json: { message: "project not found" } };
    if (method === "DELETE" && sub === undefined) {
      this.projects.delete(id);
      return ok({ project: { id } });
    }
    if (sub === "operations") return ok({ operations: [{ status: project.polls++ === 0 ? "running" : "finished" }] });
    if (sub === "connection_uri") return ok({ uri: databaseUrl });
    this.unknown.push(`${method} ${path}`);
    return { status: 404, json: { message: "no such route" } };
  }
}

function ok(json: unknown): { status: number; json: unknown } {
  return { status: 200, json };
}
