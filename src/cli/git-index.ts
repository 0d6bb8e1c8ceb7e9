import { readFileSync, statSync } from "node:fs";
import { type FileStat, isRacy, isSameState } from "./index/file-stat.ts";

const HEADER_BYTES = 12;
/** Of an entry before the object id: ten 32-bit numbers. */
const STAT_BYTES = 40;
const NAME_MASK = 0xfff;
const EXTENDED = 0x4000;
const STAGE_MASK = 0x3000;
const MODE_OFFSET = 24;
const TYPE_MASK = 0o170000;
const REGULAR = 0o100000;
/** Earlier than the index by any time at all would do; a little more for good measure. */
const MARGIN_MS = 5;
/** The extension of a split index: most entries are in another file. */
const LINK = 0x6c696e6b;

export interface GitIndex {
  /** By path of a regular file: what `lstat` said when git last found it to be what the index has. */
  stats: Map<string, FileStat>;
  /** Modification time of the index itself. */
  writtenAtMs: number;
  /** Whether it still is git's index. */
  isCurrent(): boolean;
}

/**
 * What git's index says of the regular files of a work tree, in place of asking for each again. Undefined where the index is
 * of a kind that is not read here. Layout: gitformat-index(5), versions 2 to 4.
 */
export function readGitIndex(file: string, objectIdBytes: number): GitIndex | undefined {
  // Git on Windows keeps other times and no inode: nothing there would ever agree with `lstat`.
  if (process.platform === "win32") return undefined;
  try {
    const before = statSync(file);
    const stats = parseIndex(readFileSync(file), objectIdBytes);
    const isCurrent = () => {
      const now = statSync(file, { throwIfNoEntry: false });
      return now !== undefined && isSameState(now, before);
    };
    return stats && { stats, writtenAtMs: before.mtimeMs, isCurrent };
  } catch {
    // Not there, or damaged: git has more to say about that.
    return undefined;
  }
}

/**
 * How many files git reads again when it is asked what has changed: those of the second in which the index was written, or
 * later, since it compares whole seconds. In a fresh clone that may be all of them.
 */
export function countReread({ stats, writtenAtMs }: GitIndex): number {
  const second = Math.floor(writtenAtMs / 1_000) * 1_000;
  let count = 0;
  for (const { mtimeMs } of stats.values()) if (mtimeMs >= second) count++;
  return count;
}

/**
 * Whether a file is as it was when git wrote its index. What is changed after that has no earlier time than the index itself, by
 * the same clock, however coarse.
 */
export function isAsIndexed(file: FileStat, { writtenAtMs }: GitIndex, indexed: FileStat): boolean {
  return isSameState(file, indexed) && !isRacy(file, writtenAtMs, MARGIN_MS);
}

function parseIndex(bytes: Buffer, objectIdBytes: number): Map<string, FileStat> | undefined {
  // Sooner than the methods of Buffer, as long as nothing is compiled yet.
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const version = view.getUint32(4);
  if (bytes.toString("latin1", 0, 4) !== "DIRC" || version < 2 || version > 4) return undefined;
  const count = view.getUint32(8);
  const stats = new Map<string, FileStat>();
  let at = HEADER_BYTES;
  let previous = Buffer.alloc(0);
  for (let entry = 0; entry < count; entry++) {
    const start = at;
    const flags = view.getUint16(start + STAT_BYTES + objectIdBytes);
    at += STAT_BYTES + objectIdBytes + ((flags & EXTENDED) === 0 ? 2 : 4);
    let path: string;
    if (version === 4) {
      const [dropped, nameStart] = readOffset(view, at);
      const end = bytes.indexOf(0, nameStart);
      previous = Buffer.concat([previous.subarray(0, previous.length - dropped), bytes.subarray(nameStart, end)]);
      path = previous.toString();
      at = end + 1;
    } else {
      const end = (flags & NAME_MASK) < NAME_MASK ? at + (flags & NAME_MASK) : bytes.indexOf(0, at);
      path = bytes.toString("utf8", at, end);
      // Entries are padded to multiples of eight, with one NUL at least.
      at = start + ((end - start + 8) & ~7);
    }
    const isRegular = (view.getUint32(start + MODE_OFFSET) & TYPE_MASK) === REGULAR;
    if (isRegular && (flags & STAGE_MASK) === 0) stats.set(path, statAt(view, start));
  }
  return isSplit(view, at, objectIdBytes) ? undefined : stats;
}

function statAt(view: DataView, at: number): FileStat {
  return {
    ctimeMs: timeAt(view, at),
    mtimeMs: timeAt(view, at + 8),
    ino: view.getUint32(at + 20),
    size: view.getUint32(at + 36),
  };
}

/** As Node computes them, so that equal times are equal numbers. */
function timeAt(view: DataView, at: number): number {
  return view.getUint32(at) * 1_000 + view.getUint32(at + 4) / 1_000_000;
}

/** The variable-length number of pack offsets, and where it ends. */
function readOffset(view: DataView, start: number): [value: number, end: number] {
  let at = start;
  let byte = view.getUint8(at++);
  let value = byte & 0x7f;
  while (byte >= 0x80) {
    byte = view.getUint8(at++);
    value = (value + 1) * 128 + (byte & 0x7f);
  }
  return [value, at];
}

function isSplit(view: DataView, start: number, trailerBytes: number): boolean {
  for (let at = start; at < view.byteLength - trailerBytes; at += 8 + view.getUint32(at + 4))
    if (view.getUint32(at) === LINK) return true;
  return false;
}
