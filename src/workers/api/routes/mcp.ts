import * as z from "zod";
import { MAX_MCP_BODY_BYTES, MAX_MCP_VALUES, type Surface } from "../../../contract/index.ts";
import { ApiError, invalidBody } from "../../../lib/errors.ts";
import type { Principal } from "../../../service/gate/types.ts";
import type { ApiContext } from "../context.ts";
import { authorize, readCredential } from "../middleware/authorize.ts";
import { EarlyBody, readBody } from "../middleware/body.ts";
import { countCall, type Route, unwrap } from "../route.ts";
import { hostedIndex } from "../search-deps.ts";

/** Largest batch. Only clients of protocol versions before 2025-06-18 send batches. */
const MAX_MESSAGES = 20;

/** The MCP tools over HTTP. The SDK is loaded by the first request, because it would add 0.1 s to every start. */
export const mcp: Route = {
  id: "mcp",
  method: "POST",
  path: "/mcp",
  tag: "Search",
  summary: "Model Context Protocol",
  description:
    "The tools `search_code`, `find_symbol`, `find_references`, `grep`, `outline`, `read_file` and `list_repos` for coding agents, as stateless streamable HTTP in protocol revision 2026-07-28 and those before it. Tool calls count against the rate limit of this route, and in `calls.search` of `GET /usage`; all other messages have a limit of their own (`mcp-messages`, 3,000 per minute). A body has at most 256 KiB and 1,000 values. A request with the `Origin` header of another site is refused. See docs/mcp.md.",
  credential: "api_key",
  surface: "mcp",
  responses: { 200: { description: "A JSON-RPC message, as JSON or as an event stream." } },
  errors: ["INVALID_BODY", "INPUT_TOO_LARGE", "FORBIDDEN_ORIGIN", "UNAVAILABLE"],
  answer: async (c) => {
    checkOrigin(c);
    const credential = await readCredential(c, "api_key");
    const reader = new EarlyBody(c.req.raw, () =>
      readBody(
        c.req.raw,
        { schema: z.unknown(), maxBytes: MAX_MCP_BODY_BYTES, maxValues: MAX_MCP_VALUES },
        c.get("turn"),
      ),
    );
    const early = await reader.early();
    if (early === undefined) await authorize(c, credential, "mcp-messages", { isFree: true, scope: "search" });
    const read = await reader.late();
    const messages = read.ok ? messagesOf(read.data) : [];
    const calls = messages.length > MAX_MESSAGES ? 0 : toolCalls(messages);
    const others = messages.length > MAX_MESSAGES ? 1 : messages.length - calls;
    // What is no message counts as one. The headers are those of the last.
    const taken: Surface[] = [
      ...Array<Surface>(others + calls === 0 ? 1 : others).fill("mcp-messages"),
      ...Array<Surface>(calls).fill("mcp"),
    ];
    const admissions = [];
    for (const surface of taken) admissions.push(await authorize(c, credential, surface, { scope: "search" }));
    const body = unwrap(read);
    if (messages.length > MAX_MESSAGES) {
      throw invalidBody([{ path: "", message: `takes at most ${MAX_MESSAGES} messages; split the request` }]);
    }
    const { principal } = admissions[0] as (typeof admissions)[number];
    const response = await answerMcp(c, body, principal);
    for (let left = response.ok ? calls : 0; left > 0; left--) await countCall(c, principal.tenantId, "search");
    return response;
  },
};

/** Names under which a page may be served by this machine itself. */
const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Refuses requests of pages of other sites. Through DNS rebinding such a page reaches a local server under the page's own name, so an
 * `Origin` that equals `Host` proves nothing over plain HTTP, except for loopback names. Clients other than browsers send no `Origin`.
 * Required by the protocol (revision 2026-07-28, Transports, Security Warning).
 */
function checkOrigin(c: ApiContext): void {
  const value = c.req.header("Origin");
  if (value === undefined || c.get("services").ownOrigins.includes(value)) return;
  const origin = URL.canParse(value) ? new URL(value) : undefined;
  const isSafe = origin?.protocol === "https:" || LOOPBACK.has(origin?.hostname ?? "");
  if (!isSafe || origin?.host !== new URL(c.req.url).host)
    throw new ApiError("FORBIDDEN_ORIGIN", "the Origin header names another site; send the request without it");
}

function messagesOf(body: unknown): unknown[] {
  return Array.isArray(body) ? body : [body];
}

function toolCalls(messages: readonly unknown[]): number {
  return messages.filter(
    (message) =>
      typeof message === "object" && message !== null && "method" in message && message.method === "tools/call",
  ).length;
}

async function answerMcp(c: ApiContext, body: unknown, principal: Principal): Promise<Response> {
  const { handleMcp } = await import("../../../interface/mcp/http.ts");
  const { log, version, now } = c.get("services");
  const answer = await handleMcp(c.req.raw, body, {
    version,
    index: hostedIndex(c, principal),
    explain: (error) => (error instanceof ApiError ? error.message : undefined),
    onError: (error) => log.error("mcp_failed", error),
    now,
  });
  // Copied into Hono's response, which has the rate-limit headers.
  const headers = { ...Object.fromEntries(answer.headers), "cache-control": "no-store" };
  return c.body(answer.body ?? "", answer.status as 200, headers);
}
