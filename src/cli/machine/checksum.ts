import { createReadStream } from "node:fs";

const READ_BYTES = 1024 * 1024;

/** Loaded lazily: most runs hash nothing. */
const crypto = () => process.getBuiltinModule("node:crypto");

/** SHA-256 of bytes. */
export function sha256(bytes: Uint8Array): Buffer {
  return crypto().hash("sha256", bytes, "buffer");
}

/** Texts up to this length are hashed here, longer ones by `node:crypto`, which is faster and takes 10 ms to load. */
const SHORT_TEXT = 16 * 1024;

/** A hash for texts that nobody has a reason to forge: 64 bits or more, in hex. */
export function textHash(text: string): string {
  if (text.length > SHORT_TEXT) return sha256(Buffer.from(text)).toString("hex");
  let first = 0x811c9dc5;
  let second = text.length;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    first = Math.imul(first ^ code, 0x01000193);
    second = Math.imul(second ^ code, 0x9e3779b1) ^ (second >>> 15);
  }
  return [first, second].map((half) => (half >>> 0).toString(16).padStart(8, "0")).join("");
}

/** CRC-32 of bytes: notices accidental damage in a third of the time of SHA-256. */
export function crc32(bytes: Uint8Array): number {
  return process.getBuiltinModule("node:zlib").crc32(bytes);
}

/** `sha256:<hex>` of a file. */
export async function fileChecksum(file: string): Promise<string> {
  const hash = crypto().createHash("sha256");
  for await (const part of createReadStream(file, { highWaterMark: READ_BYTES })) hash.update(part as Buffer);
  return `sha256:${hash.digest("hex")}`;
}
