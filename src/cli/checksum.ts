import { createReadStream } from "node:fs";

const READ_BYTES = 1024 * 1024;

/** Loaded when there is something to hash: it takes longer than the rest of a run without work. */
const crypto = () => process.getBuiltinModule("node:crypto");

/** SHA-256 of bytes. */
export function sha256(bytes: Uint8Array): Buffer {
  return crypto().hash("sha256", bytes, "buffer");
}

/** `sha256:<hex>` of what a file holds. */
export async function fileChecksum(file: string): Promise<string> {
  const hash = crypto().createHash("sha256");
  for await (const part of createReadStream(file, { highWaterMark: READ_BYTES })) hash.update(part as Buffer);
  return `sha256:${hash.digest("hex")}`;
}
