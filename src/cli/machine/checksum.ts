import { createReadStream } from "node:fs";

const READ_BYTES = 1024 * 1024;

/** Loaded lazily: most runs hash nothing. */
const crypto = () => process.getBuiltinModule("node:crypto");

/** SHA-256 of bytes. */
export function sha256(bytes: Uint8Array): Buffer {
  return crypto().hash("sha256", bytes, "buffer");
}

/** `sha256:<hex>` of a file. */
export async function fileChecksum(file: string): Promise<string> {
  const hash = crypto().createHash("sha256");
  for await (const part of createReadStream(file, { highWaterMark: READ_BYTES })) hash.update(part as Buffer);
  return `sha256:${hash.digest("hex")}`;
}
