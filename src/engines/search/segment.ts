import { hexOf, bytesOfHex } from "./analyze.ts";
import { Blocks } from "./blocks.ts";
import { ByteReader, copyU16, copyU32 } from "./bytes.ts";
import { HEADER_BYTES, readHotPart } from "./file-header.ts";
import { comparePrefixes, compareUtf8, type Prefix, utf8Prefix } from "./order.ts";
import { ContentRecord, readSymbols, type SymbolPlace } from "./record.ts";
import { SearchFormatError, type ContentKey, type RangeReader } from "./types.ts";
import { USES_VERSION } from "./uses-version.ts";

/** Raised with every change of the format, or of what `analyzeContent` puts into it. */
const FORMAT_VERSION = 5;
/** Changes with the format and with the rules that uses are read by: segments of another version are made again. */
export const SEGMENT_VERSION = FORMAT_VERSION * 1000 + USES_VERSION;
/** The magic number is "CCSG". */
export const SEGMENT_FORMAT = { name: "segment", magic: 0x47534343, version: SEGMENT_VERSION };

const SHA256_BYTES = 32;

/** A name in a segment. */
export interface NameEntry {
  /** As `nameKey` gives it. */
  name: string;
  content: number;
  symbol: number;
  /** As `kindNumber` gives it. */
  kind: number;
  /** As `scopeByte` gives it for the parts of the qualified name in lower case. */
  scope: number;
}

/** An open segment: its hot parts in memory, the rest read by block. */
export class Segment {
  readonly chunkCount: number;
  readonly contentCount: number;
  /** Number of each content's first chunk, and the number of chunks after the last. */
  readonly firstChunks: Uint32Array;
  /** Words of each chunk, at most 65,535. */
  readonly lengths: Uint16Array;
  readonly byteLength: number;
  /** The two parts of the contents' records. */
  readonly outlines: Blocks;
  readonly symbols: Blocks;
  readonly terms: Blocks;
  readonly names: Blocks;
  /** Records of the contents' uses; empty ones where there are none. */
  readonly uses: Blocks;
  /** Words of the names, see `Vocabulary`. */
  readonly words: Blocks;
  readonly #sha256: Uint8Array;
  readonly #languages: string[];
  readonly #languageOf: Uint16Array;

  private constructor(bytes: RangeReader, hot: Uint8Array) {
    const reader = new ByteReader(hot);
    this.contentCount = reader.varint();
    this.chunkCount = reader.varint();
    this.#languages = Array.from({ length: reader.varint() }, () => reader.string());
    this.#sha256 = reader.bytes(this.contentCount * SHA256_BYTES);
    this.#languageOf = copyU16(hot, reader.position, this.contentCount);
    reader.bytes(2 * this.contentCount);
    this.firstChunks = copyU32(hot, reader.position, this.contentCount + 1);
    reader.bytes(4 * (this.contentCount + 1));
    this.lengths = copyU16(hot, reader.position, this.chunkCount);
    reader.bytes(2 * this.chunkCount);
    this.byteLength = bytes.size;
    let offset = HEADER_BYTES + hot.length;
    const nextBlocks = (): Blocks => {
      const byteLength = reader.varint();
      const blocks = new Blocks(bytes, offset, reader.bytes(reader.varint()));
      offset += byteLength;
      return blocks;
    };
    this.outlines = nextBlocks();
    this.symbols = nextBlocks();
    this.terms = nextBlocks();
    this.names = nextBlocks();
    this.uses = nextBlocks();
    this.words = nextBlocks();
    if (offset !== bytes.size) throw new SearchFormatError("the segment is truncated", bytes.name);
  }

  /** Opens a segment. Throws `SearchFormatError` if the hot parts are damaged or of another version. */
  static async open(bytes: RangeReader): Promise<Segment> {
    return new Segment(bytes, await readHotPart(bytes, SEGMENT_FORMAT));
  }

  language(ordinal: number): string {
    return this.#languages[this.#languageOf[ordinal] as number] ?? "";
  }

  /** A view of a content's SHA-256. */
  sha256(ordinal: number): Uint8Array {
    return this.#sha256.subarray(ordinal * SHA256_BYTES, (ordinal + 1) * SHA256_BYTES);
  }

  contentKey(ordinal: number): ContentKey {
    return { sha256: hexOf(this.sha256(ordinal)), language: this.language(ordinal) };
  }

  /** Ordinal of a content; -1 where the segment does not hold it. */
  find({ sha256, language }: ContentKey): number {
    const wanted = bytesOfHex(sha256);
    let low = 0;
    let high = this.contentCount;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#compare(middle, wanted, language) < 0) low = middle + 1;
      else high = middle;
    }
    return low < this.contentCount && this.#compare(low, wanted, language) === 0 ? low : -1;
  }

  #compare(ordinal: number, sha256: Uint8Array, language: string): number {
    const start = ordinal * SHA256_BYTES;
    for (let i = 0; i < SHA256_BYTES; i++) {
      const difference = (this.#sha256[start + i] as number) - (sha256[i] as number);
      if (difference !== 0) return difference;
    }
    const own = this.language(ordinal);
    return own < language ? -1 : Number(own > language);
  }

  /** Records of contents without their symbols, in the order asked for. Each block is read once. */
  async readOutlines(ordinals: readonly number[]): Promise<ContentRecord[]> {
    return (await readEntries(this.outlines, ordinals)).map((bytes) => new ContentRecord(bytes));
  }

  /** Symbols of contents, in the order asked for. Each block is read once. */
  async readSymbols(ordinals: readonly number[]): Promise<SymbolPlace[][]> {
    return (await readEntries(this.symbols, ordinals)).map(readSymbols);
  }

  /** Records of contents' uses, in the order asked for; empty ones where there are none. Each block is read once. */
  async readUses(ordinals: readonly number[]): Promise<Uint8Array[]> {
    return readEntries(this.uses, ordinals);
  }

  /** The entries of a name (as `nameKey` gives it), in order. */
  async namesEqual(name: string): Promise<NameEntry[]> {
    return this.#namesFrom(name, utf8Prefix(name));
  }

  /** The entries of names that begin with `prefix` (as `nameKey` gives it) and pass, in order; of all names for an empty one. */
  async namesFrom(prefix: string, passes: (name: string) => boolean): Promise<NameEntry[]> {
    return this.#namesFrom(prefix, utf8Prefix(prefix, 0xff), passes);
  }

  /** `last` is the highest key of a block that may begin with such a name; without `passes`, only `prefix` itself is wanted. */
  async #namesFrom(prefix: string, last: Prefix, passes?: (name: string) => boolean): Promise<NameEntry[]> {
    const { names } = this;
    const low = utf8Prefix(prefix);
    const keyOf = (block: number): Prefix => [names.keys[block] as number, names.details[block] as number];
    const found: NameEntry[] = [];
    // Names with the prefix may begin at the end of the block before.
    const first = Math.max(
      0,
      names.lastWhere((block) => comparePrefixes(keyOf(block), low) < 0),
    );
    const loading: (Uint8Array | Promise<Uint8Array>)[] = [];
    for (let i = first; i < names.count && (i === first || comparePrefixes(keyOf(i), last) <= 0); i++)
      loading.push(names.read(i));
    for (const bytes of loading) {
      const block = bytes instanceof Promise ? await bytes : bytes;
      let name = "";
      let common = 0;
      let isWanted = false;
      for (const reader = new ByteReader(block); !reader.atEnd;) {
        const shared = reader.varint();
        // If a name has more in common with its predecessor than the predecessor has with the prefix, it sorts before the prefix
        // as well. This holds for most names of a block; they are not decoded.
        const isBefore = common < prefix.length && shared > common;
        if (isBefore) reader.skip(reader.varint());
        else {
          const next = name.slice(0, shared) + reader.string();
          if (next !== name) {
            name = next;
            common = commonLength(name, prefix);
            isWanted = common === prefix.length && (passes ? passes(name) : name.length === common);
          }
        }
        const content = reader.varint();
        const symbol = reader.varint();
        const kind = reader.u8();
        const scope = reader.u8();
        if (isBefore) continue;
        if (isWanted) found.push({ name, content, symbol, kind, scope });
        else if ((!passes || common < prefix.length) && compareUtf8(name, prefix) > 0) return found;
      }
    }
    return found;
  }
}

async function readEntries(blocks: Blocks, ordinals: readonly number[]): Promise<Uint8Array[]> {
  const wanted = ordinals.map((ordinal) => blocks.find(ordinal));
  const loading = new Map([...new Set(wanted)].map((index) => [index, blocks.read(index)]));
  const loaded = new Map<number, Uint8Array>();
  for (const [index, bytes] of loading) loaded.set(index, await bytes);
  return ordinals.map((ordinal, i) => {
    const index = wanted[i] as number;
    const reader = new ByteReader(loaded.get(index) as Uint8Array);
    for (let skip = ordinal - (blocks.keys[index] as number); skip > 0; skip--) reader.skip(reader.varint());
    return reader.bytes(reader.varint());
  });
}

/** Characters that two texts have in common at their beginning. */
function commonLength(a: string, b: string): number {
  let length = 0;
  while (length < b.length && a.charCodeAt(length) === b.charCodeAt(length)) length++;
  return length;
}
