import type { Context } from "../context.ts";
import { GlobError } from "../../globs.ts";
import { CliError } from "../exit-codes.ts";
import { VERSION } from "../version.ts";
import { WorkTreeIndex } from "../work-tree-index.ts";

/** `codectx mcp`: serves the MCP tools over stdio, on the work tree's index, until the client closes stdin. */
export async function mcp(context: Context): Promise<void> {
  const [{ serveStdio, StdioServerTransport }, { createMcpServer }] = await Promise.all([
    import("@modelcontextprotocol/server/stdio"),
    import("../../mcp/server.ts"),
  ]);
  const { ui } = context;
  const onError = (error: unknown) => ui.warn(error instanceof Error ? error.message : String(error));
  const index = new WorkTreeIndex(context);
  const explain = (error: unknown) =>
    error instanceof CliError || error instanceof GlobError ? error.message : undefined;
  const ended = new Promise<void>((resolve) => {
    process.stdin.once("end", resolve);
    process.stdin.once("close", resolve);
    context.stop.addEventListener("abort", () => resolve(), { once: true });
  });
  const server = serveStdio(() => createMcpServer({ version: VERSION, index, explain, onError }), {
    onerror: onError,
    // Passed explicitly: the SDK's default uses an import of `node:process` that the bundler breaks.
    transport: new StdioServerTransport(process.stdin, process.stdout),
  });
  // Start indexing now: some clients time out after a minute, and the first index of a large repository may take most of it.
  void index.warmUp();
  await ended;
  await server.close();
}
