/**
 * A cold and a no-op run of claude-context-core. It brings no local vector store, so it gets one that keeps rows in memory:
 * nothing of its time is spent on a database. Arguments: entry file, project, embedder URL, dimension.
 */
const [entry = "", directory = "", baseURL = "", dimension = "0"] = process.argv.slice(2);

interface Core {
  Context: new (config: unknown) => {
    indexCodebase(directory: string): Promise<{ indexedFiles: number; totalChunks: number; status: string }>;
    reindexByChange(directory: string): Promise<unknown>;
  };
  OpenAIEmbedding: new (config: unknown) => object;
}

const { log } = console;
for (const method of ["log", "warn", "error", "info"] as const) console[method] = () => undefined;
const core = (await import(entry)) as Core;

const rows = new Map<string, unknown[]>();
const add = (name: string, documents: unknown[]): Promise<void> => {
  rows.set(name, [...(rows.get(name) ?? []), ...documents]);
  return Promise.resolve();
};
const create = (name: string): Promise<void> => add(name, []);
const vectorDatabase = {
  createCollection: create,
  createHybridCollection: create,
  dropCollection: async (name: string) => void rows.delete(name),
  hasCollection: async (name: string) => rows.has(name),
  listCollections: async () => [...rows.keys()],
  insert: add,
  insertHybrid: add,
  search: async () => [],
  hybridSearch: async () => [],
  delete: async () => undefined,
  query: async () => [],
  getCollectionDescription: async () => "",
  checkCollectionLimit: async () => true,
  getCollectionRowCount: async (name: string) => rows.get(name)?.length ?? 0,
};
const embedding = new core.OpenAIEmbedding({ apiKey: "none", baseURL, model: "text-embedding-3-small" });
Object.assign(embedding, { dimension: Number(dimension) });
const context = new core.Context({ embedding, vectorDatabase });
const startedAt = performance.now();
const answer = await context.indexCodebase(directory);
const coldMs = performance.now() - startedAt;
const noopAt = performance.now();
await context.reindexByChange(directory);
log(JSON.stringify({ coldMs, noopMs: performance.now() - noopAt, answer }));
process.exit(0);

export {};
