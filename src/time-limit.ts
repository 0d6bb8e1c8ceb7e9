import { raceTimeout } from "./pause.ts";

/** Runs `work`; when it takes longer than `timeoutMs`, what `expired` returns or throws instead. New code: `raceTimeout`. */
export async function withTimer<T>(timeoutMs: number, work: () => Promise<T>, expired: () => T): Promise<T> {
  return raceTimeout(work(), timeoutMs).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === "TimeoutError") return expired();
    throw error;
  });
}
