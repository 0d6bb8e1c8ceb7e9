/**
 * Snapshots against what they replace: artifact size against the text and vectors in it, build speed and memory out of a
 * real Postgres, and pulling one against indexing the same files again.
 *
 * The corpus is any tree of source files: `node bench/snapshot.ts [folder]`, by default the project's installed packages.
 */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { sql } from "drizzle-orm";
import { type Db, openDb } from "../src/service/db/client.ts";
import { contents, revisionFiles } from "../src/service/db/content-schema.ts";
import { revisions, tenants, workspaces } from "../src/service/db/schema.ts";
import { createEmbedder, type Embedder, encodeF16, readEmbedConfig } from "../src/engines/embedding/index.ts";
import { contentId } from "../src/service/indexing/ids.ts";
import { type IndexedContent, type StoredVector, writeContents } from "../src/service/indexing/store.ts";
import { startDatabase } from "../src/tooling/local/database/database.ts";
import { createLogger } from "../src/lib/log.ts";
import { nodeGrammars } from "../src/engines/parsing/grammars-node.ts";
import { embeddingText } from "../src/engines/parsing/chunks.ts";
import { detectLanguage, isDefaultIncluded } from "../src/engines/parsing/detect.ts";
import { createParser } from "../src/engines/parsing/parser.ts";
import { readUses } from "../src/engines/relations/read-uses.ts";
import { PARSER_VERSION } from "../src/engines/parsing/version.ts";
import { SEGMENT_VERSION } from "../src/engines/search/segment.ts";
import { openSnapshot } from "../src/engines/snapshot/reader.ts";
import { buildSnapshot } from "../src/service/snapshots/build.ts";
import type { SnapshotBucket } from "../src/service/snapshots/storage.ts";
import { SegmentBuilder } from "../src/service/hosted-index/write.ts";
import { MemoryBucket as SearchObjects } from "../test/support/pipeline.ts";
import { median } from "./support.ts";

const MAX_FILES = 6_000;
const MAX_FILE_BYTES = 512 * 1024;
const EMBED_BATCH = 100;
const WRITE_BATCH = 100;
const GIT_SHA = "0".repeat(40);

interface Corpus {
  files: { path: string; contentId: string }[];
  contents: Map<string, IndexedContent>;
  vectors: Map<string, StoredVector>;
  textBytes: number;
  indexMs: number;
}

/** Measures, prints and returns the figures. */
export async function run(args: string[]): Promise<Record<string, number>> {
  const folder = args[0] ?? fileURLToPath(new URL("../node_modules", import.meta.url));
  const embedder = createEmbedder(readEmbedConfig({ EMBED_PROVIDER: "builtin", EMBED_MODEL: "lexical" }), { fetch });
  if (embedder === undefined) throw new Error("the builtin embedder is missing");
  const dimension = await embedder.probeDimension();
  const tenantId = crypto.randomUUID();
  const corpus = await indexLocally(folder, tenantId, embedder);
  const database = await startDatabase();
  try {
    const db = openDb(database.url);
    const search = new SearchObjects();
    const workspaceId = await store({ db, search }, tenantId, corpus, embedder.fingerprint, dimension);
    const bucket = memoryBucket();
    const built = await measureBuild({ db, search }, bucket, { tenantId, workspaceId });
    const artifact = bucket.objects.get(built.storagePath) ?? new Uint8Array();
    const { openMs, readAllMs } = await measurePull(artifact, built.checksum);
    const chunkCount = corpus.files.reduce(
      (sum, file) => sum + (corpus.contents.get(file.contentId)?.parsed.chunks.length ?? 0),
      0,
    );
    const vectorBytes = chunkCount * dimension * 4;
    const result = {
      files: corpus.files.length,
      textMb: corpus.textBytes / 1e6,
      artifactMb: artifact.length / 1e6,
      artifactToTextAndVectors: artifact.length / (corpus.textBytes + vectorBytes),
      artifactToTextAndHalfVectors: artifact.length / (corpus.textBytes + vectorBytes / 2),
      buildMbPerSec: (corpus.textBytes + vectorBytes / 2) / 1e6 / (built.ms / 1_000),
      buildMemoryGrowthMb: built.growthBytes / 1e6,
      localIndexMs: corpus.indexMs,
      pullAndOpenMs: openMs,
      pullAndReadAllMs: readAllMs,
      pullToLocalIndex: openMs / corpus.indexMs,
    };
    for (const [name, value] of Object.entries(result)) console.log(`${name.padEnd(30)} ${Number(value.toFixed(3))}`);
    return result;
  } finally {
    await database.close();
  }
}

/** Where a hosted run keeps rows and search index. */
interface Stores {
  db: Db;
  search: SearchObjects;
}

/** Every content has a segment here, so nothing is parsed again. */
const noParser = () => Promise.reject(new Error("a content has no segment"));

/** Reads, hashes, parses and embeds every file on one core: the work that a pull saves. */
async function indexLocally(folder: string, tenantId: string, embedder: Embedder): Promise<Corpus> {
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => isDefaultIncluded(path.slice(folder.length + 1).replaceAll("node_modules/", "")))
    .toSorted();
  const parser = await createParser(nodeGrammars(), { readUses });
  const corpus: Corpus = { files: [], contents: new Map(), vectors: new Map(), textBytes: 0, indexMs: 0 };
  // Sample the whole tree, not only its first packages.
  const step = Math.max(1, Math.floor(paths.length / MAX_FILES));
  const startedAt = performance.now();
  for (let at = 0; at < paths.length && corpus.files.length < MAX_FILES; at += step) {
    const path = paths[at] as string;
    const bytes = new Uint8Array(readFileSync(path));
    const language = detectLanguage(path, bytes);
    if (language === undefined || bytes.length > MAX_FILE_BYTES || bytes.includes(0)) continue;
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const id = contentId(tenantId, sha256, language);
    corpus.files.push({ path: path.slice(folder.length + 1), contentId: id });
    corpus.textBytes += bytes.length;
    if (corpus.contents.has(id)) continue;
    const parsed = await parser.parse({ bytes, language });
    corpus.contents.set(id, { id, sha256, language, sizeBytes: bytes.length, parsed });
    const fresh = parsed.chunks.filter((chunk) => !chunk.withheld && !corpus.vectors.has(chunk.hash));
    for (let from = 0; from < fresh.length; from += EMBED_BATCH) {
      const batch = fresh.slice(from, from + EMBED_BATCH);
      const { vectors } = await embedder.embed(batch.map(embeddingText), { inputType: "document" });
      for (const [index, { hash }] of batch.entries())
        corpus.vectors.set(hash, { hash, bytes: encodeF16(vectors[index] as Float32Array) });
    }
  }
  corpus.indexMs = performance.now() - startedAt;
  return corpus;
}

/** Stores the corpus like a hosted run. */
async function store(
  { db, search }: Stores,
  tenantId: string,
  corpus: Corpus,
  fingerprint: string,
  dimension: number,
): Promise<string> {
  const workspaceId = crypto.randomUUID();
  await db.insert(tenants).values({ id: tenantId, name: "bench", sharedIndex: true });
  await db.insert(workspaces).values({ id: workspaceId, tenantId });
  const all = [...corpus.contents.values()];
  const written = new Set<string>();
  for (let from = 0; from < all.length; from += WRITE_BATCH) {
    const batch = all.slice(from, from + WRITE_BATCH);
    const vectors = batch
      .flatMap(({ parsed }) => parsed.chunks.flatMap(({ hash }) => corpus.vectors.get(hash) ?? []))
      .filter(({ hash }) => !written.has(hash) && written.add(hash));
    await writeContents(db, tenantId, fingerprint, batch, vectors);
    const segment = new SegmentBuilder();
    for (const { id, sha256, language, parsed } of batch)
      segment.add({ id, sha256, language, chunks: parsed.chunks, symbols: parsed.symbols, uses: parsed.uses });
    await segment.write({ db, bucket: search, model: null, parser: noParser, beat: async () => {} }, tenantId);
  }
  const parsed = corpus.files.map((file) => corpus.contents.get(file.contentId)?.parsed);
  await db.insert(revisions).values({
    workspaceId,
    seq: 1,
    runId: crypto.randomUUID(),
    gitSha: GIT_SHA,
    rootTree: GIT_SHA,
    planKey: "bench",
    fingerprint,
    dimension,
    fileCount: corpus.files.length,
    symbolCount: parsed.reduce((sum, file) => sum + (file?.symbols.length ?? 0), 0),
    chunkCount: parsed.reduce((sum, file) => sum + (file?.chunks.length ?? 0), 0),
    stats: {},
  });
  for (let from = 0; from < corpus.files.length; from += 1_000) {
    const page = corpus.files.slice(from, from + 1_000);
    const rows = page.map(({ path, contentId }) => ({
      workspaceId,
      path,
      contentId,
      fromSeq: 1,
      gitOid: new Uint8Array(20),
      mode: 0o100644,
    }));
    await db.insert(revisionFiles).values(rows);
  }
  await db.execute(sql`analyze`);
  const [stored] = (await db.execute(sql`select count(*)::int as n, max(parser_version) as v from ${contents}`))
    .rows as { n: number; v: number }[];
  if (stored?.n !== all.length || stored.v !== PARSER_VERSION) throw new Error("not everything was stored");
  return workspaceId;
}

async function measureBuild(
  { db, search }: Stores,
  bucket: SnapshotBucket,
  ids: { tenantId: string; workspaceId: string },
): Promise<{ storagePath: string; checksum: string; ms: number; growthBytes: number }> {
  const log = createLogger({}, () => undefined);
  const context = { db, bucket, search, parser: noParser, now: Date.now, log };
  const build = (onProgress: () => void) =>
    buildSnapshot(context, {
      ...ids,
      actor: "bench",
      runId: crypto.randomUUID(),
      revision: { gitSha: GIT_SHA },
      onProgress,
    });
  const startedAt = performance.now();
  const { storagePath, checksum } = await build(() => undefined);
  const ms = performance.now() - startedAt;
  // Repeat with a garbage collection at every step, to measure live memory.
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const alive = () => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external - (bucket as MemoryBucket).heldBytes();
  };
  // Memory of the first build is freed some time after its collection.
  alive();
  await new Promise((resolve) => setTimeout(resolve, 200));
  const before = alive();
  let growthBytes = 0;
  await build(() => {
    growthBytes = Math.max(growthBytes, alive() - before);
  });
  return { storagePath, checksum, ms, growthBytes };
}

/**
 * Downloads, verifies and opens the artifact as `codectx pull` does: the list of files and the search segments are read. Then reads
 * every row, which a pull does not. Medians of five.
 */
async function measurePull(artifact: Uint8Array, checksum: string): Promise<{ openMs: number; readAllMs: number }> {
  const server = createServer((_request, response) => response.end(artifact)).listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const [opened, readAll]: [number[], number[]] = [[], []];
    for (let round = 0; round < 5; round++) {
      const startedAt = performance.now();
      const bytes = new Uint8Array(await (await fetch(url)).arrayBuffer());
      if (`sha256:${createHash("sha256").update(bytes).digest("hex")}` !== checksum)
        throw new Error("the checksum is wrong");
      const reader = await openSnapshot({
        byteLength: bytes.length,
        read: async (start, end) => bytes.subarray(start, end),
      });
      const listed = await reader.listing();
      let segments = 0;
      for await (const segment of reader.searchSegments(SEGMENT_VERSION)) segments += segment.length;
      if (segments === 0) throw new Error("the search index is missing");
      opened.push(performance.now() - startedAt);
      let files = 0;
      for await (const _file of reader.files()) files++;
      if (files !== listed.length) throw new Error("files are missing");
      readAll.push(performance.now() - startedAt);
    }
    return { openMs: median(opened), readAllMs: median(readAll) };
  } finally {
    server.close();
  }
}

type MemoryBucket = SnapshotBucket & { objects: Map<string, Uint8Array>; heldBytes: () => number };

/** As much of a bucket as a build uses. What it holds is not counted as the build's. */
function memoryBucket(): MemoryBucket {
  const objects = new Map<string, Uint8Array>();
  let held = 0;
  const unused = () => Promise.reject(new Error("not part of a build"));
  return {
    objects,
    heldBytes: () => held,
    head: unused,
    get: unused,
    put: unused,
    delete: unused,
    list: async () => ({ objects: [], truncated: false }),
    createMultipartUpload: async (key) => {
      const parts: Uint8Array[] = [];
      return {
        uploadPart: async (partNumber, value) => {
          parts[partNumber - 1] = value.slice();
          held += value.length;
          return { partNumber, etag: "" };
        },
        complete: async () => {
          const bytes = new Uint8Array(Buffer.concat(parts.splice(0)));
          objects.set(key, bytes);
          return { size: bytes.length };
        },
        abort: async () => undefined,
      };
    },
  };
}
