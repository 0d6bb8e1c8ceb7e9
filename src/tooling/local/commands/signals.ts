const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const EXIT_INTERRUPTED = 130;

/** Resolves with the first signal that asks the process to end; a second one ends it at once. */
export function untilSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let seen = false;
    for (const signal of SIGNALS) {
      process.on(signal, () => {
        if (seen) process.exit(EXIT_INTERRUPTED);
        seen = true;
        resolve(signal);
      });
    }
  });
}
