import { parquetHeader } from "hyparquet/src/column.js";
import { MAX_PAGE_HEADER_BYTES } from "./layout.ts";
import { checkThrift } from "./thrift.ts";

/** Reads the header of a page, and moves the reader behind it. Throws where its lengths are not those of its bytes. */
export function readPageHeader(reader: { view: DataView; offset: number }): ReturnType<typeof parquetHeader> {
  const { view, offset } = reader;
  checkThrift(new Uint8Array(view.buffer, view.byteOffset, view.byteLength), offset, offset + MAX_PAGE_HEADER_BYTES);
  return parquetHeader(reader);
}
