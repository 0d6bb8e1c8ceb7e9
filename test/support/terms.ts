import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const TABLE = fileURLToPath(new URL("../../src/engines/embedding/builtin/terms.bin", import.meta.url));

/** The term table that the Workers carry. */
export async function shippedTerms(): Promise<ArrayBuffer> {
  return new Uint8Array(readFileSync(TABLE)).buffer;
}
