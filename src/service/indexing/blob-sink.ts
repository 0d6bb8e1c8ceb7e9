import { sql } from "drizzle-orm";
import { contentLanguage, detectLanguage } from "../../engines/parsing/detect.ts";
import { contentSkipReason, isText } from "../../engines/parsing/skip.ts";
import { asUtf8 } from "../../engines/parsing/utf16.ts";
import { BlobTable } from "./blob-table.ts";
import type { ShardReady, StepContext } from "./context.ts";
import { contentId, sha256Hex } from "./ids.ts";
import { pages } from "../../lib/pages.ts";
import { filesOf, type Revision } from "../revisions/files.ts";
import { encodeEmbedShard, putShard, ShardBuffer } from "./staging.ts";
import { shardKey } from "../runs/messages.ts";
import { findUnembedded, type KnownBlob, writeBlobs } from "./store.ts";
import { rowsOf } from "../db/rows.ts";

/** Source bytes per shard: a few seconds of parsing, small compared with a Worker's memory. */
const SHARD_BYTES = 1024 * 1024;

/** Blobs per shard: bounds the number of rows when files are tiny. */
const SHARD_BLOBS = 1_000;
/** Contents per shard that is only embedded. */
const SHARD_CONTENTS = 200;

/**
 * Receives the blobs of a pull, skips those that must not be indexed, and stages the rest in shards of bounded
 * size. Each shard is announced as soon as it is stored.
 */
export class BlobSink {
  readonly blobs: BlobTable;
  /** Contents that were stored before this run. */
  readonly knownContents = new Set<string>();
  /** SHA-256 of the texts that were stored before this run. */
  readonly knownTexts = new Set<string>();
  /** Shards staged so far. */
  shards = 0;
  readonly #step: StepContext;
  readonly #onShard: ShardReady;
  readonly #buffer = new ShardBuffer();
  #discovered: KnownBlob[] = [];

  /** @param idBytes length of the repository's object ids */
  constructor(step: StepContext, idBytes: number, onShard: ShardReady) {
    this.#step = step;
    this.blobs = new BlobTable(idBytes);
    this.#onShard = onShard;
  }

  /** Records what earlier runs found out about a blob. */
  learn(blob: KnownBlob): void {
    const { oid, interpreter, sizeBytes, sha256, skip } = blob;
    if (interpreter !== null) this.blobs.setContentLanguage(oid, interpreter);
    this.blobs.setSize(oid, sizeBytes);
    if (sizeBytes > this.#step.run.options.maxFileSizeBytes) this.blobs.setTextOnly(oid, "too_large");
    else if (skip !== null && isText(skip)) this.blobs.setTextOnly(oid, skip);
    if (sha256 !== null) this.blobs.setSha256(oid, sha256);
    // What earlier versions skipped as generated or minified is pulled again, for its text.
    else if (skip !== null && !isText(skip)) this.blobs.setSkip(oid, skip);
  }

  /** Whether the content is stored already, parsed as this language. */
  isStored(sha256: string, language: string): boolean {
    return this.knownContents.size > 0 && this.knownContents.has(contentId(this.#step.run.tenantId, sha256, language));
  }

  /** Adds a blob; `bytes` are copied. Resolves when there is room for more. */
  add(oid: string, bytes: Uint8Array): Promise<void> | undefined {
    const reason = contentSkipReason(bytes);
    const sizeBytes = bytes.byteLength;
    this.blobs.setSize(oid, sizeBytes);
    const textReason = sizeBytes > this.#step.run.options.maxFileSizeBytes ? "too_large" : reason;
    if (textReason !== undefined) this.blobs.setTextOnly(oid, textReason);
    if (reason !== undefined && !isText(reason)) {
      this.blobs.setSkip(oid, reason);
      this.#discovered.push({ oid, sha256: null, sizeBytes, skip: reason, interpreter: null });
      return undefined;
    }
    const data = asUtf8(bytes);
    const sha256 = sha256Hex(data);
    const row = this.blobs.find(oid);
    const named = this.blobs.languagesAt(row);
    const other = named.map((language) => contentLanguage(language, data)).find((found, i) => found !== named[i]);
    const interpreter = other ?? detectLanguage("", data) ?? null;
    if (interpreter !== null) this.blobs.setContentLanguage(oid, interpreter);
    const languages =
      textReason === undefined ? this.blobs.languagesAt(row).filter((name) => !this.isStored(sha256, name)) : [];
    this.blobs.setSha256(oid, sha256);
    this.#discovered.push({ oid, sha256, sizeBytes, skip: reason ?? null, interpreter });
    if (languages.length > 0 || !this.knownTexts.has(sha256)) this.#buffer.add(sha256, languages, data);
    return this.#buffer.bytes >= SHARD_BYTES || this.#buffer.count >= SHARD_BLOBS ? this.flush() : undefined;
  }

  /** Stages the buffered blobs. */
  async flush(): Promise<void> {
    const discovered = this.#discovered;
    this.#discovered = [];
    if (discovered.length > 0) await writeBlobs(this.#step.db, this.#step.run.tenantId, discovered);
    if (this.#buffer.count > 0) await this.#stage(this.#buffer.take());
  }

  /**
   * Stages contents that are stored but lack vectors of the current fingerprint: the given ones, and all of a revision
   * that was embedded by another model.
   */
  async stageUnembedded(contentIds: Iterable<string>, revision: Revision | undefined): Promise<void> {
    const { db, run, embedder } = this.#step;
    const lacking = new Set<string>();
    for (const page of pages(contentIds)) {
      for (const id of await findUnembedded(db, run.tenantId, embedder.fingerprint, page)) lacking.add(id);
    }
    if (revision) {
      const rows = await rowsOf<{ id: string }>(
        db,
        sql`select distinct f.content_id as id from ${filesOf(revision)} f`,
      );
      for (const page of pages(rows.map((row) => row.id))) {
        for (const id of await findUnembedded(db, run.tenantId, embedder.fingerprint, page)) lacking.add(id);
      }
    }
    for (const page of pages(lacking, SHARD_CONTENTS)) await this.#stage(encodeEmbedShard(page));
  }

  async #stage(bytes: Uint8Array): Promise<void> {
    const shard = this.shards++;
    const key = shardKey(this.#step.run.runId, this.#step.attempt, shard);
    await putShard(this.#step.staging, key, bytes);
    await this.#onShard(shard, key);
    await this.#step.beat({});
  }
}
