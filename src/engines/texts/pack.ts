/**
 * A pack: the whole texts of some files, in a file that is read by range. Texts of one folder are neighbours, so they are compressed
 * together in blocks, and a question reads few objects. A text is found by the SHA-256 of the file it is of.
 */
import { constants, deflateRawSync, inflateRawSync } from "node:zlib";
import type { LineRange } from "../parsing/secrets/lines.ts";
import { ByteReader, ByteWriter, checksum } from "../search/bytes.ts";
import { beginFile, HEADER_BYTES, readHotPart } from "../search/file-header.ts";
import { type RangeReader, SearchFormatError } from "../search/types.ts";

/** Raised with every change of the format. */
export const PACK_VERSION = 1;
/** The magic number is "CCTX". */
const PACK_FORMAT = { name: "pack of texts", magic: 0x58544343, version: PACK_VERSION };

/** Bytes of texts after which a block ends: larger ones hardly shrink more, and a reader of one file inflates a whole block. */
const BLOCK_BYTES = 64 * 1024;
/** What a damaged block may inflate to: a block before its last text, and the largest file. */
const MAX_BLOCK_BYTES = 5 * 1024 * 1024;
const HASH_BYTES = 32;

/** A file's text as it is stored. */
export interface StoredText {
  /** SHA-256 of the file in hex. */
  sha256: string;
  /** The file's bytes; withheld lines are empty. */
  bytes: Uint8Array;
  /** Lines of the file. A final line end opens no further line. */
  lineCount: number;
  withheld: readonly LineRange[];
}

/** What the directory of a pack says about a text. */
interface TextEntry extends Omit<StoredText, "bytes"> {
  /** Length of the stored text in bytes. */
  byteLength: number;
  /** Block that holds it, and where it begins in the inflated block. */
  block: number;
  offset: number;
}

interface Block {
  /** Compressed. */
  bytes: Uint8Array;
  byteLength: number;
  checksum: number;
}

/** Writes a pack; holds compressed blocks only. */
export class PackBuilder {
  readonly #entries: TextEntry[] = [];
  readonly #blocks: Block[] = [];
  #open: Uint8Array[] = [];
  #openBytes = 0;

  get count(): number {
    return this.#entries.length;
  }

  /** Adds a text; its bytes must not change before `finish`. Returns its ordinal. */
  add({ sha256, bytes, lineCount, withheld }: StoredText): number {
    if (this.#openBytes > 0 && this.#openBytes + bytes.byteLength > BLOCK_BYTES) this.#close();
    const place = { block: this.#blocks.length, offset: this.#openBytes };
    this.#entries.push({ sha256, byteLength: bytes.byteLength, lineCount, withheld, ...place });
    this.#open.push(bytes);
    this.#openBytes += bytes.byteLength;
    return this.#entries.length - 1;
  }

  #close(): void {
    const raw = new Uint8Array(this.#openBytes);
    let at = 0;
    for (const part of this.#open) {
      raw.set(part, at);
      at += part.byteLength;
    }
    const bytes = deflateRawSync(raw, { level: constants.Z_DEFAULT_COMPRESSION });
    this.#blocks.push({ bytes, byteLength: raw.byteLength, checksum: checksum(bytes) });
    this.#open = [];
    this.#openBytes = 0;
  }

  /** The pack's bytes. */
  finish(): Uint8Array<ArrayBuffer> {
    if (this.#open.length > 0) this.#close();
    const hot = new ByteWriter(this.#entries.length * (HASH_BYTES + 8));
    hot.varint(this.#entries.length);
    for (const { sha256, byteLength, lineCount, withheld, block } of this.#entries) {
      hot.bytes(Buffer.from(sha256, "hex"));
      hot.varint(block);
      hot.varint(byteLength);
      hot.varint(lineCount);
      hot.varint(withheld.length);
      let before = 0;
      for (const [from, to] of withheld) {
        hot.varint(from - before);
        hot.varint(to - from);
        before = to;
      }
    }
    hot.varint(this.#blocks.length);
    for (const { bytes, byteLength, checksum: sum } of this.#blocks) {
      hot.varint(bytes.byteLength);
      hot.varint(byteLength);
      hot.u32(sum);
    }
    const file = beginFile(PACK_FORMAT, hot.view());
    for (const { bytes } of this.#blocks) file.bytes(bytes);
    return file.finish();
  }
}

/** An open pack. */
export class TextPack {
  readonly entries: readonly TextEntry[];
  readonly #reader: RangeReader;
  /** Of each block: where it begins in the file, its length there, its length inflated, its checksum. */
  readonly #blocks: { offset: number; length: number; byteLength: number; checksum: number }[] = [];

  private constructor(reader: RangeReader, hot: Uint8Array) {
    this.#reader = reader;
    const directory = new ByteReader(hot);
    const entries: TextEntry[] = [];
    const ends: number[] = [];
    for (let left = directory.varint(); left > 0; left--) {
      const sha256 = Buffer.from(directory.bytes(HASH_BYTES)).toString("hex");
      const block = directory.varint();
      const byteLength = directory.varint();
      const lineCount = directory.varint();
      const withheld: LineRange[] = [];
      for (let ranges = directory.varint(); ranges > 0; ranges--) {
        const from = (withheld.at(-1)?.[1] ?? 0) + directory.varint();
        withheld.push([from, from + directory.varint()]);
      }
      const offset = ends[block] ?? 0;
      ends[block] = offset + byteLength;
      entries.push({ sha256, byteLength, lineCount, withheld, block, offset });
    }
    let offset = HEADER_BYTES + hot.byteLength;
    for (let left = directory.varint(); left > 0; left--) {
      const length = directory.varint();
      this.#blocks.push({ offset, length, byteLength: directory.varint(), checksum: directory.u32() });
      offset += length;
    }
    if (offset !== reader.size || ends.some((end, block) => this.#blocks[block]?.byteLength !== end))
      throw new SearchFormatError("the pack of texts has a wrong length", reader.name);
    this.entries = entries;
  }

  /** Opens a pack. Throws `SearchFormatError` if it is damaged or of another version. */
  static async open(reader: RangeReader): Promise<TextPack> {
    return new TextPack(reader, await readHotPart(reader, PACK_FORMAT));
  }

  /** Reads blocks and inflates them. Throws `SearchFormatError` for one that is damaged. */
  async readBlock(block: number): Promise<Uint8Array> {
    const place = this.#blocks[block];
    if (!place) throw new RangeError(`the pack has no block ${block}`);
    const bytes = await this.#reader.read(place.offset, place.length);
    const damaged = () => new SearchFormatError(`block ${block} of the pack of texts is damaged`, this.#reader.name);
    if (checksum(bytes) !== place.checksum || place.byteLength > MAX_BLOCK_BYTES) throw damaged();
    let raw: Uint8Array;
    try {
      // One buffer for the whole block; the extra byte lets zlib report the end without a second call.
      const chunkSize = Math.max(place.byteLength + 1, constants.Z_MIN_CHUNK);
      raw = inflateRawSync(bytes, { maxOutputLength: MAX_BLOCK_BYTES, chunkSize });
    } catch {
      throw damaged();
    }
    if (raw.byteLength !== place.byteLength) throw damaged();
    return raw;
  }

  /** Texts by their ordinals, in that order; each block is read once. Throws as `read`. */
  async readAll(ordinals: readonly number[]): Promise<StoredText[]> {
    const blocks = new Map<number, Promise<Uint8Array>>();
    return Promise.all(
      ordinals.map(async (ordinal) => {
        const entry = this.entries[ordinal];
        if (!entry) throw new RangeError(`the pack has no text ${ordinal}`);
        const { sha256, lineCount, withheld, block, offset, byteLength } = entry;
        const inflated = blocks.get(block) ?? this.readBlock(block);
        blocks.set(block, inflated);
        return { sha256, lineCount, withheld, bytes: (await inflated).subarray(offset, offset + byteLength) };
      }),
    );
  }

  /** The text with an ordinal. Throws `SearchFormatError` if it is damaged, `RangeError` if there is none. */
  async read(ordinal: number): Promise<StoredText> {
    return (await this.readAll([ordinal]))[0] as StoredText;
  }
}
