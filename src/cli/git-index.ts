import { readFileSync } from "node:fs";
import type { FileStat } from "./index/file-stat.ts";

const HEADER_BYTES = 12;
/** Of an entry before the object id: ten 32-bit numbers. */
const STAT_BYTES = 40;
const SHA1_BYTES = 20;
const SHA256_BYTES = 32;
const NAME_MASK = 0xfff;
const EXTENDED = 0x4000;
const STAGE_MASK = 0x3000;
/** Mode bits of a regular file. */
const REGULAR = 0o100000;
/** The extension of a split index: most entries are in another file. */
const LINK = 0x6c696e6b;

/**
 * What git's index says of the regular files of a work tree: what `lstat` said when git last found them to be what the
 * index has, in place of asking for each again. Of use only for files of which git says now that they are unchanged.
 * Undefined where the index is of a kind that is not read here. Layout: gitformat-index(5), versions 2 to 4.
 */
export function readGitIndex(file: string, objectIdBytes: number): Map<string, FileStat> | undefined {
  // Git on Windows keeps other times and no inode: nothing there would ever agree with `lstat`.
  if (process.platform === "win32") return undefined;
  try {
    return parseIndex(readFileSync(file), objectIdBytes);
  } catch {
    // Not there, or damaged: git has more to say about that.
    return undefined;
  }
}

/** Length of an object id by one of them in hex. */
export function objectIdBytesOf(oid: string): number {
  return oid.length === 2 * SHA256_BYTES ? SHA256_BYTES : SHA1_BYTES;
}

function parseIndex(bytes: Buffer, objectIdBytes: number): Map<string, FileStat> | undefined {
  const version = bytes.readUInt32BE(4);
  if (bytes.toString("latin1", 0, 4) !== "DIRC" || version < 2 || version > 4) return undefined;
  const count = bytes.readUInt32BE(8);
  const stats = new Map<string, FileStat>();
  let at = HEADER_BYTES;
  let previous = Buffer.alloc(0);
  for (let entry = 0; entry < count; entry++) {
    const start = at;
    const flags = bytes.readUInt16BE(start + STAT_BYTES + objectIdBytes);
    at += STAT_BYTES + objectIdBytes + ((flags & EXTENDED) === 0 ? 2 : 4);
    let path: string;
    if (version === 4) {
      const [dropped, nameStart] = readOffset(bytes, at);
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
    const mode = bytes.readUInt32BE(start + 24);
    if ((flags & STAGE_MASK) === 0 && (mode & 0o170000) === REGULAR) stats.set(path, statAt(bytes, start));
  }
  return isSplit(bytes, at, objectIdBytes) ? undefined : stats;
}

function statAt(bytes: Buffer, at: number): FileStat {
  // As Node computes them, so that equal times are equal numbers.
  const timeAt = (offset: number): number =>
    bytes.readUInt32BE(offset) * 1_000 + bytes.readUInt32BE(offset + 4) / 1_000_000;
  return {
    ctimeMs: timeAt(at),
    mtimeMs: timeAt(at + 8),
    ino: bytes.readUInt32BE(at + 20),
    size: bytes.readUInt32BE(at + 36),
  };
}

/** The variable-length number of pack offsets, and where it ends. */
function readOffset(bytes: Buffer, start: number): [value: number, end: number] {
  let at = start;
  let byte = bytes.readUInt8(at++);
  let value = byte & 0x7f;
  while (byte >= 0x80) {
    byte = bytes.readUInt8(at++);
    value = (value + 1) * 128 + (byte & 0x7f);
  }
  return [value, at];
}

function isSplit(bytes: Buffer, start: number, trailerBytes: number): boolean {
  for (let at = start; at < bytes.length - trailerBytes; at += 8 + bytes.readUInt32BE(at + 4))
    if (bytes.readUInt32BE(at) === LINK) return true;
  return false;
}
