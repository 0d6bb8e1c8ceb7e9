import { ByteReader, ByteWriter, checksum } from "./bytes.ts";
import { SearchFormatError, type RangeReader } from "./types.ts";

/**
 * The beginning of every file of the index: a header of magic number, format version, length and checksum of the hot part (`u32` each),
 * then the hot part, which is read when the file is opened. What follows is read by range.
 */

/** Bytes before the hot part. */
export const HEADER_BYTES = 16;

/** A kind of file, as its header names it. */
interface FileFormat {
  /** As errors call such a file. */
  name: string;
  /** Four ASCII characters, read as a little-endian number. */
  magic: number;
  version: number;
}

/** Begins a file with its header and its hot part; `coldBytes` are expected to follow. */
export function beginFile({ magic, version }: FileFormat, hot: Uint8Array, coldBytes = 0): ByteWriter {
  const file = new ByteWriter(HEADER_BYTES + hot.length + coldBytes);
  for (const value of [magic, version, hot.length, checksum(hot)]) file.u32(value);
  file.bytes(hot);
  return file;
}

/** Reads the hot part of a file. Throws `SearchFormatError` if it is damaged, or the file is of another kind or version. */
export async function readHotPart(bytes: RangeReader, { name, magic, version }: FileFormat): Promise<Uint8Array> {
  const damaged = (what: string) => new SearchFormatError(what, bytes.name);
  if (bytes.size < HEADER_BYTES) throw damaged(`the ${name} is truncated`);
  const header = new ByteReader(await bytes.read(0, HEADER_BYTES));
  if (header.u32() !== magic) throw damaged(`this is not a ${name}`);
  const found = header.u32();
  if (found !== version) throw damaged(`the ${name} has format version ${found}, not ${version}`);
  const length = header.u32();
  const expected = header.u32();
  if (HEADER_BYTES + length > bytes.size) throw damaged(`the ${name} is truncated`);
  const hot = await bytes.read(HEADER_BYTES, length);
  if (checksum(hot) !== expected) throw damaged(`the first part of the ${name} has a wrong checksum`);
  return hot;
}
