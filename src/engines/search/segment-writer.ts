import { readAnalysis, type Analysis } from "./analyze.ts";
import { passesFor, type PostingsCollector, writePostings } from "./postings.ts";
import { readSymbols } from "./record.ts";
import type { NameEntry } from "./segment.ts";
import { compareNames, EntryWriter, inOrder, layOut, nameOf, NameWriter, SegmentFile } from "./segment-file.ts";
import type { ContentKey } from "./types.ts";
import { Vocabulary } from "./vocabulary.ts";

/** Bytes of a posting in an analysis (hash, counts), which is all but a small part of it. */
const ANALYSED_POSTING_BYTES = 5;

interface NewContent extends ContentKey {
  outline: Uint8Array;
  symbols: Uint8Array;
  uses: Uint8Array;
  /** Words of each chunk. */
  lengths: number[];
  /** Adds the postings of the content, whose first chunk is to have this number. */
  addPostings(postings: PostingsCollector, firstChunk: number): void;
}

/** Builds a segment over analysed contents. Of equal contents the first is taken; otherwise their order does not matter. */
export function buildSegment(analyses: Iterable<Uint8Array>): Uint8Array<ArrayBuffer> {
  const given: NewContent[] = [];
  let byteLength = 0;
  for (const bytes of analyses) {
    given.push(contentOf(readAnalysis(bytes)));
    byteLength += bytes.length;
  }
  const contents = inOrder(given);
  const layout = layOut(contents, ({ lengths }) => lengths);
  const file = new SegmentFile();
  const outlines = new EntryWriter(file.section());
  for (const { outline } of contents) outlines.add(outline);
  outlines.end();
  const symbols = new EntryWriter(file.section());
  for (const content of contents) symbols.add(content.symbols);
  symbols.end();
  writePostings(
    passesFor(byteLength / ANALYSED_POSTING_BYTES),
    (postings) => {
      for (const [i, content] of contents.entries()) content.addPostings(postings, layout.firstChunks[i] as number);
    },
    file.section(),
  );
  const vocabulary = new Vocabulary();
  const names = new NameWriter(file.section());
  for (const entry of namesOf(contents, vocabulary)) names.add(entry);
  names.end();
  const uses = new EntryWriter(file.section());
  for (const content of contents) uses.add(content.uses);
  uses.end();
  vocabulary.write(file.section());
  return file.finish(layout);
}

function contentOf({ sha256, language, outline, symbols, uses, chunks }: Analysis): NewContent {
  const start = chunks.position;
  const lengths: number[] = [];
  while (!chunks.atEnd) {
    lengths.push(chunks.varint());
    chunks.bytes(5 * chunks.varint());
  }
  return {
    sha256,
    language,
    outline,
    symbols,
    uses,
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

/** The names of all symbols, in order. Their words are added to `vocabulary`. */
function namesOf(contents: readonly NewContent[], vocabulary: Vocabulary): NameEntry[] {
  const names: NameEntry[] = [];
  for (const [content, own] of contents.entries()) {
    for (const [symbol, place] of readSymbols(own.symbols).entries()) {
      names.push({ ...nameOf(place), content, symbol });
      vocabulary.add(place.name);
    }
  }
  return names.sort(compareNames);
}
