/** MCP over HTTP, stateless: every request has a server of its own. Imports the SDK; load it with `await import()`. */
import { createMcpHandler } from "@modelcontextprotocol/server";
import { createMcpServer, type McpServerOptions } from "./server.ts";

/** Answers one request whose body was read and parsed already. Serves both protocol eras. */
export async function handleMcp(request: Request, body: unknown, options: McpServerOptions): Promise<Response> {
  const { fetch } = createMcpHandler(() => createMcpServer(options), { onerror: options.onError });
  return fetch(request, { parsedBody: body });
}
