import { WorkerEntrypoint } from "cloudflare:workers";
import type { ParsedCredential } from "../../service/tenancy/credentials.ts";
import { withCredential } from "./middleware/presented.ts";
import { app } from "./running-app.ts";

/** RPC interface of `/mcp` for the site Worker. */
export interface AgentMcpApi {
  /** Answers a request to `/mcp` that comes from the holder of `credential`. The gate has the last word on whether it is valid. */
  answer(request: Request, credential: ParsedCredential): Promise<Response>;
}

/** `/mcp` for agents that signed in. Reachable only through the site Worker's service binding, which has verified their tokens. */
export class AgentMcp extends WorkerEntrypoint<ApiEnv> implements AgentMcpApi {
  async answer(request: Request, credential: ParsedCredential): Promise<Response> {
    const url = new URL(request.url);
    url.pathname = "/mcp";
    return app.fetch(withCredential(new Request(url, request), credential), this.env, this.ctx);
  }
}
