import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { LanguageId } from "../../engines/parsing/languages.ts";
import { languageInfo } from "../../engines/parsing/detect.ts";
import { compiledCore } from "../../engines/parsing/grammars-node.ts";
import { boundHeaps } from "./heap.ts";
import type { ParseAnswer, ParseForStore, ParseRequest, StoreOutcome } from "./parse-file.ts";
import type { ParseWorkerData } from "./parse-worker.ts";

/** Each worker holds its own grammars, some 40 MB. */
const MAX_WORKERS = 8;
/** Starting a worker takes about as long as parsing this many files. */
const FILES_PER_WORKER = 20;
/** Up to this many files are parsed in the main thread, which is faster than starting a worker. */
const FILES_WITHOUT_WORKER = 8;
/** Number of waiting files per worker at which another worker is started. */
const WAITING_PER_WORKER = 3;
/** A message has up to this many files and bytes, or one file. For files of a kilobyte, messages take a fifth of the time of parsing them. */
const MESSAGE_FILES = 8;
const MESSAGE_BYTES = 32 * 1024;

/**
 * A worker with this many grammars is replaced before it gets a file that needs another one: neither a grammar's tables nor its code
 * are released before the thread ends. The first index of 31 repositories in 20 languages takes 260 MB instead of 332, in the same time.
 */
const MAX_GRAMMARS = 4;
/** A worker parses at least this many files, so that languages in turns do not start one worker after another. */
const MIN_FILES = 100;

/** Folder of the packed CLI's grammars; undefined in the repository, where they come from the installed packages. */
export function packedGrammars(): string | undefined {
  const folder = fileURLToPath(new URL("./grammars/", import.meta.url));
  return existsSync(folder) ? folder : undefined;
}

interface Task {
  request: ParseRequest;
  resolve: (answer: ParseAnswer) => void;
  reject: (error: Error) => void;
}

/** What a worker has done so far. */
interface Load {
  grammars: Set<string>;
  fileCount: number;
}

/** Parses files in worker threads, in parallel to reading, storing and embedding. */
export class ParsePool {
  readonly #workers: Worker[] = [];
  readonly #idle: Worker[] = [];
  readonly #loads = new Map<Worker, Load>();
  readonly #running = new Map<Worker, Task[]>();
  readonly #waiting: Task[] = [];
  readonly #size: number;
  /** Parser of this thread, for few files. */
  #inline: Promise<ParseForStore> | undefined;

  /** Threads are started on demand; `expectedFiles` limits their number. */
  constructor(expectedFiles = Infinity) {
    if (expectedFiles > 0 && expectedFiles <= FILES_WITHOUT_WORKER) {
      this.#inline = import("./parse-file.ts").then(({ storeParser }) => storeParser(packedGrammars()));
      this.#inline.catch(() => undefined);
    }
    this.#size = Math.max(
      1,
      Math.min(availableParallelism(), MAX_WORKERS, Math.ceil(expectedFiles / FILES_PER_WORKER)),
    );
  }

  /** Parses a file to what the index stores of it, or a reason to skip it. Transfers `bytes`, which are empty for the caller afterwards. */
  async parse(bytes: Uint8Array, language: LanguageId): Promise<StoreOutcome> {
    const request = { bytes, language };
    const [answer] = this.#inline ? await (await this.#inline)([request]) : [await this.#parseInWorker(request)];
    if (answer === undefined || "error" in answer) throw new Error(`parsing failed: ${answer?.error}`);
    return answer;
  }

  #parseInWorker(request: ParseRequest): Promise<ParseAnswer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, resolve, reject });
      this.#dispatch();
    });
  }

  #dispatch(): void {
    while (this.#waiting.length > 0) {
      const more =
        this.#workers.length < this.#size && this.#waiting.length > this.#workers.length * WAITING_PER_WORKER;
      const worker = this.#idle.pop() ?? (more ? this.#start() : undefined);
      if (!worker) return;
      const tasks = this.#take(worker);
      if (tasks.length === 0) continue;
      this.#running.set(worker, tasks);
      const requests = tasks.map(({ request }) => request);
      worker.postMessage(
        requests,
        requests.flatMap(({ bytes }) => ownBuffer(bytes)),
      );
    }
  }

  /** Takes waiting files for one message to a worker, with a grammar that it has if there are any; none if the worker has to end. */
  #take(worker: Worker): Task[] {
    const tasks: Task[] = [];
    // What is waiting is shared between the workers.
    const most = Math.min(MESSAGE_FILES, Math.ceil(this.#waiting.length / this.#size));
    let byteLength = 0;
    while (tasks.length < most) {
      const at = this.#nextFor(worker);
      const { bytes, language } = (this.#waiting[at] as Task).request;
      byteLength += bytes.length;
      if (tasks.length > 0 && (byteLength > MESSAGE_BYTES || this.#isNew(worker, language))) break;
      if (this.#retire(worker, language)) break;
      tasks.push(...this.#waiting.splice(at, 1));
    }
    return tasks;
  }

  /** Index of the first waiting file whose grammar the worker has, else of the first, so that workers load few grammars. */
  #nextFor(worker: Worker): number {
    const { grammars } = this.#loads.get(worker) as Load;
    const at = this.#waiting.findIndex(({ request }) => {
      const { grammar } = languageInfo(request.language);
      return grammar === undefined || grammars.has(grammar);
    });
    return Math.max(0, at);
  }

  /**
   * Counts the file towards the worker's load, or ends the worker and returns true if it has loaded enough. Its place is taken once
   * its memory is free.
   */
  #retire(worker: Worker, language: LanguageId): boolean {
    const { grammar } = languageInfo(language);
    const load = this.#loads.get(worker) as Load;
    if (this.#isNew(worker, language) && load.grammars.size >= MAX_GRAMMARS && load.fileCount >= MIN_FILES) {
      worker.once("exit", () => {
        this.#remove(worker);
        this.#dispatch();
      });
      void worker.terminate();
      return true;
    }
    if (grammar !== undefined) load.grammars.add(grammar);
    load.fileCount++;
    return false;
  }

  /** Whether a worker has not loaded the grammar of a language. */
  #isNew(worker: Worker, language: LanguageId): boolean {
    const { grammar } = languageInfo(language);
    return grammar !== undefined && !this.#loads.get(worker)?.grammars.has(grammar);
  }

  #remove(worker: Worker): void {
    if (this.#loads.delete(worker)) this.#workers.splice(this.#workers.indexOf(worker), 1);
  }

  #start(): Worker {
    boundHeaps();
    const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
    const grammars = packedGrammars();
    const worker = new Worker(new URL(`./parse-worker.${extension}`, import.meta.url), {
      workerData: { grammars, core: compiledCore(grammars) } satisfies ParseWorkerData,
    });
    this.#workers.push(worker);
    this.#loads.set(worker, { grammars: new Set(), fileCount: 0 });
    worker.on("message", (answers: ParseAnswer[]) => {
      const tasks = this.#running.get(worker) ?? [];
      this.#running.delete(worker);
      this.#idle.push(worker);
      for (const [i, answer] of answers.entries()) tasks[i]?.resolve(answer);
      this.#dispatch();
    });
    worker.on("error", (error) => {
      // The worker died (out of memory, a bug): its files fail, others take the rest.
      this.#remove(worker);
      const tasks = this.#running.get(worker) ?? [];
      this.#running.delete(worker);
      for (const { reject } of tasks) reject(error instanceof Error ? error : new Error(String(error)));
      this.#dispatch();
    });
    return worker;
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }
}

/** The buffer of the bytes, if nothing else is in it: it can be transferred. */
const ownBuffer = ({ byteLength, buffer }: Uint8Array): ArrayBuffer[] =>
  byteLength === buffer.byteLength && buffer instanceof ArrayBuffer ? [buffer] : [];
