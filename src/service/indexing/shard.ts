/**
 * The middle steps of a run: parse, embed and store one shard of staged blobs. Idempotent: rows and vectors that a shard
 * finds already stored are not written again.
 */
import { encodeF16 } from "../../engines/embedding/index.ts";
import { embeddingText } from "../../engines/parsing/chunks.ts";
import type { LineRange } from "../../engines/parsing/secrets/lines.ts";
import { SegmentBuilder } from "../hosted-index/write.ts";
import { storeTexts } from "../hosted-index/whole-texts/writer.ts";
import { type StepContext, searchWriter } from "./context.ts";
import { contentId, sha256Hex } from "./ids.ts";
import { pages } from "../../lib/pages.ts";
import { getShard, type StagedBlob } from "./staging.ts";
import { groupParser } from "./suspects.ts";
import {
  claimVectors,
  findContents,
  type IndexedContent,
  type StoredVector,
  unembeddedChunks,
  writeContents,
  writeVectors,
} from "./store.ts";

/** Source bytes per transaction of parsed and embedded files. */
const GROUP_BYTES = 256 * 1024;
/** Files per group. */
const GROUP_FILES = 250;
/** Symbols and chunks per write: 100 KB of source can declare ten thousand names, and each is a row of a dozen values. */
const WRITE_ROWS = 3_000;
/** Contents whose chunks are read per query for re-embedding: at most a few MB of text. */
const EMBED_CONTENTS = 10;
/** Chunks that are embedded and written at a time. */
const EMBED_CHUNKS = 200;
/** Retries per upstream call; more than for interactive calls, because runs can wait. */
const EMBED_RETRIES = 5;
/** Covers the longest `Retry-After` that is honoured, and stays below the time after which the step counts as stalled. */
const EMBED_PATIENCE_MS = 85_000;

/** Processes a shard. Returns its number of files; null when the staged object was deleted because the run has ended. */
export async function processShard(step: StepContext, key: string): Promise<number | null> {
  const shard = await getShard(step.staging, key);
  if (!shard) return null;
  let files = 0;
  if (shard.kind === "embed") {
    for (const page of pages(shard.contentIds, EMBED_CONTENTS)) {
      const missing = (await unembeddedChunks(step.db, step.run.tenantId, step.embedder.fingerprint, page)).filter(
        (chunk) => isIntact(chunk, step),
      );
      for (const part of pages(missing, EMBED_CHUNKS)) {
        await writeVectors(step.db, step.run.tenantId, step.embedder.fingerprint, await embed(step, part));
        await step.beat({});
      }
    }
    return files;
  }
  // Parse the next group while the previous one is being written.
  let writing: Promise<void> = Promise.resolve();
  const segment = new SegmentBuilder();
  const withheld = new Map<string, LineRange[]>();
  for (const group of groups(shard.blobs)) {
    for await (const { contents, vectors } of prepare(step, group)) {
      for (const { id, sha256, language, parsed } of contents) {
        segment.add({ id, sha256, language, ...parsed });
        withheld.set(sha256, parsed.withheldLines);
      }
      await writing;
      writing = writeContents(step.db, step.run.tenantId, step.embedder.fingerprint, contents, vectors);
      // The next await reports a failure; this avoids an unhandled rejection until then.
      writing.catch(() => {});
    }
    files += group.filter(({ languages }) => languages.length > 0).length;
    await step.beat({});
  }
  await writing;
  await storeTexts(searchWriter(step), step.run.tenantId, shard.blobs, withheld);
  // The finish adds segments for contents that a killed shard left without one.
  await segment.write(searchWriter(step), step.run.tenantId);
  return files;
}

function* groups(blobs: readonly StagedBlob[]): Generator<StagedBlob[]> {
  let group: StagedBlob[] = [];
  let size = 0;
  for (const blob of blobs) {
    group.push(blob);
    size += blob.bytes.byteLength;
    if (size < GROUP_BYTES && group.length < GROUP_FILES) continue;
    yield group;
    group = [];
    size = 0;
  }
  if (group.length > 0) yield group;
}

/** Whether the text of a stored chunk has the hash under which its vector will be found. U+0000 was replaced when it was stored. */
function isIntact(chunk: { hash: string; context: string; text: string }, { log, run }: StepContext): boolean {
  const text = embeddingText(chunk);
  const intact = text.includes("\uFFFD") || sha256Hex(new TextEncoder().encode(text)) === chunk.hash;
  if (!intact) log.warn("stored_chunk_damaged", { runId: run.runId, hash: chunk.hash });
  return intact;
}

interface Prepared {
  contents: IndexedContent[];
  vectors: StoredVector[];
}

/** Parses and embeds contents that are not stored yet, in parts of about `WRITE_ROWS` rows. */
async function* prepare(step: StepContext, blobs: readonly StagedBlob[]): AsyncGenerator<Prepared, void, void> {
  const wanted = blobs.flatMap((blob) =>
    blob.languages.map((language) => ({ blob, language, id: contentId(step.run.tenantId, blob.sha256, language) })),
  );
  const stored = await findContents(
    step.db,
    wanted.map(({ id }) => id),
  );
  const missing = wanted.filter(({ id }) => !stored.has(id));
  const ids = missing.map(({ id }) => id);
  const parser = await groupParser(step, await step.parser(), ids);
  let contents: IndexedContent[] = [];
  let rows = 0;
  try {
    for (const { blob, language, id } of missing) {
      const parsed = await parser.parse({ id, bytes: blob.bytes, language });
      contents.push({ id, sha256: blob.sha256, language, sizeBytes: blob.bytes.byteLength, parsed });
      rows += parsed.symbols.length + parsed.chunks.length;
      if (rows < WRITE_ROWS) continue;
      yield await withVectors(step, contents);
      contents = [];
      rows = 0;
    }
  } finally {
    await parser.end();
  }
  yield await withVectors(step, contents);
}

async function withVectors(step: StepContext, contents: IndexedContent[]): Promise<Prepared> {
  const chunks = new Map(
    contents.flatMap(({ parsed }) =>
      parsed.chunks.filter((chunk) => !chunk.withheld).map((chunk) => [chunk.hash, chunk]),
    ),
  );
  const present = await claimVectors(step.db, step.run.tenantId, step.embedder.fingerprint, [...chunks.keys()]);
  for (const hash of present) chunks.delete(hash);
  return { contents, vectors: await embed(step, [...chunks.values()]) };
}

async function embed(
  step: StepContext,
  chunks: readonly { hash: string; context: string; text: string }[],
): Promise<StoredVector[]> {
  if (chunks.length === 0) return [];
  const startedAt = step.now();
  const { vectors, tokens } = await step.embedder.embed(chunks.map(embeddingText), {
    inputType: "document",
    maxRetries: EMBED_RETRIES,
    patienceMs: EMBED_PATIENCE_MS,
  });
  const { usage } = step;
  usage.embedMs += step.now() - startedAt;
  usage.embedded += chunks.length;
  usage.tokens += tokens;
  step.mark();
  return chunks.map((chunk, i) => ({ hash: chunk.hash, bytes: encodeF16(vectors[i] ?? new Float32Array()) }));
}
