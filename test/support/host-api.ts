/**
 * The webhook APIs of GitHub, GitLab and Gitea, as far as hooks are made over them. What they require and refuse is from their published
 * descriptions: GitHub's OpenAPI document (`/repos/{owner}/{repo}/hooks`), gitea-js's `CreateHookOption`, GitLab's "Project webhooks API".
 */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import * as z from "zod";
import type { HookProvider } from "../../src/service/db/people-schema.ts";

const Config = { url: z.url(), content_type: z.enum(["json", "form"]), secret: z.string().optional() };

const BODIES = {
  github: z.strictObject({
    name: z.literal("web").optional(),
    active: z.boolean().optional(),
    events: z.array(z.string()).optional(),
    config: z.strictObject({ ...Config, insecure_ssl: z.enum(["0", "1"]).optional() }),
  }),
  gitlab: z.object({
    url: z.url(),
    token: z.string().optional(),
    push_events: z.boolean().optional(),
    enable_ssl_verification: z.boolean().optional(),
  }),
  gitea: z.object({
    type: z.enum(["gitea", "gogs", "slack", "discord"]),
    active: z.boolean().optional(),
    events: z.array(z.string()).optional(),
    config: z.object(Config),
  }),
};

const PATHS: Record<HookProvider, string> = {
  github: "/api/v3/repos/acme/api/hooks",
  gitlab: "/api/v4/projects/acme%2Fapi/hooks",
  gitea: "/api/v1/repos/acme/api/hooks",
};

const TOKEN_OF: Record<HookProvider, (request: IncomingMessage) => string | undefined> = {
  github: ({ headers }) => headers.authorization?.replace(/^Bearer /, ""),
  gitlab: ({ headers }) => headers["private-token"]?.toString(),
  gitea: ({ headers }) => headers.authorization?.replace(/^token /, ""),
};

export interface HostApi extends AsyncDisposable {
  /** Clone address of the repository that has the hooks. */
  cloneUrl: string;
  /** Hooks that were made: the bodies of the requests. */
  hooks: Record<HookProvider, unknown[]>;
  /** Answers the next requests with this status, or not at all. */
  fail(status: number | "silence" | undefined): void;
}

/** Starts a host whose repository `acme/api` takes hooks from `token`; `weak` may not manage them. */
export async function startHostApi(tokens: { token: string; weak: string }): Promise<HostApi> {
  const hooks: HostApi["hooks"] = { github: [], gitlab: [], gitea: [] };
  let failing: number | "silence" | undefined;
  const answer = (request: IncomingMessage, body: string): [status: number, body: unknown] | undefined => {
    if (failing === "silence") return undefined;
    if (failing !== undefined) return [failing, { message: "failed" }];
    const path = request.url?.split("?")[0];
    const provider = (Object.keys(PATHS) as HookProvider[]).find((one) => PATHS[one] === path);
    if (!provider) return [404, { message: "Not Found" }];
    const token = TOKEN_OF[provider](request);
    if (token === tokens.weak) return [provider === "gitlab" ? 403 : 404, { message: "Not Found" }];
    if (token !== tokens.token) return [401, { message: "Bad credentials" }];
    if (request.method === "GET") return [200, hooks[provider]];
    const parsed = BODIES[provider].safeParse(JSON.parse(body));
    if (!parsed.success) return [422, { message: "Validation Failed" }];
    hooks[provider].push(parsed.data);
    return [201, { id: hooks[provider].length }];
  };
  // A connection that is closed as idle while a Worker sends on it loses the request.
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    let body = "";
    request.on("data", (part: Buffer) => (body += part.toString()));
    request.on("end", () => {
      const answered = answer(request, body);
      if (!answered) return;
      response.writeHead(answered[0], { "Content-Type": "application/json" }).end(JSON.stringify(answered[1]));
    });
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  return {
    cloneUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/acme/api.git`,
    hooks,
    fail: (status) => (failing = status),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
