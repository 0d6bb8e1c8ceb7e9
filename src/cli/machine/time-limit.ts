import { createContext, Script } from "node:vm";

/** Thrown by {@link withinTime}. */
export class TimeLimitError extends Error {
  constructor(limitMs: number) {
    super(`it took more than ${Math.ceil(limitMs / 1000)} s`);
    this.name = "TimeLimitError";
  }
}

/** Made with the first work. */
let watched: { script: Script; context: { work?: () => unknown } } | undefined;

/**
 * Does work that waits for nothing, and ends it if it takes longer, in whatever loop it is: one of WebAssembly or of a regular expression
 * as well. It ends as if its thread did: no `catch` or `finally` of the work runs, and what it was changing is not to be used any more.
 *
 * @throws TimeLimitError, and the errors of the work.
 */
export function withinTime<T>(limitMs: number, work: () => T): T {
  watched ??= { script: new Script("work()"), context: createContext({}) };
  const { script, context } = watched;
  context.work = work;
  try {
    return script.runInContext(context, { timeout: Math.ceil(limitMs) }) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException | null)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT")
      throw new TimeLimitError(limitMs);
    throw error;
  } finally {
    delete context.work;
  }
}
