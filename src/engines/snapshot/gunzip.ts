import { gunzipSync } from "node:zlib";

/** DEFLATE cannot make more of a byte than this (258 bytes from two bits at best). */
const MAX_EXPANSION = 1_032;

/** Decompresses a gzip member of exactly `size` bytes. Throws on damage, and before it allocates more than `size`. */
export function gunzip(input: Uint8Array, size: number): Uint8Array {
  if (size > input.length * MAX_EXPANSION) throw new RangeError(`${input.length} bytes cannot hold ${size}`);
  // One chunk slightly larger than the output, so that zlib neither grows nor joins buffers.
  const output = gunzipSync(input, { chunkSize: size + 64, maxOutputLength: Math.max(1, size) });
  if (output.length !== size) throw new RangeError(`expected ${size} bytes after decompression, got ${output.length}`);
  return output;
}
