import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";

const READ_BYTES = 1024 * 1024;

/** `sha256:<hex>` of what a file holds. */
export async function fileChecksum(file: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const part of createReadStream(file, { highWaterMark: READ_BYTES })) hash.update(part as Buffer);
  return `sha256:${hash.digest("hex")}`;
}
