import { Buffer } from "node:buffer";

/** Contents of a Git LFS pointer file. */
export interface LfsPointer {
  /** SHA-256 of the real content, hex. */
  oid: string;
  /** Its size in bytes. */
  size: number;
}

const MAX_POINTER_BYTES = 1024;
const POINTER =
  /^version https:\/\/(?:git-lfs\.github\.com\/spec\/v1|hawser\.github\.com\/spec\/v1)\n(?:ext-\d-[^\n]+\n)*oid sha256:([\da-f]{64})\nsize (\d{1,15})\n?$/;

/** Parses the pointer that Git LFS commits in place of a large file; undefined for anything else. */
export function parseLfsPointer(data: Uint8Array): LfsPointer | undefined {
  // Comparing "version " first rejects nearly every file without decoding it.
  if (data.length > MAX_POINTER_BYTES || data.length < 100 || data[0] !== 118 || data[7] !== 32) return undefined;
  const match = POINTER.exec(Buffer.from(data.buffer, data.byteOffset, data.length).toString("latin1"));
  if (match?.[1] === undefined || match[2] === undefined) return undefined;
  return { oid: match[1], size: Number(match[2]) };
}
