import { readAnalysis, bytesOfHex, type Analysis } from "./analyze.ts";
import { BLOCK_BYTES, BlockWriter, type Blocks } from "./blocks.ts";
import { ByteReader, ByteWriter, bytesOf } from "./bytes.ts";
import { beginFile } from "./file-header.ts";
import { nameKey } from "./names.ts";
import { forEachPosting, MAX_DOCUMENTS, passesFor, type PostingsCollector, writePostings } from "./postings.ts";
import { ContentRecord, kindNumber } from "./record.ts";
import { compareUtf8, utf8Prefix } from "./order.ts";
import { SEGMENT_FORMAT, type Segment } from "./segment.ts";

/** Chunks of a segment at most. Builders start another one well before. */
export const MAX_SEGMENT_CHUNKS = MAX_DOCUMENTS - 1;

/** Bytes of a posting in an analysis (hash, counts), which is all but a small part of it. */
const ANALYSED_POSTING_BYTES = 5;
/** Bytes of a posting in a block at least: document, counts. */
const MIN_POSTING_BYTES = 2;

interface NewContent {
  sha256: string;
  language: string;
  record: Uint8Array;
  /** Words of each chunk. */
  lengths: number[];
  /** Adds the postings of the content, whose first chunk is to have this number. */
  addPostings(postings: PostingsCollector, firstChunk: number): void;
}

/** Builds a segment over analysed contents. Of equal contents the first is taken; otherwise their order does not matter. */
export function buildSegment(analyses: Iterable<Uint8Array>): Uint8Array<ArrayBuffer> {
  const contents: NewContent[] = [];
  let byteLength = 0;
  for (const bytes of analyses) {
    contents.push(contentOf(readAnalysis(bytes)));
    byteLength += bytes.length;
  }
  return write(contents, passesFor(byteLength / ANALYSED_POSTING_BYTES), (postings, order, firstChunks) => {
    for (const [i, content] of order.entries()) content.addPostings(postings, firstChunks[i] as number);
  });
}

function contentOf({ sha256, language, record, chunks }: Analysis): NewContent {
  const start = chunks.position;
  const lengths: number[] = [];
  while (!chunks.atEnd) {
    lengths.push(chunks.varint());
    chunks.bytes(5 * chunks.varint());
  }
  return {
    sha256,
    language,
    record,
    lengths,
    addPostings(postings, firstChunk) {
      chunks.position = start;
      for (let chunk = firstChunk; !chunks.atEnd; chunk++) {
        chunks.varint();
        for (let left = chunks.varint(); left > 0; left--) {
          postings.add(chunks.u32(), chunk, chunks.u8());
        }
      }
    },
  };
}

/**
 * One segment with the wanted contents of several. `isWanted` is asked for each content, by its segment's position and its
 * ordinal; of contents that several segments hold the first wanted one is taken.
 */
export async function mergeSegments(
  segments: readonly Segment[],
  isWanted: (segment: number, ordinal: number) => boolean = () => true,
): Promise<Uint8Array<ArrayBuffer>> {
  const contents: (NewContent & { place: { segment: number; firstChunk: number } })[] = [];
  for (const [position, segment] of segments.entries()) {
    const records = await readAll(segment.records);
    let ordinal = 0;
    for (const block of records) {
      for (const reader = new ByteReader(block); !reader.atEnd; ordinal++) {
        const record = reader.bytes(reader.varint());
        if (!isWanted(position, ordinal)) continue;
        const firstChunk = segment.firstChunks[ordinal] as number;
        const lengths = [...segment.lengths.subarray(firstChunk, segment.firstChunks[ordinal + 1])];
        const place = { segment: position, firstChunk };
        contents.push({ ...segment.contentKey(ordinal), record, lengths, place, addPostings: () => undefined });
      }
    }
  }
  const terms = await Promise.all(segments.map((segment) => readAll(segment.terms)));
  const byteLength = terms.flat().reduce((sum, { length }) => sum + length, 0);
  return write(contents, passesFor(byteLength / MIN_POSTING_BYTES), (postings, order, firstChunks) => {
    const chunkMaps = segments.map((segment) => new Int32Array(segment.chunkCount).fill(-1));
    for (const [i, content] of order.entries()) {
      const { segment, firstChunk } = (content as (typeof contents)[number]).place;
      for (let chunk = 0; chunk < content.lengths.length; chunk++)
        (chunkMaps[segment] as Int32Array)[firstChunk + chunk] = (firstChunks[i] as number) + chunk;
    }
    for (const [position, blocks] of terms.entries()) {
      const map = chunkMaps[position] as Int32Array;
      const { keys } = (segments[position] as Segment).terms;
      for (const [i, block] of blocks.entries()) {
        // The last hash of a block is lower than the first of the next one.
        if ((keys[i] as number) >= postings.end || (keys[i + 1] ?? Infinity) <= postings.first) continue;
        forEachPosting(block, (hash, chunk, counts) => {
          const to = map[chunk] ?? -1;
          if (to >= 0) postings.add(hash, to, counts);
        });
      }
    }
  });
}

/** Reads all blocks together, so that a reader of remote objects needs few requests. */
function readAll(blocks: Blocks): Promise<Uint8Array[]> {
  return Promise.all(Array.from({ length: blocks.count }, async (_, i) => blocks.read(i)));
}

function write(
  given: readonly NewContent[],
  passes: number,
  addPostings: (postings: PostingsCollector, contents: readonly NewContent[], firstChunks: Uint32Array) => void,
): Uint8Array<ArrayBuffer> {
  const sorted = given.toSorted((a, b) => compareKeys(a, b));
  const contents = sorted.filter((content, i) => i === 0 || compareKeys(content, sorted[i - 1] as NewContent) !== 0);
  const languages = [...new Set(contents.map(({ language }) => language))].sort();
  const firstChunks = new Uint32Array(contents.length + 1);
  for (const [i, { lengths }] of contents.entries()) firstChunks[i + 1] = (firstChunks[i] as number) + lengths.length;
  const chunkCount = firstChunks[contents.length] as number;
  if (chunkCount > MAX_SEGMENT_CHUNKS) throw new RangeError(`a segment holds at most ${MAX_SEGMENT_CHUNKS} chunks`);
  const terms = writePostings(passes, (postings) => addPostings(postings, contents, firstChunks));
  const records = writeRecords(contents);
  const names = writeNames(contents);

  const hot = new ByteWriter();
  hot.varint(contents.length);
  hot.varint(chunkCount);
  hot.varint(languages.length);
  for (const language of languages) hot.string(language);
  for (const { sha256 } of contents) hot.bytes(bytesOfHex(sha256));
  hot.bytes(bytesOf(Uint16Array.from(contents, ({ language }) => languages.indexOf(language))));
  hot.bytes(bytesOf(firstChunks));
  hot.bytes(bytesOf(Uint16Array.from(contents.flatMap(({ lengths }) => lengths.map((n) => Math.min(n, 0xffff))))));
  for (const blocks of [records, terms, names]) {
    const directory = blocks.directory();
    hot.varint(blocks.byteLength);
    hot.varint(directory.length);
    hot.bytes(directory);
  }
  const file = beginFile(SEGMENT_FORMAT, hot.view());
  for (const blocks of [records, terms, names]) file.bytes(blocks.body());
  return file.finish();
}

function compareKeys(a: NewContent, b: NewContent): number {
  if (a.sha256 !== b.sha256) return a.sha256 < b.sha256 ? -1 : 1;
  if (a.language !== b.language) return a.language < b.language ? -1 : 1;
  return 0;
}

/** Blocks of records, each with its length before it; a block's key is the ordinal of its first content. */
function writeRecords(contents: readonly NewContent[]): BlockWriter {
  const blocks = new BlockWriter();
  const block = new ByteWriter();
  let first = 0;
  for (const [ordinal, { record }] of contents.entries()) {
    if (block.length === 0) first = ordinal;
    block.varint(record.length);
    block.bytes(record);
    if (block.length < BLOCK_BYTES && ordinal < contents.length - 1) continue;
    blocks.add(first, block.finish());
    block.clear();
  }
  return blocks;
}

/**
 * Blocks of the names of all symbols (`nameKey`), in order of their UTF-8: the number of bytes it shares with the name before it in
 * the block (varint), the rest (string), content and symbol (varints), kind (1 byte). A block's key is the first four bytes of its first name.
 */
function writeNames(contents: readonly NewContent[]): BlockWriter {
  const names: { name: string; content: number; symbol: number; kind: number }[] = [];
  for (const [content, { record }] of contents.entries()) {
    const { symbols } = new ContentRecord(record);
    for (const [symbol, { name, kind }] of symbols.entries())
      names.push({ name: nameKey(name, kind), content, symbol, kind: kindNumber(kind) });
  }
  names.sort((a, b) => compareUtf8(a.name, b.name) || a.content - b.content || a.symbol - b.symbol);
  const blocks = new BlockWriter();
  const block = new ByteWriter();
  let first = "";
  let previous = "";
  for (const [i, { name, content, symbol, kind }] of names.entries()) {
    if (block.length === 0) [first, previous] = [name, ""];
    let shared = 0;
    while (shared < name.length && name[shared] === previous[shared]) shared++;
    // A surrogate pair must not be split.
    if (shared > 0 && /[\uD800-\uDBFF]/.test(name[shared - 1] as string)) shared--;
    block.varint(shared);
    block.string(name.slice(shared));
    block.varint(content);
    block.varint(symbol);
    block.u8(kind);
    previous = name;
    if (block.length < BLOCK_BYTES && i < names.length - 1) continue;
    blocks.add(utf8Prefix(first), block.finish());
    block.clear();
  }
  return blocks;
}
