/**
 * Files of caches that may be damaged, since they are made again then. A second one may complete a first one, so that a small change need
 * not write all of it.
 *
 * Bytes: CRC-32 of the rest (4), length of the header (4), header (JSON), body.
 */
import { crc32 } from "./checksum.ts";

const CHECKSUM_BYTES = 4;
const HEADER_AT = CHECKSUM_BYTES + 4;

interface Expected {
  /** Of the format, and of all that the file is derived by. */
  version: string;
  /** Of a file that completes another one: the other's name. */
  completes?: string | undefined;
}

/** A decoded file. */
export interface CheckedFile<Header> {
  /** Tells it from others of its kind. */
  name: string;
  header: Header;
  bodyAt: number;
}

/** The bytes of a file. */
export function encodeChecked(header: Expected, body: readonly Uint8Array[]): Buffer {
  const json = Buffer.from(JSON.stringify(header));
  const file = Buffer.concat([Buffer.alloc(HEADER_AT), json, ...body]);
  file.writeUInt32LE(json.length, CHECKSUM_BYTES);
  file.writeUInt32LE(crc32(file.subarray(CHECKSUM_BYTES)));
  return file;
}

/** A file that `encodeChecked` has written; undefined if it is damaged, of another version or completes another file. */
export function decodeChecked<Header extends Expected>(
  bytes: Uint8Array,
  { version, completes }: Expected,
): CheckedFile<Header> | undefined {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (file.length < HEADER_AT) return undefined;
  const checksum = file.readUInt32LE();
  if (crc32(file.subarray(CHECKSUM_BYTES)) !== checksum) return undefined;
  const bodyAt = HEADER_AT + file.readUInt32LE(CHECKSUM_BYTES);
  const header = JSON.parse(file.toString("utf8", HEADER_AT, bodyAt)) as Header;
  if (header.version !== version || header.completes !== completes) return undefined;
  return { name: `${checksum.toString(16)}-${file.length.toString(16)}`, header, bodyAt };
}
