import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { Worker } from "node:worker_threads";
import type { LanguageId } from "../../parsing/languages.ts";
import type { ParseFile, ParseOutcome } from "./parse-file.ts";
import type { ParseAnswer, ParseRequest } from "./parse-worker.ts";

/** Each worker holds its own grammars, some 50 MB. */
const MAX_WORKERS = 8;
/** Starting a worker takes about as long as parsing this many files. */
const FILES_PER_WORKER = 20;
/** Up to this many files are parsed in the main thread, which is faster than starting a worker. */
const FILES_WITHOUT_WORKER = 8;
/** Number of waiting files per worker at which another worker is started. */
const WAITING_PER_WORKER = 3;

/** Folder of the packed CLI's grammars; undefined in the repository, where they come from the installed packages. */
export function packedGrammars(): string | undefined {
  const folder = fileURLToPath(new URL("./grammars/", import.meta.url));
  return existsSync(folder) ? folder : undefined;
}

interface Task {
  request: ParseRequest;
  resolve: (outcome: ParseOutcome) => void;
  reject: (error: Error) => void;
}

/** Parses files in worker threads, in parallel to reading, storing and embedding. */
export class ParsePool {
  private readonly workers: Worker[] = [];
  private readonly idle: Worker[] = [];
  private readonly running = new Map<Worker, Task>();
  private readonly waiting: Task[] = [];
  private readonly size: number;
  /** Parser of this thread, for few files. */
  private inline: Promise<ParseFile> | undefined;
  private nextId = 0;

  /** Threads are started on demand; `expectedFiles` limits their number. */
  constructor(expectedFiles = Infinity) {
    if (expectedFiles > 0 && expectedFiles <= FILES_WITHOUT_WORKER) {
      this.inline = import("./parse-file.ts").then(({ fileParser }) => fileParser(packedGrammars()));
      this.inline.catch(() => undefined);
    }
    this.size = Math.max(1, Math.min(availableParallelism(), MAX_WORKERS, Math.ceil(expectedFiles / FILES_PER_WORKER)));
  }

  /** Parses a file to symbols and chunks, or a reason to skip it. Transfers `bytes`, which are empty for the caller afterwards. */
  async parse(bytes: Uint8Array, language: LanguageId): Promise<ParseOutcome> {
    if (this.inline) return (await this.inline)(bytes, language);
    return new Promise((resolve, reject) => {
      this.waiting.push({ request: { id: this.nextId++, bytes, language }, resolve, reject });
      this.dispatch();
    });
  }

  private dispatch(): void {
    while (this.waiting.length > 0) {
      const more = this.workers.length < this.size && this.waiting.length > this.workers.length * WAITING_PER_WORKER;
      const worker = this.idle.pop() ?? (more ? this.start() : undefined);
      const task = worker && this.waiting.shift();
      if (!worker || !task) return;
      this.running.set(worker, task);
      const { bytes } = task.request;
      const owned =
        bytes.byteLength === bytes.buffer.byteLength && bytes.buffer instanceof ArrayBuffer ? [bytes.buffer] : [];
      worker.postMessage(task.request, owned);
    }
  }

  private start(): Worker {
    // For the whole process. V8 doubles the young generation of each thread up to 48 MB under a steady stream of short-lived
    // objects; at its first size indexing git/git takes 263 MB instead of 337, in the same CPU time.
    setFlagsFromString("--semi-space-growth-factor=1");
    // V8 lets the old generation grow to several times what is live before it collects it, which is fast but here mostly garbage of
    // the messages: the first index of 53,000 chunks takes 80 MB less with this limit.
    setFlagsFromString("--heap-growing-percent=30");
    const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
    const worker = new Worker(new URL(`./parse-worker.${extension}`, import.meta.url), {
      workerData: { grammars: packedGrammars() },
    });
    this.workers.push(worker);
    worker.on("message", (answer: ParseAnswer) => {
      const task = this.running.get(worker);
      this.running.delete(worker);
      this.idle.push(worker);
      if (task) {
        if ("error" in answer) task.reject(new Error(`parsing failed: ${answer.error}`));
        else task.resolve(answer);
      }
      this.dispatch();
    });
    worker.on("error", (error) => {
      // The worker died (out of memory, a bug): its file fails, other workers take the rest.
      this.workers.splice(this.workers.indexOf(worker), 1);
      const task = this.running.get(worker);
      this.running.delete(worker);
      task?.reject(error instanceof Error ? error : new Error(String(error)));
      this.dispatch();
    });
    return worker;
  }

  async close(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.terminate()));
  }
}
