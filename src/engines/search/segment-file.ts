import { bytesOfHex } from "./analyze.ts";
import { BLOCK_BYTES, BlockWriter } from "./blocks.ts";
import { ByteWriter, bytesOf } from "./bytes.ts";
import { beginFile } from "./file-header.ts";
import { foldCase, nameKey, nameParts, scopeByte } from "./names.ts";
import { compareUtf8, utf8Prefix } from "./order.ts";
import { MAX_DOCUMENTS } from "./postings.ts";
import { kindNumber, type SymbolPlace } from "./record.ts";
import { SEGMENT_FORMAT, type NameEntry } from "./segment.ts";
import type { ContentKey } from "./types.ts";

/** Writing of a segment's parts, for segments that are built and segments that are merged. */

/** Chunks of a segment at most. Builders start another one well before. */
const MAX_SEGMENT_CHUNKS = MAX_DOCUMENTS - 1;
const MAX_LENGTH = 0xffff;

/** The contents of a segment, in its order. */
interface SegmentContents {
  keys: readonly ContentKey[];
  /** Number of each content's first chunk, and the number of chunks after the last. */
  firstChunks: Uint32Array;
  /** Words of each chunk. */
  lengths: Uint16Array;
}

/** Lays out contents. `lengthsOf` gives the words of a content's chunks. */
export function layOut<T extends ContentKey>(
  keys: readonly T[],
  lengthsOf: (key: T) => ArrayLike<number>,
): SegmentContents {
  const firstChunks = new Uint32Array(keys.length + 1);
  const all = keys.map(lengthsOf);
  for (const [i, own] of all.entries()) firstChunks[i + 1] = (firstChunks[i] as number) + own.length;
  const chunkCount = firstChunks[keys.length] as number;
  if (chunkCount > MAX_SEGMENT_CHUNKS) throw new RangeError(`a segment holds at most ${MAX_SEGMENT_CHUNKS} chunks`);
  const lengths = new Uint16Array(chunkCount);
  for (const [i, own] of all.entries())
    for (let k = 0; k < own.length; k++)
      lengths[(firstChunks[i] as number) + k] = Math.min(own[k] as number, MAX_LENGTH);
  return { keys, firstChunks, lengths };
}

/** The order of contents in a segment. */
export function compareKeys(a: ContentKey, b: ContentKey): number {
  if (a.sha256 !== b.sha256) return a.sha256 < b.sha256 ? -1 : 1;
  if (a.language !== b.language) return a.language < b.language ? -1 : 1;
  return 0;
}

/** Contents in the order of a segment; of equal ones only the first given. */
export function inOrder<T extends ContentKey>(contents: readonly T[]): T[] {
  const sorted = contents.toSorted(compareKeys);
  return sorted.filter((content, i) => i === 0 || compareKeys(content, sorted[i - 1] as T) !== 0);
}

/** A segment in one buffer: its blocks are written one section after another, then the hot part is put in front of them. */
export class SegmentFile {
  readonly #file: ByteWriter;
  readonly #sections: BlockWriter[] = [];

  /** `capacity` is how many bytes the segment will have, as far as that is known; more are made room for. */
  constructor(capacity?: number) {
    this.#file = new ByteWriter(capacity);
  }

  /** Begins the next section, in the order of `Segment`: outlines, symbols, terms, names, uses, words. The one before is complete then. */
  section(): BlockWriter {
    const section = new BlockWriter(this.#file);
    this.#sections.push(section);
    return section;
  }

  /** The bytes of the segment. */
  finish({ keys, firstChunks, lengths }: SegmentContents): Uint8Array<ArrayBuffer> {
    const languages = [...new Set(keys.map(({ language }) => language))].sort();
    const hot = new ByteWriter();
    hot.varint(keys.length);
    hot.varint(lengths.length);
    hot.varint(languages.length);
    for (const language of languages) hot.string(language);
    for (const { sha256 } of keys) hot.bytes(bytesOfHex(sha256));
    hot.bytes(bytesOf(Uint16Array.from(keys, ({ language }) => languages.indexOf(language))));
    hot.bytes(bytesOf(firstChunks));
    hot.bytes(bytesOf(lengths));
    for (const section of this.#sections) {
      const directory = section.directory();
      hot.varint(section.byteLength);
      hot.varint(directory.length);
      hot.bytes(directory);
    }
    this.#file.prepend(beginFile(SEGMENT_FORMAT, hot.view()).view());
    return this.#file.view();
  }
}

/** Writes blocks of one entry for each content, with its length before it; a block's key is the ordinal of its first content. */
export class EntryWriter {
  readonly #blocks: BlockWriter;
  readonly #block = new ByteWriter();
  #first = 0;
  #next = 0;

  constructor(blocks: BlockWriter) {
    this.#blocks = blocks;
  }

  /** Adds the entry of the next content. */
  add(entry: Uint8Array): void {
    if (this.#block.length === 0) this.#first = this.#next;
    this.#next++;
    this.#block.varint(entry.length);
    this.#block.bytes(entry);
    if (this.#block.length >= BLOCK_BYTES) this.end();
  }

  /** Writes the last block. */
  end(): void {
    if (this.#block.length > 0) this.#blocks.add(this.#first, this.#block.view());
    this.#block.clear();
  }
}

/** What a segment's names hold of a symbol. */
export function nameOf({
  name,
  qualifiedName,
  kind,
}: Pick<SymbolPlace, "name" | "qualifiedName" | "kind">): Pick<NameEntry, "name" | "kind" | "scope"> {
  return { name: nameKey(name, kind), kind: kindNumber(kind), scope: scopeByte(nameParts(foldCase(qualifiedName))) };
}

/** The order of names in a segment. */
export function compareNames(a: Omit<NameEntry, "kind" | "scope">, b: Omit<NameEntry, "kind" | "scope">): number {
  return compareUtf8(a.name, b.name) || a.content - b.content || a.symbol - b.symbol;
}

/**
 * Writes blocks of names (`nameKey`), in the order of `compareNames`: the number of characters a name shares with the one before it in
 * the block (varint), the rest (string), content and symbol (varints), kind and scope (1 byte each). A block's key and detail are the
 * first eight bytes of its first name.
 */
export class NameWriter {
  readonly #blocks: BlockWriter;
  readonly #block = new ByteWriter();
  #first = "";
  #previous = "";

  constructor(blocks: BlockWriter) {
    this.#blocks = blocks;
  }

  add({ name, content, symbol, kind, scope }: NameEntry): void {
    if (this.#block.length === 0) [this.#first, this.#previous] = [name, ""];
    let shared = 0;
    while (shared < name.length && name[shared] === this.#previous[shared]) shared++;
    // A surrogate pair must not be split.
    if (shared > 0 && /[\uD800-\uDBFF]/.test(name[shared - 1] as string)) shared--;
    this.#block.varint(shared);
    this.#block.string(name.slice(shared));
    this.#block.varint(content);
    this.#block.varint(symbol);
    this.#block.u8(kind);
    this.#block.u8(scope);
    this.#previous = name;
    if (this.#block.length >= BLOCK_BYTES) this.end();
  }

  /** Writes the last block. */
  end(): void {
    const [key, detail] = utf8Prefix(this.#first);
    if (this.#block.length > 0) this.#blocks.add(key, this.#block.view(), detail);
    this.#block.clear();
  }
}
