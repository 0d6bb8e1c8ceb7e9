import type { Context } from "../context.ts";
import { LocalSource } from "../mcp-source.ts";
import { VERSION } from "../version.ts";

/** `codectx mcp`: the MCP tools over stdio, on the index of the work tree; ends when the client closes its end. */
export async function mcp(context: Context): Promise<void> {
  const [{ serveStdio, StdioServerTransport }, { createMcpServer }] = await Promise.all([
    import("@modelcontextprotocol/server/stdio"),
    import("../../mcp/server.ts"),
  ]);
  const { ui } = context;
  const onError = (error: unknown) => ui.warn(error instanceof Error ? error.message : String(error));
  const source = new LocalSource(context);
  const ended = new Promise<void>((resolve) => {
    process.stdin.once("end", resolve);
    process.stdin.once("close", resolve);
    context.stop.addEventListener("abort", () => resolve(), { once: true });
  });
  const server = serveStdio(() => createMcpServer({ version: VERSION, source, onError }), {
    onerror: onError,
    // Named, because the bundler loses the default import of `node:process` that the SDK's own default comes from.
    transport: new StdioServerTransport(process.stdin, process.stdout),
  });
  // Some clients give a call a minute; a large repository may need most of it the first time.
  void source.warmUp();
  await ended;
  await server.close();
}
