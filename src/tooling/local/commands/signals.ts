const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const EXIT_INTERRUPTED = 130;
/** The terminal sends Ctrl-C to npm and to this process, and npm passes it on: one Ctrl-C may come twice. */
const SAME_SIGNAL_MS = 500;

/** Resolves with the first signal that asks the process to end; a second one, at least 0.5 s later, ends it at once. */
export function untilSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let first: number | undefined;
    for (const signal of SIGNALS) {
      process.on(signal, () => {
        if (first !== undefined && performance.now() - first > SAME_SIGNAL_MS) process.exit(EXIT_INTERRUPTED);
        first ??= performance.now();
        resolve(signal);
      });
    }
  });
}
