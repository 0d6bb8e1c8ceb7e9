/** A change shortly before the `lstat` may not show in the timestamps, because of the kernel clock's resolution. */
const RACY_MS = 100;
/** The same for file systems with a resolution of two seconds (FAT). */
const COARSE_RACY_MS = 2_000;

/** The parts of `lstat` that change with the file. Times in milliseconds. */
export interface FileStat {
  size: number;
  mtimeMs: number;
  ctimeMs: number;
  ino: number;
}

/** Encodes a file's state as a string. */
export function stampOf({ size, mtimeMs, ctimeMs, ino }: FileStat): string {
  return `${size}:${mtimeMs}:${ctimeMs}:${ino}`;
}

/** Whether two states are the same. */
export function isSameStat(a: FileStat, b: FileStat): boolean {
  return a.size === b.size && a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs && a.ino === b.ino;
}

/** The state that {@link stampOf} has encoded. */
export function statOf(stamp: string): FileStat {
  const [size = 0, mtimeMs = 0, ctimeMs = 0, ino = 0] = stamp.split(":").map(Number);
  return { size, mtimeMs, ctimeMs, ino };
}

/**
 * Whether a change after `nowMs`, when the file was examined, could keep its stamp unchanged. An mtime ahead of an older ctime was set by
 * hand, and a change sets it to the time of the change; where a clock is wrong, the ctime is ahead too.
 */
export function isRacy({ mtimeMs, ctimeMs }: FileStat, nowMs: number): boolean {
  const isCoarse = mtimeMs % 1_000 === 0 && ctimeMs % 1_000 === 0;
  const changedMs = mtimeMs > nowMs ? ctimeMs : Math.max(mtimeMs, ctimeMs);
  return changedMs > nowMs - (isCoarse ? COARSE_RACY_MS : RACY_MS);
}
