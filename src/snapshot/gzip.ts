import { deflateRaw } from "./deflate.ts";

const HEADER_BYTES = 10;
const TRAILER_BYTES = 8;

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** CRC-32 as gzip (RFC 1952) defines it. */
export function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (let i = 0; i < bytes.length; i++) crc = (crc >>> 8) ^ (CRC_TABLE[(crc ^ (bytes[i] as number)) & 0xff] as number);
  return (crc ^ 0xffffffff) >>> 0;
}

/** One gzip member without time stamp or name. The same input gives the same bytes on every platform. */
export function gzip(input: Uint8Array): Uint8Array {
  const output = deflateRaw(input, HEADER_BYTES, TRAILER_BYTES);
  output.set([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
  const view = new DataView(output.buffer, output.byteOffset, output.byteLength);
  view.setUint32(output.length - 8, crc32(input), true);
  view.setUint32(output.length - 4, input.length >>> 0, true);
  return output;
}
