import type { Blocks } from "./blocks.ts";
import { ByteReader, grown } from "./bytes.ts";
import { mergeSorted } from "./merge-sorted.ts";
import { eachPosting, type Term, TermWriter, termsOfBlock } from "./postings.ts";
import { readSymbols } from "./record.ts";
import type { NameEntry, Segment } from "./segment.ts";
import { compareNames, EntryWriter, inOrder, layOut, NameWriter, SegmentFile } from "./segment-file.ts";
import { type ContentKey, SearchFormatError } from "./types.ts";
import { Vocabulary } from "./vocabulary.ts";

/** Bytes that are read ahead of all segments together, and of each at least. */
const WINDOW_BYTES = 8 * 1024 * 1024;
const MIN_WINDOW_BYTES = 16 * 1024;

/** A content of the merged segment, and where it is copied from. */
interface Moved extends ContentKey {
  segment: number;
  ordinal: number;
}

/**
 * One segment with the wanted contents of several; its bytes are those of `buildSegment` over these contents. `isWanted` is asked for each
 * content, by its segment's position and its ordinal; of contents that several segments hold the first wanted one is taken. The
 * segments are read in order, so the memory is that of the result, of what is read ahead, and of the contents' keys. Throws `SearchFormatError` if a segment is damaged.
 */
export async function mergeSegments(
  segments: readonly Segment[],
  isWanted: (segment: number, ordinal: number) => boolean = () => true,
): Promise<Uint8Array<ArrayBuffer>> {
  const contents = chooseContents(segments, isWanted);
  const layout = layOut(contents, ({ segment, ordinal }) => {
    const { lengths, firstChunks } = segments[segment] as Segment;
    return lengths.subarray(firstChunks[ordinal], firstChunks[ordinal + 1]);
  });
  const { newOrdinals, newChunks } = numberAnew(segments, contents, layout.firstChunks);
  const windowBytes = Math.max(MIN_WINDOW_BYTES, Math.floor(WINDOW_BYTES / Math.max(1, segments.length)));
  const read = (kind: "outlines" | "symbols" | "terms" | "names" | "uses") =>
    segments.map((segment) => blocksOf(segment[kind], windowBytes));
  const file = new SegmentFile(segments.reduce((sum, { byteLength }) => sum + byteLength, 0));
  await copyEntries(read("outlines"), contents, new EntryWriter(file.section()));
  const vocabulary = new Vocabulary();
  await copyEntries(read("symbols"), contents, new EntryWriter(file.section()), (entry) => {
    for (const { name } of readSymbols(entry)) vocabulary.add(name);
  });
  await mergeTerms(read("terms"), newChunks, new TermWriter(file.section()));
  await mergeNames(read("names"), newOrdinals, new NameWriter(file.section()));
  await copyEntries(read("uses"), contents, new EntryWriter(file.section()));
  vocabulary.write(file.section());
  return file.finish(layout);
}

/** The wanted contents in order, each once. */
function chooseContents(
  segments: readonly Segment[],
  isWanted: (segment: number, ordinal: number) => boolean,
): readonly Moved[] {
  const wanted: Moved[] = [];
  for (const [position, segment] of segments.entries())
    for (let ordinal = 0; ordinal < segment.contentCount; ordinal++)
      if (isWanted(position, ordinal)) wanted.push({ ...segment.contentKey(ordinal), segment: position, ordinal });
  return inOrder(wanted);
}

/** For each segment the new number of each content and each chunk; -1 for those that are left out. */
function numberAnew(
  segments: readonly Segment[],
  contents: readonly Moved[],
  firstNewChunks: Uint32Array,
): { newOrdinals: readonly Int32Array[]; newChunks: readonly Int32Array[] } {
  const newOrdinals = segments.map(({ contentCount }) => new Int32Array(contentCount).fill(-1));
  const newChunks = segments.map(({ chunkCount }) => new Int32Array(chunkCount).fill(-1));
  for (const [i, { segment, ordinal }] of contents.entries()) {
    (newOrdinals[segment] as Int32Array)[ordinal] = i;
    const { firstChunks } = segments[segment] as Segment;
    const first = firstNewChunks[i] as number;
    const old = firstChunks[ordinal] as number;
    for (let k = 0; k < (firstChunks[ordinal + 1] as number) - old; k++)
      (newChunks[segment] as Int32Array)[old + k] = first + k;
  }
  return { newOrdinals, newChunks };
}

/** Blocks in order; as many as fit into the window are asked for together, so that a reader of remote objects needs few requests. */
async function* blocksOf(blocks: Blocks, windowBytes: number): AsyncGenerator<Uint8Array, void, void> {
  for (let next = 0; next < blocks.count;) {
    const loading: Promise<Uint8Array>[] = [];
    for (let bytes = 0; next < blocks.count && bytes < windowBytes; next++) {
      bytes += blocks.byteLengthOf(next);
      loading.push(Promise.resolve(blocks.read(next)));
    }
    for (const block of await Promise.all(loading)) yield block;
  }
}

/** Copies the entries of the contents and calls `visit` for each. Their ordinals ascend in each segment, so each is read once. */
async function copyEntries(
  blocks: readonly AsyncGenerator<Uint8Array, void, void>[],
  contents: readonly Moved[],
  writer: EntryWriter,
  visit?: (entry: Uint8Array) => void,
): Promise<void> {
  const entries = blocks.map(entriesOf);
  const passed = blocks.map(() => -1);
  for (const { segment, ordinal } of contents) {
    let entry: Uint8Array | undefined;
    for (; (passed[segment] as number) < ordinal; passed[segment] = (passed[segment] as number) + 1)
      entry = (await (entries[segment] as AsyncGenerator<Uint8Array, void, void>).next()).value ?? undefined;
    if (!entry) throw new SearchFormatError("the segment has fewer entries than contents");
    writer.add(entry);
    visit?.(entry);
  }
  writer.end();
}

async function* entriesOf(blocks: AsyncGenerator<Uint8Array, void, void>): AsyncGenerator<Uint8Array, void, void> {
  for await (const block of blocks)
    for (const reader = new ByteReader(block); !reader.atEnd;) yield reader.bytes(reader.varint());
}

async function mergeTerms(
  blocks: readonly AsyncGenerator<Uint8Array, void, void>[],
  newChunks: readonly Int32Array[],
  writer: TermWriter,
): Promise<void> {
  let values = new Uint32Array(1024);
  let count = 0;
  let hash = -1;
  const write = (): void => {
    if (count > 0) writer.add(hash, values.subarray(0, count).sort());
    count = 0;
  };
  await mergeSorted<Term>(
    blocks.map(termsOfBlocks),
    (a, b) => a.hash - b.hash,
    (term, segment) => {
      if (term.hash !== hash) write();
      hash = term.hash;
      if (count + term.count > values.length) values = grown(values, count + term.count);
      const chunks = newChunks[segment] as Int32Array;
      eachPosting(term, (chunk, counts) => {
        const to = chunks[chunk] ?? -1;
        if (to >= 0) values[count++] = to * 256 + counts;
      });
    },
  );
  write();
  writer.end();
}

async function* termsOfBlocks(blocks: AsyncGenerator<Uint8Array, void, void>): AsyncGenerator<Term[], void, void> {
  for await (const block of blocks) yield termsOfBlock(block);
}

async function mergeNames(
  blocks: readonly AsyncGenerator<Uint8Array, void, void>[],
  newOrdinals: readonly Int32Array[],
  writer: NameWriter,
): Promise<void> {
  await mergeSorted<NameEntry>(
    blocks.map((own, segment) => namesOfBlocks(own, newOrdinals[segment] as Int32Array)),
    compareNames,
    (entry) => writer.add(entry),
  );
  writer.end();
}

/** The names of contents that stay, with their new ordinals. */
async function* namesOfBlocks(
  blocks: AsyncGenerator<Uint8Array, void, void>,
  newOrdinals: Int32Array,
): AsyncGenerator<NameEntry[], void, void> {
  for await (const block of blocks) {
    const entries: NameEntry[] = [];
    let name = "";
    for (const reader = new ByteReader(block); !reader.atEnd;) {
      name = name.slice(0, reader.varint()) + reader.string();
      const content = newOrdinals[reader.varint()] ?? -1;
      const entry = { name, content, symbol: reader.varint(), kind: reader.u8(), scope: reader.u8() };
      if (content >= 0) entries.push(entry);
    }
    yield entries;
  }
}
