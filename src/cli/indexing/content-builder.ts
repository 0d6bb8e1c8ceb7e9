import { embeddingText } from "../../engines/parsing/chunks.ts";
import { contentLanguage } from "../../engines/parsing/detect.ts";
import type { LanguageId } from "../../engines/parsing/languages.ts";
import { sha256 } from "../machine/checksum.ts";
import type { EmbedQueue } from "./embed-queue.ts";
import { unpackFile } from "./packed-file.ts";
import type { StoreOutcome } from "./parse-file.ts";
import type { ParsePool } from "./parse-pool.ts";
import { skippedContent } from "./skipped.ts";
import type { IndexStore, NewContent } from "./store.ts";

/** Limit of files being parsed at a time. */
const MAX_IN_FLIGHT = 32;
/** Contents written per transaction; a crash loses at most this many. */
const CONTENTS_PER_COMMIT = 200;
/** Limit of texts waiting for the embedder, which bounds memory; the rest is embedded at the end. */
const MAX_EMBED_BACKLOG = 8_192;

export interface BuilderStats {
  parsedFiles: number;
  /** Files whose content was already known, from any path, branch or work tree. */
  reusedFiles: number;
  parsedBytes: number;
}

/** Parses each distinct content once, stores it, and queues it for embedding. */
export class ContentBuilder {
  readonly #store: IndexStore;
  readonly #pool: ParsePool;
  readonly #queue: EmbedQueue | undefined;
  readonly #onAnalysis: ((analysis: Uint8Array) => void) | undefined;
  readonly #pending = new Map<string, Promise<number>>();
  readonly #inFlight = new Set<Promise<void>>();
  #failure: { error: unknown } | undefined;
  #uncommitted = 0;
  readonly stats: BuilderStats = { parsedFiles: 0, reusedFiles: 0, parsedBytes: 0 };

  /** `onAnalysis` is called with the analysis of every parsed content, for the search index. */
  constructor(
    store: IndexStore,
    pool: ParsePool,
    queue: EmbedQueue | undefined,
    onAnalysis: ((analysis: Uint8Array) => void) | undefined,
  ) {
    this.#store = store;
    this.#pool = pool;
    this.#queue = queue;
    this.#onAnalysis = onAnalysis;
  }

  /**
   * Finds or creates the content and calls `use` with its id. Resolves when there is room for another file; throws the error of an
   * earlier one. Transfers `bytes`.
   */
  async add(bytes: Uint8Array, named: LanguageId, use: (contentId: number) => void): Promise<void> {
    const language = contentLanguage(named, bytes);
    const digest = sha256(bytes);
    const known = this.#store.findContent(digest, language);
    if (known !== undefined) {
      this.stats.reusedFiles++;
      use(known);
      return;
    }
    const key = `${language}:${digest.toString("hex")}`;
    let pending = this.#pending.get(key);
    if (pending) this.stats.reusedFiles++;
    else {
      pending = this.#parse(bytes, language, digest).finally(() => this.#pending.delete(key));
      this.#pending.set(key, pending);
    }
    const task = pending
      .then(use)
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => this.#inFlight.delete(task));
    this.#inFlight.add(task);
    while (this.#inFlight.size >= MAX_IN_FLIGHT) await Promise.race(this.#inFlight);
    if (this.#failure) throw this.#failure.error;
  }

  /** Waits for every file added so far, and commits. */
  async finish(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight);
    if (this.#failure) throw this.#failure.error;
    this.#store.commit();
  }

  async #parse(bytes: Uint8Array, language: LanguageId, sha256: Uint8Array): Promise<number> {
    const sizeBytes = bytes.byteLength;
    const outcome = await this.#pool.parse(bytes, language);
    this.stats.parsedFiles++;
    this.stats.parsedBytes += sizeBytes;
    if ("analysis" in outcome) this.#onAnalysis?.(outcome.analysis);
    this.#store.begin();
    const id = this.#store.addContent(contentOf(outcome, sha256, language, sizeBytes));
    if (++this.#uncommitted >= CONTENTS_PER_COMMIT) {
      this.#store.commit();
      this.#uncommitted = 0;
    }
    if (this.#queue && "packed" in outcome && this.#queue.backlog < MAX_EMBED_BACKLOG) {
      const { bytes: packed, chunks } = outcome.packed;
      for (const [ordinal, chunk] of unpackFile(packed).chunks.entries())
        if (!chunk.withheld) this.#queue.pushMissing(chunks[ordinal]?.hash ?? "", embeddingText(chunk));
    }
    return id;
  }
}

function contentOf(outcome: StoreOutcome, sha256: Uint8Array, language: string, sizeBytes: number): NewContent {
  const base = { sha256, language, sizeBytes };
  if ("skip" in outcome) {
    return skippedContent(base, outcome.skip);
  }
  const { lineCount, packed } = outcome;
  return { ...base, lineCount, outcome: outcome.outcome, skip: null, packed };
}
