import { once } from "node:events";
import type { Context } from "../context.ts";
import { GlobError } from "../../lib/globs.ts";
import type { IndexingListener } from "../../interface/mcp/progress.ts";
import { EXIT, toCliError } from "../exit-codes.ts";
import { VERSION } from "../version.ts";
import { allowedTrees, type AllowedOptions } from "../local-index/allowed-trees.ts";
import { WorkTreeIndex } from "../local-index/work-tree-index.ts";
import { WorkTreeIndexes } from "../local-index/work-tree-indexes.ts";

/** Requests that wait for their turn before no more are read. */
const MAX_WAITING = 64;

/**
 * `codectx mcp`: serves the MCP tools over stdio until the client closes stdin: on the index of this work tree, or on those of several.
 * Throws `CliError` for a work tree that cannot be found.
 */
export async function mcp(context: Context, options: AllowedOptions): Promise<void> {
  const [{ serveStdio, StdioServerTransport }, { createMcpServer }] = await Promise.all([
    import("@modelcontextprotocol/server/stdio"),
    import("../../interface/mcp/server.ts"),
  ]);
  const { ui } = context;
  const onError = (error: unknown) => ui.warn(error instanceof Error ? error.message : String(error));
  const { stdin, stdout } = process;
  const drained = async (): Promise<void> => {
    if (stdout.writableNeedDrain) await once(stdout, "drain");
  };
  const allowed = await allowedTrees(context, options);
  const index = allowed
    ? new WorkTreeIndexes(context, drained, allowed.trees, allowed.current)
    : new WorkTreeIndex(context, drained);
  const onIndexing = (listener: IndexingListener) => index.onIndexing(listener);
  const explain = (error: unknown): string | undefined => {
    if (error instanceof GlobError) return error.message;
    const { exit, message } = toCliError(error);
    return exit === EXIT.failure ? undefined : message;
  };
  const ended = new Promise<void>((resolve) => {
    stdin.once("end", resolve);
    stdin.once("close", resolve);
    context.stop.addEventListener("abort", () => resolve(), { once: true });
  });
  const server = serveStdio(() => createMcpServer({ version: VERSION, index, explain, onError, onIndexing }), {
    onerror: onError,
    // Passed explicitly: the SDK's default uses an import of `node:process` that the bundler breaks.
    transport: new StdioServerTransport(stdin, stdout),
  });
  // A client that sends without reading is not read either, so that neither requests nor answers pile up here.
  stdin.on("data", () => {
    if (!stdout.writableNeedDrain && index.waiting < MAX_WAITING) return;
    stdin.pause();
    void index
      .settled()
      .then(drained)
      .then(() => stdin.resume());
  });
  // Start indexing now: some clients time out after a minute, and the first index of a large repository may take most of it.
  void index.warmUp();
  await ended;
  await server.close();
}
