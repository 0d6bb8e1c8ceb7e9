import { lstatSync, type Stats } from "node:fs";

/** A change within this time before the file was looked at may not show in its timestamps (the kernel's clock ticks in ms). */
const RACY_MS = 100;
/** File systems that keep whole seconds: two of them, as FAT does. */
const COARSE_RACY_MS = 2_000;

/** What of `lstat` tells a file's next state from this one. Times in milliseconds, to a quarter of a microsecond. */
export interface FileStat {
  size: number;
  mtimeMs: number;
  ctimeMs: number;
  /** Git's index keeps 32 bits of it. */
  ino: number;
}

/** A file's state in a word. */
export function stampOf({ size, mtimeMs, ctimeMs, ino }: FileStat): string {
  return `${size}:${mtimeMs}:${ctimeMs}:${ino % 2 ** 32}`;
}

/** Whether two states have the same stamp, in less time than the stamps take. */
export function isSameState(a: FileStat, b: FileStat): boolean {
  return a.size === b.size && a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs && a.ino % 2 ** 32 === b.ino % 2 ** 32;
}

/** Whether a change after the look at a file, at `nowMs`, could leave its stamp as it is; `racyMs` where clocks are known to agree. */
export function isRacy({ mtimeMs, ctimeMs }: FileStat, nowMs: number, racyMs = RACY_MS): boolean {
  const isCoarse = mtimeMs % 1_000 === 0 && ctimeMs % 1_000 === 0;
  return Math.max(mtimeMs, ctimeMs) > nowMs - (isCoarse ? COARSE_RACY_MS : racyMs);
}

/** The regular file at a path; undefined where there is none. */
export function lstatFile(root: string, path: string): Stats | undefined {
  const stats = lstatSync(`${root}/${path}`, { throwIfNoEntry: false });
  return stats?.isFile() === true ? stats : undefined;
}
