import { BlockWriter } from "./blocks.ts";
import { ByteReader } from "./bytes.ts";
import { comparePrefixes, utf8Prefix } from "./order.ts";
import { TERM_BLOCK_BYTES } from "./postings.ts";
import { ContentRecord, readSymbols } from "./record.ts";
import { compareKeys, compareNames, nameOf } from "./segment-file.ts";
import type { Segment } from "./segment.ts";
import { type ContentKey, SearchFormatError } from "./types.ts";
import { Vocabulary } from "./vocabulary.ts";

/** Deepest nesting of symbols; the parser stops well before. */
const MAX_DEPTH = 1_000;
/** Longest qualified name, in UTF-16 units. */
const MAX_NAME_UNITS = 64 * 1024;

/** A content of a checked segment. */
export interface CheckedContent extends ContentKey {
  chunkCount: number;
  symbolCount: number;
}

/**
 * Reads all of a segment and checks that its parts fit together: contents in order, records of as many chunks as the segment says,
 * parents and lines in range, every posting of a chunk that exists, every name one of a record. For segments from
 * other machines: checksums protect against damage, not against manipulation. Time and memory are in proportion to its bytes. Resolves to
 * its contents; throws `SearchFormatError`, or a decoder's error if the bytes are not of the format.
 */
export async function checkSegment(segment: Segment): Promise<CheckedContent[]> {
  const vocabulary = new Vocabulary();
  const { contents, names } = await checkRecords(segment, vocabulary);
  await checkTerms(segment);
  await checkNames(segment, names);
  await checkWords(segment, vocabulary);
  // The content of a record is checked when it is decoded.
  await checkEntries(segment, "uses", () => undefined);
  return contents;
}

/** Keys, kinds and scopes of a content's symbols, by ordinal. */
type ContentNames = readonly ReturnType<typeof nameOf>[];

async function checkRecords(
  segment: Segment,
  vocabulary: Vocabulary,
): Promise<{ contents: CheckedContent[]; names: ContentNames[] }> {
  const { firstChunks, contentCount, chunkCount } = segment;
  const contents: CheckedContent[] = [];
  await checkEntries(segment, "outlines", (ordinal, entry) => {
    const { chunks } = new ContentRecord(entry);
    const first = firstChunks[ordinal] as number;
    if (first + chunks.length !== firstChunks[ordinal + 1]) fail("a record has another number of chunks");
    if (!chunks.every(isPlace)) fail("a record has lines out of range");
    const key = segment.contentKey(ordinal);
    const before = contents.at(-1);
    if (before && compareKeys(before, key) >= 0) fail("contents are not in order");
    contents.push({ ...key, chunkCount: chunks.length, symbolCount: 0 });
  });
  const names: ContentNames[] = [];
  await checkEntries(segment, "symbols", (ordinal, entry) => {
    const symbols = readSymbols(entry);
    if (!symbols.every(isPlace)) fail("a record has lines out of range");
    checkParents(symbols);
    (contents[ordinal] as CheckedContent).symbolCount = symbols.length;
    names.push(symbols.map(nameOf));
    for (const { name } of symbols) vocabulary.add(name);
  });
  if (firstChunks[0] !== 0 || firstChunks[contentCount] !== chunkCount) fail("contents and chunks do not add up");
  return { contents, names };
}

/** Visits the entries of all contents, in order. */
async function checkEntries(
  segment: Segment,
  part: "outlines" | "symbols" | "uses",
  visit: (ordinal: number, entry: Uint8Array) => void,
): Promise<void> {
  const blocks = segment[part];
  let ordinal = 0;
  for (let block = 0; block < blocks.count; block++) {
    if (blocks.keys[block] !== ordinal) fail("a block of records has a wrong key");
    for (const reader = new ByteReader(await blocks.read(block)); !reader.atEnd; ordinal++) {
      if (ordinal === segment.contentCount) fail("there are more records than contents");
      visit(ordinal, reader.bytes(reader.varint()));
    }
  }
  if (ordinal !== segment.contentCount) fail("there are fewer records than contents");
}

function isPlace({ startLine, endLine }: { startLine: number; endLine: number }): boolean {
  return startLine >= 1 && startLine <= endLine && endLine <= 0x7fffffff;
}

/** Every chain of parents ends, and names stay short. */
function checkParents(symbols: readonly { parent: number | null; qualifiedName: string }[]): void {
  const depths = new Int32Array(symbols.length);
  for (const [start, { qualifiedName }] of symbols.entries()) {
    if (qualifiedName.length > MAX_NAME_UNITS) fail("a name is too long");
    const chain: number[] = [];
    let at: number | null = start;
    for (; at !== null && depths[at] === 0; at = (symbols[at] as { parent: number | null }).parent)
      if (at >= symbols.length || chain.push(at) > MAX_DEPTH) fail("symbols are nested too deep");
    let depth = at === null ? 0 : (depths[at] ?? fail("a parent does not exist"));
    for (const symbol of chain.reverse()) depths[symbol] = ++depth;
    if (depth > MAX_DEPTH) fail("symbols are nested too deep");
  }
}

async function checkTerms({ terms, chunkCount }: Segment): Promise<void> {
  let highest = -1;
  for (let block = 0; block < terms.count; block++) {
    const reader = new ByteReader(await terms.read(block));
    const hashes = Array.from({ length: reader.varint() }, () => reader.u32());
    if (hashes[0] !== terms.keys[block]) fail("a block of terms has a wrong key");
    const sizes = hashes.map(() => ({ count: reader.varint(), byteLength: reader.varint() }));
    const [only] = sizes;
    if (terms.details[block] !== (sizes.length === 1 ? only?.count : 0)) fail("a block of terms has a wrong number");
    if (sizes.length > 1 && sizes.some(({ byteLength }) => byteLength >= TERM_BLOCK_BYTES))
      fail("a long list of postings shares its block");
    for (const [i, { count, byteLength }] of sizes.entries()) {
      const hash = hashes[i] as number;
      if (hash <= highest) fail("terms are not in order");
      highest = hash;
      const end = reader.position + byteLength;
      let chunk = 0;
      for (let left = count; left > 0; left--) {
        const delta = reader.varint();
        if (delta === 0 && left < count) fail("a chunk has a term twice");
        chunk += delta;
        if (chunk >= chunkCount) fail("a posting refers to a chunk that does not exist");
        reader.u8();
      }
      if (count === 0 || reader.position !== end) fail("postings do not fill their bytes");
    }
    if (!reader.atEnd) fail("a block of terms has bytes left over");
  }
}

async function checkNames({ names }: Segment, contents: readonly ContentNames[]): Promise<void> {
  let left = contents.reduce((sum, symbols) => sum + symbols.length, 0);
  let before: { name: string; content: number; symbol: number } | undefined;
  for (let block = 0; block < names.count; block++) {
    let name = "";
    const reader = new ByteReader(await names.read(block));
    for (let isFirst = true; !reader.atEnd; isFirst = false, left--) {
      name = name.slice(0, reader.varint()) + reader.string();
      const key = [names.keys[block] as number, names.details[block] as number] as const;
      if (isFirst && comparePrefixes(key, utf8Prefix(name)) !== 0) fail("a block of names has a wrong key");
      const entry = { name, content: reader.varint(), symbol: reader.varint() };
      const symbol = contents[entry.content]?.[entry.symbol];
      if (symbol?.name !== name || symbol.kind !== reader.u8() || symbol.scope !== reader.u8())
        fail("a name is not that of its symbol");
      if (before && compareNames(before, entry) >= 0) fail("names are not in order");
      before = entry;
    }
  }
  // In order, and so without one twice: as many as there are symbols are all of them.
  if (left !== 0) fail("names are missing");
}

/** The words are those of the names: what would be written for these. */
async function checkWords({ words }: Segment, vocabulary: Vocabulary): Promise<void> {
  const expected = new BlockWriter();
  vocabulary.write(expected);
  const body = expected.body();
  let at = 0;
  for (let block = 0; block < words.count; block++) {
    const bytes = await words.read(block);
    if (!bytes.every((byte, i) => byte === body[at + i])) fail("the words are not those of the names");
    at += bytes.length;
  }
  if (at !== body.length) fail("words are missing");
}

function fail(why: string): never {
  throw new SearchFormatError(why);
}
