/** The MCP server that both transports use. Imports the SDK, so importers load this module with `await import()`. */
import { McpServer } from "@modelcontextprotocol/server";
import { visible } from "../../lib/display.ts";
import { type CodeIndex, NotFoundError, QuestionError, type RepoList } from "../questions/code-index.ts";
import { notFoundText } from "./answers.ts";
import { listedSchema } from "./listed-schema.ts";
import { type IndexingListener, progressOf } from "./progress.ts";
import { TOOLS } from "./tools.ts";

const INSTRUCTIONS =
  "Code Context knows the code of indexed repositories. Start with search_code to find where something is, find_symbol for a definition by name, " +
  "find_references or grep (every line that matches) before changing it, outline and read_file to look around. Each answer names the repository, the commit and the index's age; " +
  "paths and line numbers are those of the files, so an edit can use them directly.";

export interface McpServerOptions {
  version: string;
  index: CodeIndex & RepoList;
  /** The text of an error of the index that its caller can mend, besides `QuestionError`; undefined for other errors. */
  explain: (error: unknown) => string | undefined;
  /** Called with failures that are not the caller's; the caller sees only that something failed. */
  onError: (error: unknown) => void;
  /** Registers a listener to indexing that tools wait for, and returns the function that ends it. */
  onIndexing?: (listener: IndexingListener) => () => void;
  now?: () => number;
}

/**
 * Makes a server for one HTTP request or one stdio connection. Answers are plain text alone: several clients show a model either
 * `content` or `structuredContent`, not both.
 */
export function createMcpServer(options: McpServerOptions): McpServer {
  const { version, index, explain, onError, onIndexing, now = Date.now } = options;
  const server = new McpServer(
    { name: "code-context", title: "Code Context", version },
    { instructions: INSTRUCTIONS },
  );
  for (const { name, title, description, input, run } of TOOLS) {
    server.registerTool(
      name,
      {
        title,
        description,
        inputSchema: listedSchema(input),
        annotations: { readOnlyHint: true, openWorldHint: false },
      },
      async (args, context) => {
        const progress = progressOf(context, now);
        const stop = progress && onIndexing?.(progress);
        try {
          return { content: [{ type: "text" as const, text: await run({ index, nowMs: now() }, args) }] };
        } catch (error) {
          const known = messageOf(error) ?? explain(error);
          if (known === undefined) onError(error);
          const text = known === undefined ? "The index could not answer. Try again." : visible(known);
          return { content: [{ type: "text" as const, text }], isError: true };
        } finally {
          stop?.();
        }
      },
    );
  }
  return server;
}

function messageOf(error: unknown): string | undefined {
  if (error instanceof NotFoundError) return notFoundText(error);
  return error instanceof QuestionError ? error.message : undefined;
}
