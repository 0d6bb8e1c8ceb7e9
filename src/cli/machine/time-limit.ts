import { createContext, Script } from "node:vm";

/** Thrown by {@link withinTime}. */
export class TimeLimitError extends Error {
  /**
   * Whether the thread had the processor for less than half of the time: the process was stopped (Ctrl-Z, a frozen container, a
   * debugger) or the machine was busy, which says nothing of the work.
   */
  readonly wasPaused: boolean;

  constructor(limitMs: number, wasPaused: boolean) {
    super(`it took more than ${Math.ceil(limitMs / 1000)} s`);
    this.name = "TimeLimitError";
    this.wasPaused = wasPaused;
  }
}

/** Processor time of this thread so far in milliseconds; of all threads, hence more, in a Node that does not tell it of one. */
function processorMs(): number {
  const { threadCpuUsage } = process as Partial<Pick<NodeJS.Process, "threadCpuUsage">>;
  const { user, system } = threadCpuUsage?.() ?? process.cpuUsage();
  return (user + system) / 1_000;
}

/** Made with the first work. */
let watched: { script: Script; context: { work?: () => unknown } } | undefined;

/**
 * Does work that waits for nothing, and ends it if it takes longer, in whatever loop it is: one of WebAssembly or of a regular expression
 * as well. The time is elapsed time. It ends as if its thread did: no `catch` or `finally` of the work runs, and what it was changing is
 * not to be used any more.
 *
 * @throws TimeLimitError, and the errors of the work.
 */
export function withinTime<T>(limitMs: number, work: () => T): T {
  watched ??= { script: new Script("work()"), context: createContext({}) };
  const { script, context } = watched;
  context.work = work;
  const before = processorMs();
  try {
    return script.runInContext(context, { timeout: Math.ceil(limitMs) }) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException | null)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT")
      throw new TimeLimitError(limitMs, processorMs() - before < limitMs / 2);
    throw error;
  } finally {
    delete context.work;
  }
}
