const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const EXIT_INTERRUPTED = 130;

/** Resolves at the first signal to end; a second one ends the process on the spot. */
export function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    let seen = false;
    for (const signal of SIGNALS) {
      process.on(signal, () => {
        if (seen) process.exit(EXIT_INTERRUPTED);
        seen = true;
        resolve();
      });
    }
  });
}
