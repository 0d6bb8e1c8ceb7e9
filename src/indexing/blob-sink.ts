import { sql } from "drizzle-orm";
import { contentSkipReason, type LanguageId } from "../parsing/index.ts";
import type { StepContext } from "./context.ts";
import { sha256Hex } from "./ids.ts";
import { pages } from "./listing.ts";
import type { Revision, ShardReady } from "./plan.ts";
import { encodeEmbedShard, ShardBuffer, shardKey } from "./staging.ts";
import { findUnembedded, type KnownBlob, writeBlobs } from "./store.ts";
import { rowsOf } from "../db/rows.ts";

/** Source bytes of one shard: a few seconds of parsing, and small beside a Worker's memory. */
const SHARD_BYTES = 1024 * 1024;
/** Blobs of one shard: bounds the rows of tiny files. */
const SHARD_BLOBS = 1_000;
/** Contents of one shard that only embeds. */
const SHARD_CONTENTS = 200;

/**
 * Takes the blobs of a pull one by one, recognises what must not be indexed, and stages the rest in shards of bounded
 * size, each announced as soon as it is stored.
 */
export class BlobSink {
  /** Contents that were stored before this run. */
  readonly knownContents = new Set<string>();
  /** Shards staged so far. */
  shards = 0;
  private readonly step: StepContext;
  private readonly onShard: ShardReady;
  private readonly shas = new Map<string, string>();
  private readonly skips = new Map<string, string>();
  private readonly expected = new Map<string, LanguageId[]>();
  private readonly buffer = new ShardBuffer();
  private discovered: KnownBlob[] = [];

  constructor(step: StepContext, onShard: ShardReady) {
    this.step = step;
    this.onShard = onShard;
  }

  /** Takes over what an earlier run found out. */
  learn(blob: KnownBlob): void {
    if (blob.sizeBytes > this.step.run.options.maxFileSizeBytes) this.skips.set(blob.oid, "too_large");
    else if (blob.sha256 !== null) this.shas.set(blob.oid, blob.sha256);
    else if (blob.skip !== null) this.skips.set(blob.oid, blob.skip);
  }

  /** Announces that a blob will come and in which language it is to be parsed. */
  expect(oid: string, language: LanguageId): void {
    const languages = this.expected.get(oid);
    if (!languages) this.expected.set(oid, [language]);
    else if (!languages.includes(language)) languages.push(language);
  }

  sha256Of(oid: string): string | undefined {
    return this.shas.get(oid);
  }

  skipOf(oid: string): string | undefined {
    return this.skips.get(oid);
  }

  /** A blob that is not to be had, for a reason that depends on the request. */
  skip(oid: string, reason: string): void {
    this.skips.set(oid, reason);
  }

  /** Takes a blob; `data` is copied. Resolves when there is room for more. */
  add(oid: string, data: Uint8Array): Promise<void> | undefined {
    const reason = contentSkipReason(data);
    if (reason !== undefined) {
      this.skips.set(oid, reason);
      this.discovered.push({ oid, sha256: null, sizeBytes: data.byteLength, skip: reason });
      return undefined;
    }
    const sha256 = sha256Hex(data);
    this.shas.set(oid, sha256);
    this.discovered.push({ oid, sha256, sizeBytes: data.byteLength, skip: null });
    this.buffer.add(sha256, this.expected.get(oid) ?? [], data);
    return this.buffer.bytes >= SHARD_BYTES || this.buffer.count >= SHARD_BLOBS ? this.flush() : undefined;
  }

  /** Stages what has gathered. */
  async flush(): Promise<void> {
    const { discovered } = this;
    this.discovered = [];
    if (discovered.length > 0) await writeBlobs(this.step.db, this.step.run.tenantId, discovered);
    if (this.buffer.count > 0) await this.stage(this.buffer.take());
  }

  /**
   * Stages contents that are stored but lack vectors of the current fingerprint: the given ones, and all of a revision
   * that was embedded by another model.
   */
  async stageUnembedded(contentIds: readonly string[], revision: Revision | undefined): Promise<void> {
    const { db, run, embedder } = this.step;
    const lacking = new Set<string>();
    for (const page of pages(contentIds)) {
      for (const id of await findUnembedded(db, run.tenantId, embedder.fingerprint, page)) lacking.add(id);
    }
    if (revision) {
      const rows = await rowsOf<{ id: string }>(
        db,
        sql`select distinct f.content_id as id from revision_files f where f.workspace_id = ${run.workspaceId}
            and f.from_seq <= ${revision.seq} and (f.to_seq is null or f.to_seq > ${revision.seq})`,
      );
      for (const page of pages(rows.map((row) => row.id))) {
        for (const id of await findUnembedded(db, run.tenantId, embedder.fingerprint, page)) lacking.add(id);
      }
    }
    for (const page of pages([...lacking], SHARD_CONTENTS)) await this.stage(encodeEmbedShard(page));
  }

  private async stage(bytes: Uint8Array): Promise<void> {
    const shard = this.shards++;
    const key = shardKey(this.step.run.runId, this.step.attempt, shard);
    await this.step.staging.put(key, bytes);
    await this.onShard(shard, key);
    await this.step.beat({});
  }
}
