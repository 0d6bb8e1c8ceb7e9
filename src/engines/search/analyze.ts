import { ByteReader, ByteWriter } from "./bytes.ts";
import { writeOutline, writeSymbols } from "./record.ts";
import { scanTerms } from "./scanner.ts";
import type { ContentKey, SourceContent } from "./types.ts";

/**
 * What the index keeps of a content, made where the content is parsed (in a worker thread, in a shard's Worker) and put into a
 * segment later:
 *
 *   language (string), SHA-256 (32 bytes), outline and symbols (record.ts) and uses, each with its length (varint) before it
 *   then for each chunk: length in words (varint), number of terms (varint), each term: hash (4 bytes), counts (1 byte)
 *
 * Counts of a term in a chunk: bits 0–3 in the text (at most 15), bits 4–5 in names of symbols that begin in the chunk (at most
 * 3), bit 6 set where it is in their doc comments, bit 7 where it stands as a whole identifier.
 */

export const BODY_MASK = 0x0f;
export const NAMES_SHIFT = 4;
export const NAMES_MASK = 0x03;
export const DOC_BIT = 0x40;
export const WHOLE_BIT = 0x80;

const MAX_BODY = 15;
const MAX_NAMES = 3;

/** Counts of a chunk's terms by hash. Open addressing over typed arrays; clearing touches only the slots in use. */
class TermCounts {
  #capacity = 8192;
  #hashes = new Int32Array(this.#capacity);
  #counts = new Uint8Array(this.#capacity);
  #slots = new Int32Array(this.#capacity / 2);
  size = 0;

  addBody(hash: number): void {
    const slot = this.#slotOf(hash);
    const counts = this.#counts[slot] as number;
    if ((counts & BODY_MASK) < MAX_BODY) this.#counts[slot] = counts + 1;
  }

  addName(hash: number): void {
    const slot = this.#slotOf(hash);
    const counts = this.#counts[slot] as number;
    if (((counts >> NAMES_SHIFT) & NAMES_MASK) < MAX_NAMES) this.#counts[slot] = counts + (1 << NAMES_SHIFT);
  }

  set(hash: number, bit: number): void {
    const slot = this.#slotOf(hash);
    this.#counts[slot] = (this.#counts[slot] as number) | bit;
  }

  /** Writes the terms and clears the table. */
  flush(writer: ByteWriter): void {
    for (let i = 0; i < this.size; i++) {
      const slot = this.#slots[i] as number;
      writer.u32(this.#hashes[slot] as number);
      writer.u8(this.#counts[slot] as number);
      this.#counts[slot] = 0;
    }
    this.size = 0;
  }

  /** The slot of a hash. A count of zero marks a free slot, so every caller must set a count. */
  #slotOf(hash: number): number {
    const mask = this.#capacity - 1;
    let slot = hash & mask;
    while (this.#counts[slot] !== 0) {
      if (this.#hashes[slot] === hash) return slot;
      slot = (slot + 1) & mask;
    }
    if (this.size === this.#slots.length) {
      this.#grow();
      return this.#slotOf(hash);
    }
    this.#hashes[slot] = hash;
    this.#slots[this.size++] = slot;
    return slot;
  }

  #grow(): void {
    const { size } = this;
    const [hashes, counts, slots] = [this.#hashes, this.#counts, this.#slots];
    this.#capacity *= 2;
    this.#hashes = new Int32Array(this.#capacity);
    this.#counts = new Uint8Array(this.#capacity);
    this.#slots = new Int32Array(this.#capacity / 2);
    this.size = 0;
    for (let i = 0; i < size; i++) {
      const from = slots[i] as number;
      const slot = this.#slotOf(hashes[from] as number);
      this.#counts[slot] = counts[from] as number;
    }
  }
}

const terms = new TermCounts();
let words = 0;

const intoBody = {
  word(hash: number): void {
    words++;
    terms.addBody(hash);
  },
  whole(hash: number, parts: number): void {
    if (parts > 1) terms.addBody(hash);
    terms.set(hash, WHOLE_BIT);
  },
};
const intoNames = {
  word: (hash: number): void => terms.addName(hash),
  whole(hash: number, parts: number): void {
    if (parts > 1) terms.addName(hash);
  },
};
const intoDoc = {
  word: (hash: number): void => terms.set(hash, DOC_BIT),
  whole: (): void => undefined,
};

/** Analyses a content. Deterministic: the same content gives the same bytes. */
export function analyzeContent(content: SourceContent): Uint8Array<ArrayBuffer> {
  const writer = new ByteWriter();
  writer.string(content.language);
  writer.bytes(bytesOfHex(content.sha256));
  for (const write of [writeOutline, writeSymbols]) {
    const part = new ByteWriter();
    write(part, content);
    writer.varint(part.length);
    writer.bytes(part.view());
  }
  writer.varint(content.uses?.length ?? 0);
  if (content.uses) writer.bytes(content.uses);
  const byLine = content.symbols.toSorted((a, b) => a.startLine - b.startLine);
  let next = 0;
  for (const { text, startLine, endLine, withheld } of content.chunks) {
    words = 0;
    if (!withheld) scanTerms(text, intoBody);
    while (next < byLine.length && (byLine[next]?.startLine ?? 0) < startLine) next++;
    for (; next < byLine.length; next++) {
      const symbol = byLine[next];
      if (!symbol || symbol.startLine > endLine) break;
      if (withheld) continue;
      scanTerms(symbol.name, intoNames);
      if (symbol.doc !== null) scanTerms(symbol.doc, intoDoc);
    }
    writer.varint(words);
    writer.varint(terms.size);
    terms.flush(writer);
  }
  return writer.finish();
}

/** A decoded analysis; its arrays are views of the bytes. */
export interface Analysis extends ContentKey {
  outline: Uint8Array;
  symbols: Uint8Array;
  uses: Uint8Array;
  /** Positioned at the first chunk. */
  chunks: ByteReader;
}

export function readAnalysis(bytes: Uint8Array): Analysis {
  const reader = new ByteReader(bytes);
  const language = reader.string();
  const sha256 = hexOf(reader.bytes(32));
  const outline = reader.bytes(reader.varint());
  const symbols = reader.bytes(reader.varint());
  const uses = reader.bytes(reader.varint());
  return { language, sha256, outline, symbols, uses, chunks: reader };
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

export function hexOf(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += HEX[byte];
  return text;
}

/** Bytes of lower-case hex digits. */
export function bytesOfHex(hex: string): Uint8Array {
  const bytes = new Uint8Array(hex.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = nibble(hex, 2 * i) * 16 + nibble(hex, 2 * i + 1);
  return bytes;
}

function nibble(hex: string, at: number): number {
  const unit = hex.charCodeAt(at);
  return unit < 0x40 ? unit - 0x30 : unit - 0x57;
}
