/** A change within this time before the file was looked at may not show in its timestamps (the kernel's clock ticks in ms). */
const RACY_MS = 100;
/** File systems that keep whole seconds: two of them, as FAT does. */
const COARSE_RACY_MS = 2_000;

/** The parts of `lstat` that change with the file. Times in milliseconds. */
export interface FileStat {
  size: number;
  mtimeMs: number;
  ctimeMs: number;
  ino: number;
}

/** A file's state as one string. */
export function stampOf({ size, mtimeMs, ctimeMs, ino }: FileStat): string {
  return `${size}:${mtimeMs}:${ctimeMs}:${ino}`;
}

/** Whether a change after `nowMs`, when the file was examined, could leave its stamp the same. */
export function isRacy({ mtimeMs, ctimeMs }: FileStat, nowMs: number): boolean {
  const isCoarse = mtimeMs % 1_000 === 0 && ctimeMs % 1_000 === 0;
  return Math.max(mtimeMs, ctimeMs) > nowMs - (isCoarse ? COARSE_RACY_MS : RACY_MS);
}
