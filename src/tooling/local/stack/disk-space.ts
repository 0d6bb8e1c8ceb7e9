import { statfsSync } from "node:fs";

const LOW_BYTES = 500 * 1024 * 1024;
const EVERY_MS = 60_000;

/**
 * Warns when little is left of the disk with `folder`, once until there is more again: what fails on a full disk can only say that the
 * storage or the database is not available. Returns a function that ends the watch.
 */
export function watchDiskSpace(
  folder: string,
  warn: (text: string) => void,
  { freeBytes = freeBytesOf, everyMs = EVERY_MS } = {},
): () => void {
  let isLow = false;
  const look = (): void => {
    const free = freeBytes(folder);
    const wasLow = isLow;
    isLow = free < LOW_BYTES;
    if (isLow && !wasLow)
      warn(
        `warning: ${Math.floor(free / 1024 / 1024)} MB are left on the disk of ${folder}: when it is full, requests fail`,
      );
  };
  look();
  const timer = setInterval(look, everyMs);
  return () => clearInterval(timer);
}

/** Infinity where it cannot be told. */
function freeBytesOf(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return Infinity;
  }
}
