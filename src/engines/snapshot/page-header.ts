import { parquetHeader } from "hyparquet/src/column.js";
import { MAX_PAGE_HEADER_BYTES } from "./layout.ts";
import { checkThrift } from "./thrift.ts";

/** Reads a page header and moves the reader past it. Throws where its lengths exceed the bytes. */
export function readPageHeader(reader: { view: DataView; offset: number }): ReturnType<typeof parquetHeader> {
  const { view, offset } = reader;
  checkThrift(new Uint8Array(view.buffer, view.byteOffset, view.byteLength), offset, offset + MAX_PAGE_HEADER_BYTES);
  return parquetHeader(reader);
}
