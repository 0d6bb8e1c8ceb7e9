import { endIfClosed } from "../terminal/output.ts";
import type { McpServerFactory } from "@modelcontextprotocol/server";
import { once } from "node:events";
import { type Context, credentialsOf, requireApiKey } from "../context.ts";
import { GlobError } from "../../lib/globs.ts";
import { CodeContextError } from "../../interface/client/errors.ts";
import type { IndexingListener } from "../../interface/mcp/progress.ts";
import { CliError, EXIT, toCliError } from "../exit-codes.ts";
import { VERSION } from "../version.ts";
import { allowedTrees, type AllowedOptions } from "../local-index/allowed-trees.ts";
import { foldersInEnvironment, foldersOfRoots, foldersToServe } from "../local-index/host-folders.ts";
import { LateIndex, type ServedIndex } from "../local-index/late-index.ts";
import { WorkTreeIndex } from "../local-index/work-tree-index.ts";
import { WorkTreeIndexes } from "../local-index/work-tree-indexes.ts";

export interface McpOptions extends AllowedOptions {
  /** Serve the service's indexes instead. */
  remote?: boolean;
  /** With `remote`: ask about the work tree as it is; its differences from the indexed commit are sent. */
  edits?: boolean;
}

/** Requests that wait for their turn before no more are read. */
const MAX_WAITING = 64;
/** A client that says that it has roots and does not name them in this time is served without. */
const ROOTS_TIMEOUT_MS = 5_000;

/**
 * `codectx mcp`: serves the MCP tools over stdio until the client closes stdin: on the indexes of the work trees that the options name, else
 * of the folders that the client or its host names, else of the current one. With `remote`, on the service's. Throws `CliError` for a work
 * tree of the options that cannot be found, for options that exclude each other, and without the key that `remote` needs.
 */
export async function mcp(context: Context, options: McpOptions): Promise<void> {
  const { remote = false, edits = false } = options;
  if (edits && !remote)
    throw new CliError(EXIT.usage, "USAGE", "--edits is for --remote: the work tree's own index has them");
  if (remote && (options.repos || options.all))
    throw new CliError(EXIT.usage, "USAGE", "--repos and --all are for local indexes, without --remote");
  if (remote) requireApiKey(credentialsOf(context));
  const [{ serveStdio, StdioServerTransport }, { createMcpServer }, { MalformedLines }] = await Promise.all([
    import("@modelcontextprotocol/server/stdio"),
    import("../../interface/mcp/server.ts"),
    import("../../interface/mcp/malformed-lines.ts"),
  ]);
  const { ui } = context;
  const onError = (error: unknown) => ui.warn(error instanceof Error ? error.message : String(error));
  const { stdin, stdout } = process;
  stdout.on("error", endIfClosed);
  const drained = async (): Promise<void> => {
    if (stdout.writableNeedDrain) await once(stdout, "drain");
  };
  const allowed = await allowedTrees(context, options);
  const index = new LateIndex();
  const serve = async (named: readonly string[]): Promise<ServedIndex> => {
    const [cwd = context.cwd, ...others] = foldersToServe(context, named);
    if (remote) {
      const { openRemoteIndexes } = await import("../remote/remote-indexes.ts");
      return openRemoteIndexes({ ...context, cwd }, edits);
    }
    if (others.length === 0) return new WorkTreeIndex({ ...context, cwd }, drained);
    const { trees, current } = (await allowedTrees({ ...context, cwd }, { repos: [cwd, ...others] })) ?? {};
    return new WorkTreeIndexes(context, drained, trees ?? [], current ?? trees?.[0]?.root);
  };
  const inEnvironment = foldersInEnvironment(context.env);
  if (allowed)
    index.choose(() => Promise.resolve(new WorkTreeIndexes(context, drained, allowed.trees, allowed.current)));
  else if (inEnvironment.length > 0) index.choose(() => serve(inEnvironment));
  const onIndexing = (listener: IndexingListener) => index.onIndexing(listener);
  const explain = (error: unknown): string | undefined => {
    if (error instanceof GlobError) return error.message;
    const { exit, message } = toCliError(error);
    // The service says what is wrong with a request.
    const isRefused = error instanceof CodeContextError && error.status >= 400 && error.status < 500;
    return exit === EXIT.failure && !isRefused ? undefined : message;
  };
  const ended = new Promise<void>((resolve) => {
    stdin.once("end", resolve);
    stdin.once("close", resolve);
    context.stop.addEventListener("abort", () => resolve(), { once: true });
  });
  const open: McpServerFactory = ({ era }) => {
    const mcpServer = createMcpServer({ version: VERSION, index, explain, onError, onIndexing });
    const { server: connection } = mcpServer;
    const choose = (named: readonly string[]): void => index.choose(() => serve(named));
    if (era === "modern") choose([]);
    else setTimeout(choose, ROOTS_TIMEOUT_MS, []).unref();
    connection.oninitialized = () => {
      if (!connection.getClientCapabilities()?.roots) return choose([]);
      // Only clients of the earlier era are asked: the current one has no roots.
      connection
        .listRoots(undefined, { timeout: ROOTS_TIMEOUT_MS })
        .then(({ roots }) => choose(foldersOfRoots(roots)))
        .catch(() => choose([]));
    };
    return mcpServer;
  };
  const server = serveStdio(open, {
    onerror: onError,
    // Passed explicitly: the SDK's default uses an import of `node:process` that the bundler breaks.
    transport: new StdioServerTransport(stdin, stdout),
  });
  const malformed = new MalformedLines();
  // A client that sends without reading is not read either, so that neither requests nor answers pile up here.
  stdin.on("data", (chunk: Buffer) => {
    for (const answer of malformed.answersTo(chunk)) stdout.write(answer);
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
