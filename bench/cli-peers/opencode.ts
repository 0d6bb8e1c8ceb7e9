/** One indexing run of opencode-codebase-index, as its own tool does it. Arguments: entry file, project. Prints its milliseconds. */
const [entry = "", directory = ""] = process.argv.slice(2);

interface Plugin {
  default(input: { directory: string }): Promise<{
    tool: { index_codebase: { execute(args: { force: boolean }, context: unknown): Promise<string> } };
  }>;
}

const { log } = console;
console.log = () => undefined;
const plugin = (await import(entry)) as Plugin;
const { tool } = await plugin.default({ directory });
const startedAt = performance.now();
const answer = await tool.index_codebase.execute({ force: false }, { metadata: () => undefined });
log(JSON.stringify({ ms: performance.now() - startedAt, answer }));
process.exit(0);

export {};
