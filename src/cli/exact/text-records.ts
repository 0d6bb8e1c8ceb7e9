import { sha256 } from "../machine/checksum.ts";
import type { InspectedText } from "../../engines/exact/inspect.ts";
import { NGRAM_FILTER_VERSION } from "../../engines/exact/ngram-filter.ts";
import { PARSER_VERSION } from "../../engines/parsing/version.ts";

/** Raised with every change of the format, or of what is known of a text. */
const TEXT_RECORDS_VERSION = 1;
const CHECKSUM_BYTES = 32;
const HEADER_AT = CHECKSUM_BYTES + 4;

/** What `encodeRecords` writes besides the filters. */
interface Header {
  version: string;
  keys: string[];
  /** The texts that have more than a filter, by position. */
  special: [position: number, Pick<InspectedText, "reason" | "script" | "withheld">][];
  /** Length of each text's filter, as the logarithm; -1 for none. */
  filters: string;
}

/** The parser finds secrets and tells text from binary, so its version counts too. */
const VERSION = `${TEXT_RECORDS_VERSION}.${NGRAM_FILTER_VERSION}.${PARSER_VERSION}`;

/**
 * What is known of texts, by a key that changes with their bytes. Derived: what is missing or damaged is made again.
 *
 * Bytes: SHA-256 of the rest (32), length of the header (4), header (JSON), then the filters one after another.
 */
export type TextRecords = Map<string, InspectedText>;

export function encodeRecords(records: TextRecords): Buffer {
  const all = [...records.values()];
  const header: Header = {
    version: VERSION,
    keys: [...records.keys()],
    special: all.flatMap(({ reason, script, withheld }, position): Header["special"] => {
      const isPlain = reason === undefined && script === null && withheld.length === 0;
      return isPlain ? [] : [[position, { reason, script, withheld }]];
    }),
    filters: all.map(({ filter }) => LETTERS[filter.length === 0 ? 0 : Math.log2(filter.length) + 1]).join(""),
  };
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.from(Uint32Array.of(json.length).buffer);
  const rest = Buffer.concat([length, json, ...all.map(({ filter }) => filter)]);
  return Buffer.concat([sha256(rest), rest]);
}

const LETTERS = "abcdefghijklmnopqrstuvwxyz";

/** The records of bytes that `encodeRecords` has written; undefined if they are damaged or of another version. */
export function decodeRecords(bytes: Uint8Array<ArrayBuffer>): TextRecords | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (buffer.length < HEADER_AT || !sha256(buffer.subarray(CHECKSUM_BYTES)).equals(buffer.subarray(0, CHECKSUM_BYTES)))
    return undefined;
  const [length = 0] = new Uint32Array(bytes.slice(CHECKSUM_BYTES, HEADER_AT).buffer);
  const header = JSON.parse(buffer.toString("utf8", HEADER_AT, HEADER_AT + length)) as Header;
  if (header.version !== VERSION) return undefined;
  const special = new Map(header.special);
  const records: TextRecords = new Map();
  let at = HEADER_AT + length;
  for (const [position, key] of header.keys.entries()) {
    const exponent = LETTERS.indexOf(header.filters[position] ?? "a");
    const size = exponent <= 0 ? 0 : 2 ** (exponent - 1);
    const rest = special.get(position) ?? { script: null, withheld: [] };
    records.set(key, { reason: undefined, ...rest, filter: bytes.subarray(at, at + size) });
    at += size;
  }
  return records;
}
