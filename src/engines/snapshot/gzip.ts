import { gzipSync } from "fflate";

/**
 * One gzip member (RFC 1952) without time stamp or name. fflate compresses in plain integer arithmetic, so its pinned
 * version gives the same bytes wherever JavaScript runs. zlib's output differs between releases, forks and processors,
 * and two builders of the same snapshot would then disagree on its checksum.
 * It compresses as well as zlib and takes longer. Parquet's Snappy would be faster, with up to half as much again to store and send.
 */
export function gzip(input: Uint8Array): Uint8Array {
  return gzipSync(input, { level: 6, mtime: 0 });
}
