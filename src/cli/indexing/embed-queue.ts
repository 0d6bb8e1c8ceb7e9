import type { EmbedResponse } from "../../contract/index.ts";
import { MAX_EMBED_INPUTS, MAX_INPUT_CHARACTERS } from "../../contract/limits.ts";
import { encodeF16 } from "../../engines/embedding/f16.ts";
import { CliError, EXIT } from "../exit-codes.ts";
import type { IndexStore } from "./store.ts";

/** Requests in flight: enough to hide the latency of the model, far from the service's rate limit. */
const CONCURRENCY = 4;

/** The subset of the client that embedding uses. */
export interface EmbedClient {
  embed(
    request: { input: string[]; inputType: "document" },
    options: { signal?: AbortSignal | undefined },
  ): Promise<EmbedResponse>;
}

interface Item {
  /** SHA-256 of the text. */
  hash: Uint8Array;
  text: string;
}

export interface EmbedStats {
  embeddedCount: number;
  credits: number;
  requests: number;
  /** Time during which at least one request was in flight. */
  embedMs: number;
}

export interface EmbedQueueOptions {
  /** Send no further requests, but wait for those in flight, which are already paid for. */
  stop?: AbortSignal | undefined;
  /** Abort requests in flight too. */
  abort?: AbortSignal | undefined;
  onProgress?: ((stats: EmbedStats) => void) | undefined;
}

/**
 * Embeds texts in full batches and stores the vectors of each answer immediately, so that nothing is paid for twice after a failure.
 * Vectors are stored under the answer's fingerprint, not the expected one.
 */
export class EmbedQueue {
  readonly #store: IndexStore;
  readonly #client: EmbedClient;
  readonly #expectedId: number | undefined;
  readonly #stop: AbortSignal | undefined;
  readonly #abort: AbortSignal | undefined;
  readonly #onProgress: ((stats: EmbedStats) => void) | undefined;
  /** Hashes (hex) of texts queued or embedded in this run. */
  readonly #seen = new Set<string>();
  #batch: Item[] = [];
  #batchCharacters = 0;
  readonly #ready: Item[][] = [];
  readonly #inFlight = new Set<Promise<void>>();
  #busySince = 0;
  #failure: { error: unknown } | undefined;
  readonly stats: EmbedStats = { embeddedCount: 0, credits: 0, requests: 0, embedMs: 0 };
  /** Fingerprint of the last answer. */
  fingerprint: string | undefined;

  constructor(store: IndexStore, client: EmbedClient, expectedFingerprint: string, options: EmbedQueueOptions = {}) {
    this.#store = store;
    this.#client = client;
    this.#expectedId = store.fingerprintId(expectedFingerprint);
    this.#stop = options.stop;
    this.#abort = options.abort;
    this.#onProgress = options.onProgress;
  }

  /** Texts that are queued or in flight. */
  get backlog(): number {
    return (this.#ready.length + this.#inFlight.size) * MAX_EMBED_INPUTS + this.#batch.length;
  }

  get failed(): boolean {
    return this.#failure !== undefined;
  }

  /** {@link push}, unless the vector is stored already, since another content may have the same chunk. */
  pushMissing(hash: string, text: string): void {
    if (this.#expectedId !== undefined && this.#store.hasVector(this.#expectedId, Buffer.from(hash, "hex"))) return;
    this.push(hash, text);
  }

  /** Queues a text, once per hash (hex). */
  push(hash: string, text: string): void {
    if (this.#failure || this.#seen.has(hash)) return;
    this.#seen.add(hash);
    if (this.#batch.length === MAX_EMBED_INPUTS || this.#batchCharacters + text.length > MAX_INPUT_CHARACTERS)
      this.#closeBatch();
    this.#batch.push({ hash: Buffer.from(hash, "hex"), text });
    this.#batchCharacters += text.length;
  }

  #closeBatch(): void {
    if (this.#batch.length > 0) this.#ready.push(this.#batch);
    this.#batch = [];
    this.#batchCharacters = 0;
    this.#pump();
  }

  #pump(): void {
    while (!this.#failure && this.#inFlight.size < CONCURRENCY) {
      if (this.#stop?.aborted) this.#failure = { error: new CliError(EXIT.interrupted, "ABORTED", "interrupted") };
      const items = this.#failure ? undefined : this.#ready.shift();
      if (!items) return;
      if (this.#inFlight.size === 0) this.#busySince = performance.now();
      const request = this.#send(items)
        .catch((error: unknown) => {
          this.#failure ??= { error };
        })
        .finally(() => {
          this.#inFlight.delete(request);
          if (this.#inFlight.size === 0) this.stats.embedMs += performance.now() - this.#busySince;
          this.#pump();
        });
      this.#inFlight.add(request);
    }
  }

  async #send(items: Item[]): Promise<void> {
    const input = items.map(({ text }) => text);
    const answer = await this.#client.embed({ input, inputType: "document" }, { signal: this.#abort });
    this.fingerprint = answer.fingerprint;
    const fingerprintId = this.#store.fingerprintId(answer.fingerprint, answer.dimension) ?? 0;
    this.#store.begin();
    for (const { index, vector } of answer.embeddings) {
      const item = items[index];
      if (item) this.#store.addVector(fingerprintId, item.hash, encodeF16(Float32Array.from(vector)));
    }
    this.#store.commit();
    this.stats.embeddedCount += answer.embeddings.length;
    this.stats.credits += answer.usage.credits;
    this.stats.requests++;
    this.#onProgress?.(this.stats);
  }

  /** Waits until the backlog is short. Throws the first failure, after storing the answers in flight. */
  async room(): Promise<void> {
    while (this.#ready.length > CONCURRENCY && !this.#failure) await Promise.race(this.#inFlight);
    if (this.#failure) await this.drain();
  }

  /** Sends the rest and waits for all answers. Throws the first failure, after storing the answers in flight. */
  async drain(): Promise<EmbedStats> {
    this.#closeBatch();
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight);
    if (this.#failure) throw this.#failure.error;
    return this.stats;
  }
}
