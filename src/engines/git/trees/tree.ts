import { Buffer } from "node:buffer";
import { corrupt } from "../errors.ts";

export const MODE_TREE = 0o40000;
const MODE_FILE = 0o100644;
const MODE_EXECUTABLE = 0o100755;
export const MODE_SYMLINK = 0o120000;
/** A submodule's commit: never part of this repository. */
export const MODE_GITLINK = 0o160000;

const TYPE_MASK = 0o170000;

/** Maps a mode to one of git's five; historical variants (100664, …) are normalized. @throws GitError CORRUPT */
function canonicalMode(mode: number): number {
  switch (mode & TYPE_MASK) {
    case 0o100000:
      return (mode & 0o100) === 0 ? MODE_FILE : MODE_EXECUTABLE;
    case 0o120000:
      return MODE_SYMLINK;
    case 0o40000:
      return MODE_TREE;
    case 0o160000:
      return MODE_GITLINK;
    default:
      throw corrupt(`tree entry with mode ${mode.toString(8)}`);
  }
}

/** A read position in a raw tree object: `next` moves to the following entry and fills the fields. */
export class TreeCursor {
  /** The raw tree: a sequence of `<octal mode> <name>\0<binary id>`. */
  raw: Uint8Array = new Uint8Array(0);
  mode = 0;
  nameStart = 0;
  nameEnd = 0;
  oidStart = 0;
  /** True if the name is printable ASCII without quotes, so that its bytes are its text. */
  plain = true;
  #pos = 0;
  readonly #idBytes: number;

  constructor(raw: Uint8Array, idBytes: number) {
    this.raw = raw;
    this.#idBytes = idBytes;
  }

  /** Validates as `git fsck` does: mode, name, order. @throws GitError CORRUPT */
  next(): boolean {
    const { raw } = this;
    const total = raw.length;
    let p = this.#pos;
    if (p >= total) return false;
    const previousStart = this.nameStart;
    const previousEnd = this.nameEnd;
    const previousMode = this.mode;
    let mode = 0;
    let digits = 0;
    for (;;) {
      const byte = p < total ? raw[p++]! : 0;
      if (byte === 32) break;
      if (byte < 48 || byte > 55 || ++digits > 7) throw corrupt("tree entry with a malformed mode");
      mode = mode * 8 + byte - 48;
    }
    const nameStart = p;
    let plain = true;
    for (;;) {
      if (p >= total) throw corrupt("truncated tree");
      const byte = raw[p]!;
      if (byte === 0) break;
      if (byte === 47) throw corrupt("tree entry with a slash in its name");
      if (byte < 32 || byte > 126 || byte === 34) plain = false;
      p++;
    }
    const nameEnd = p;
    if (nameEnd === nameStart) throw corrupt("tree entry without a name");
    const oidStart = nameEnd + 1;
    if (oidStart + this.#idBytes > total) throw corrupt("truncated tree");
    if (isForbiddenName(raw, nameStart, nameEnd)) {
      throw corrupt(`tree entry with the forbidden name ${JSON.stringify(latin1(raw, nameStart, nameEnd))}`);
    }
    this.mode = mode === MODE_FILE || mode === MODE_TREE ? mode : canonicalMode(mode);
    this.nameStart = nameStart;
    this.nameEnd = nameEnd;
    this.oidStart = oidStart;
    this.plain = plain;
    this.#pos = oidStart + this.#idBytes;
    if (
      previousEnd !== 0 &&
      compareNames(raw, previousStart, previousEnd, previousMode, raw, nameStart, nameEnd, this.mode) >= 0
    ) {
      throw corrupt("tree entries out of order or twice");
    }
    return true;
  }

  /** Whether the current entry is a directory. */
  get isTree(): boolean {
    return this.mode === MODE_TREE;
  }

  /** Object id of the current entry, as hex. */
  oid(): string {
    return hex(this.raw, this.oidStart, this.oidStart + this.#idBytes);
  }

  /** The name's bytes. */
  name(): Uint8Array {
    return this.raw.subarray(this.nameStart, this.nameEnd);
  }

  /** The name, when `plain`. */
  text(): string {
    return latin1(this.raw, this.nameStart, this.nameEnd);
  }
}

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);

const latin1 = (bytes: Uint8Array, start: number, end: number): string =>
  asBuffer(bytes).toString("latin1", start, end);

const hex = (bytes: Uint8Array, start: number, end: number): string => asBuffer(bytes).toString("hex", start, end);

/** Git's order of tree entries: byte order, directories as if their name ended in a slash. */
export function compareNames(
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  aMode: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
  bMode: number,
): number {
  const length = Math.min(aEnd - aStart, bEnd - bStart);
  for (let i = 0; i < length; i++) {
    const difference = a[aStart + i]! - b[bStart + i]!;
    if (difference !== 0) return difference;
  }
  const afterA = aStart + length < aEnd ? a[aStart + length]! : aMode === MODE_TREE ? 47 : 0;
  const afterB = bStart + length < bEnd ? b[bStart + length]! : bMode === MODE_TREE ? 47 : 0;
  return afterA - afterB;
}

/** `.`, `..`, `.git` and names that some file system treats as `.git` (case, trailing dots, `git~1`, ignorable code points). */
function isForbiddenName(raw: Uint8Array, start: number, end: number): boolean {
  const first = raw[start]!;
  // Only names that begin with "." or "g"/"G", or hold ignorable code points (E2 80 xx, E2 81 xx, EF BB BF), can match.
  if (first !== 46 && first !== 71 && first !== 103 && first !== 0xe2 && first !== 0xef) return false;
  const length = end - start;
  if (first === 46 && (length === 1 || (length === 2 && raw[start + 1] === 46))) return true;
  if (length > 64) return false;
  const name = asBuffer(raw)
    .toString("utf8", start, end)
    .toLowerCase()
    .replaceAll(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, "");
  return /^(?:\.git|git~1)[ .]*(?::.*)?$/.test(name);
}
