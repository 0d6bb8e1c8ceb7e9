import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { InspectedText } from "../../engines/exact/inspect.ts";
import { boundHeaps } from "../indexing/heap.ts";

const MAX_THREADS = 8;
/** Starting a thread takes as long as inspecting some forty texts. */
const TEXTS_PER_THREAD = 100;
/** Bytes of one message, or one text. */
const MESSAGE_BYTES = 256 * 1024;

/** Bytes to inspect, with what the caller knows them by. */
export interface UnknownText<K> {
  key: K;
  bytes: Uint8Array;
}

/** A message to a thread. */
interface Batch<K> {
  keys: K[];
  texts: Uint8Array[];
  byteLength: number;
}

const noTexts = <K>(): Batch<K> => ({ keys: [], texts: [], byteLength: 0 });

/**
 * Inspects texts, `expected` of them at most, and calls `onInspected` with each, in any order. Many are inspected in threads, which are
 * given the bytes: those are empty for the caller afterwards. Texts are taken as threads are ready for them.
 */
export async function inspectTexts<K>(
  texts: Iterable<UnknownText<K>> | AsyncIterable<UnknownText<K>>,
  expected: number,
  onInspected: (key: K, inspected: InspectedText) => void,
): Promise<void> {
  const size = Math.min(availableParallelism(), MAX_THREADS, Math.floor(expected / TEXTS_PER_THREAD));
  if (size < 2) {
    for await (const { key, bytes } of texts) onInspected(key, await inspect(bytes));
    return;
  }
  boundHeaps();
  const threads = Array.from({ length: size }, () => new InspectThread(onInspected));
  try {
    let batch = noTexts<K>();
    for await (const { key, bytes } of texts) {
      batch.keys.push(key);
      batch.texts.push(bytes);
      batch.byteLength += bytes.byteLength;
      if (batch.byteLength < MESSAGE_BYTES) continue;
      (await firstIdle(threads)).send(batch);
      batch = noTexts();
    }
    if (batch.keys.length > 0) (await firstIdle(threads)).send(batch);
    await Promise.all(threads.map((thread) => thread.idle));
  } finally {
    await Promise.all(threads.map((thread) => thread.end()));
  }
}

/** As `inspectText`, which is loaded when a text is not known yet: what finds secrets takes longer to load than a search. */
export async function inspect(bytes: Uint8Array): Promise<InspectedText> {
  const { inspectText } = await import("../../engines/exact/inspect.ts");
  return inspectText(bytes);
}

const firstIdle = <K>(threads: readonly InspectThread<K>[]): Promise<InspectThread<K>> =>
  Promise.race(threads.map(async (thread) => thread.idle.then(() => thread)));

/** A thread, with one message at a time. */
class InspectThread<K> {
  readonly #worker: Worker;
  readonly #onInspected: (key: K, inspected: InspectedText) => void;
  /** Resolves once the thread has answered; rejects if it has died. */
  idle: Promise<void> = Promise.resolve();

  constructor(onInspected: (key: K, inspected: InspectedText) => void) {
    const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
    this.#worker = new Worker(new URL(`./inspect-worker.${extension}`, import.meta.url));
    this.#onInspected = onInspected;
  }

  send({ keys, texts }: Batch<K>): void {
    const worker = this.#worker;
    this.idle = new Promise((resolve, reject) => {
      worker.once("error", reject);
      worker.once("message", (answers: InspectedText[]) => {
        worker.off("error", reject);
        for (const [i, key] of keys.entries()) this.#onInspected(key, answers[i] as InspectedText);
        resolve();
      });
    });
    // A failure is reported where `idle` is awaited next, not as an unhandled rejection.
    this.idle.catch(() => undefined);
    const own = texts.map(ownBytes);
    worker.postMessage(
      own,
      own.map(({ buffer }) => buffer),
    );
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}

/** The bytes in a buffer of their own, which can be given to a thread. */
function ownBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = bytes;
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength
    ? new Uint8Array(buffer)
    : new Uint8Array(bytes);
}
