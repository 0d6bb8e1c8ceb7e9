/** The table of a revision from an earlier one's, after edits or a merge: the work grows with the changes, besides a few bytes for each path. */
import { BlockWriter, Blocks } from "./blocks.ts";
import { ByteWriter } from "./bytes.ts";
import { compareUtf8 } from "./order.ts";
import { PATH_END, PathList } from "./path-list.ts";
import { PathReader } from "./paths.ts";
import { eachPosting, TermWriter, termsOfBlock } from "./postings.ts";
import { findContent, type OpenSegment, type Place, RevisionTable, type WrittenTable, writeTable } from "./table.ts";
import { splitPath, VERSION_FOLDERS } from "./traits.ts";
import type { RangeReader, RevisionFile } from "./types.ts";

interface PlacedFile extends Place {
  path: string;
}

/** Which paths an earlier table lacks, and which of its paths are gone. */
interface Moves {
  added: readonly PlacedFile[];
  gone: ReadonlySet<number>;
}

/**
 * Writes the table of a revision of which some paths have other contents than in an earlier one, are new, or are gone (undefined). It is
 * the one that `buildTable` writes over the same files and segments. Undefined if a content is in none of the segments.
 */
export async function changeTable(
  bytes: RangeReader,
  changes: ReadonlyMap<string, RevisionFile | undefined>,
  segments: readonly OpenSegment[],
): Promise<WrittenTable | undefined> {
  const earlier = await RevisionTable.open(bytes);
  const before = new PathList(earlier.pathBytes, earlier.traits.length);
  const placed = new Map<string, PlacedFile>();
  const added: PlacedFile[] = [];
  const gone = new Set<number>();
  for (const [path, change] of changes) {
    const position = before.find(path);
    const place = change && findContent(change, segments);
    if (change && !place) return undefined;
    if (place) placed.set(path, { path, ...place });
    if (place && position === -1) added.push({ path, ...place });
    if (!place && position !== -1) gone.add(position);
  }
  const moves = { added: added.sort((a, b) => compareUtf8(a.path, b.path)), gone };
  const { paths, from } = movePaths(before, moves);
  const columns = {
    paths,
    segmentOf: new Uint16Array(paths.size),
    ordinalOf: new Uint32Array(paths.size),
    traits: new Uint16Array(paths.size),
  };
  /** Positions in `segments` by those in the earlier table. */
  const numbers = earlier.segmentIds.map((id) => segments.findIndex((segment) => segment.id === id));
  // Plain loops over all files: iterators are slow in a process that has just started.
  for (let file = 0; file < from.length; file++) {
    const old = from[file] as number;
    if (old === -1) continue;
    columns.segmentOf[file] = numbers[earlier.segmentOf[old] as number] as number;
    columns.ordinalOf[file] = earlier.ordinalOf[old] as number;
    columns.traits[file] = earlier.traits[old] as number;
  }
  for (const { path, segment, ordinal } of placed.values()) {
    const file = paths.find(path);
    columns.segmentOf[file] = segment;
    columns.ordinalOf[file] = ordinal;
  }
  // The earlier segment of a file may be gone.
  if (columns.segmentOf.some((segment) => segment >= segments.length)) return undefined;
  const renamed = [...added.map(({ path }) => path), ...[...gone].map((file) => before.text(file))];
  setTraits(columns, [...placed.keys(), ...besides(paths, renamed)], segments);
  const termBytes = await bytes.read(earlier.termsAt, bytes.size - earlier.termsAt);
  if (renamed.length === 0) return writeTable({ ...columns, directory: earlier.directory, terms: termBytes }, segments);
  const terms = moveTerms(termBytes, earlier.directory, from, paths, moves);
  return writeTable({ ...columns, directory: terms.directory(), terms: terms.body() }, segments);
}

/**
 * Writes the table of the same revision with the contents of some segments, by their ids, taken from the last of `segments`, into which they
 * were merged.
 */
export async function moveContents(
  bytes: RangeReader,
  merged: ReadonlySet<string>,
  segments: readonly OpenSegment[],
): Promise<WrittenTable> {
  const { traits, pathBytes, directory, termsAt, ...earlier } = await RevisionTable.open(bytes);
  const [last, ordinalOf] = [segments.length - 1, earlier.ordinalOf];
  const numbers = earlier.segmentIds.map((id) => segments.findIndex((segment) => segment.id === id));
  const segmentOf = earlier.segmentOf.map((segment) => numbers[segment] as number);
  for (const [file, number] of segmentOf.entries()) {
    const { id, segment } = segments[number] as OpenSegment;
    if (!merged.has(id)) continue;
    segmentOf[file] = last;
    ordinalOf[file] = (segments[last] as OpenSegment).segment.find(segment.contentKey(ordinalOf[file] as number));
  }
  const paths = new PathList(pathBytes, traits.length);
  const terms = await bytes.read(termsAt, bytes.size - termsAt);
  return writeTable({ paths, segmentOf, ordinalOf, traits, directory, terms }, segments);
}

/** The paths after the moves, and the earlier position of each; -1 of one that is new. */
function movePaths(before: PathList, { added, gone }: Moves): { paths: PathList; from: Int32Array } {
  const size = before.size - gone.size + added.length;
  const from = new Int32Array(size).fill(-1);
  const bytes = new ByteWriter(before.bytes.length);
  const insertions = added.map(({ path }) => before.insertionOf(path));
  let [next, copied, position] = [0, 0, 0];
  for (let file = 0; file <= before.size; file++) {
    while (insertions[next] === file) {
      bytes.bytes(before.range(copied, file));
      copied = file;
      bytes.bytes(new TextEncoder().encode((added[next++] as PlacedFile).path + PATH_END));
      position++;
    }
    if (gone.has(file)) {
      bytes.bytes(before.range(copied, file));
      copied = file + 1;
    } else if (file < before.size) from[position++] = file;
  }
  bytes.bytes(before.range(copied, before.size));
  return { paths: new PathList(bytes.finish(), size), from };
}

/** Paths whose traits may depend on whether some others are there. */
function besides(paths: PathList, others: readonly string[]): string[] {
  if (others.length === 0) return [];
  const found = new Set<number>();
  // A header by the source of its name.
  for (const path of others)
    for (const file of paths.beginningWith(path.slice(0, path.lastIndexOf(".") + 1))) found.add(file);
  // One character for each byte.
  const text = new TextDecoder("latin1").decode(paths.bytes);
  for (const { index } of text.matchAll(VERSION_FOLDERS))
    found.add(paths.holding(text[index] === PATH_END ? index + 1 : index));
  return [...found].map((file) => paths.text(file));
}

/** Sets the traits of some of the paths. */
function setTraits(
  {
    paths,
    segmentOf,
    ordinalOf,
    traits,
  }: { paths: PathList; segmentOf: Uint16Array; ordinalOf: Uint32Array; traits: Uint16Array },
  of: readonly string[],
  segments: readonly OpenSegment[],
): void {
  const reader = new PathReader();
  const exists = (path: string): boolean => paths.find(path) !== -1;
  for (const path of of) {
    const file = paths.find(path);
    const { segment } = segments[segmentOf[file] as number] as OpenSegment;
    const language = segment.language(ordinalOf[file] as number);
    traits[file] = reader.traits(path, splitPath(path), language, exists);
  }
}

/** Documents are numbers from the 256s on, as `TermWriter` takes them. */
const COUNTS = 256;

/** The terms of the paths after the moves. */
function moveTerms(
  bytes: Uint8Array,
  directory: Uint8Array,
  from: Int32Array,
  paths: PathList,
  { added, gone }: Moves,
): BlockWriter {
  const to = new Int32Array(from.length - added.length + gone.size).fill(-1);
  for (let file = 0; file < from.length; file++) if (from[file] !== -1) to[from[file] as number] = file;
  const left = postingsOf(added, paths);
  const written = new BlockWriter();
  const writer = new TermWriter(written);
  const values = new Uint32Array(paths.size);
  const write = (hash: number, kept: number, own: readonly number[] = []): void => {
    values.set(own, kept);
    const all = values.subarray(0, kept + own.length);
    if (all.length > 0) writer.add(hash, own.length > 0 ? all.sort() : all);
  };
  const blocks = new Blocks(
    { size: bytes.length, read: (at, length) => bytes.subarray(at, at + length) },
    0,
    directory,
  );
  for (let block = 0; block < blocks.count; block++)
    for (const term of termsOfBlock(blocks.read(block) as Uint8Array)) {
      for (; (left.at(-1)?.hash ?? Infinity) < term.hash; left.pop())
        write((left.at(-1) as Added).hash, 0, left.at(-1)?.values);
      let kept = 0;
      eachPosting(term, (document, counts) => {
        const file = to[document] as number;
        if (file >= 0) values[kept++] = file * COUNTS + counts;
      });
      write(term.hash, kept, left.at(-1)?.hash === term.hash ? left.pop()?.values : []);
    }
  for (let last = left.pop(); last; last = left.pop()) write(last.hash, 0, last.values);
  writer.end();
  return written;
}

interface Added {
  /** Hash of the term, unsigned. */
  hash: number;
  values: number[];
}

/** The postings of new paths by term, the lowest hash last. */
function postingsOf(added: readonly PlacedFile[], paths: PathList): Added[] {
  const reader = new PathReader();
  const byHash = new Map<number, number[]>();
  for (const { path } of added)
    for (const [hash, field] of reader.terms(splitPath(path))) {
      const value = paths.find(path) * COUNTS + field;
      const same = byHash.get(hash >>> 0);
      if (same) same.push(value);
      else byHash.set(hash >>> 0, [value]);
    }
  return [...byHash].map(([hash, values]) => ({ hash, values })).sort((a, b) => b.hash - a.hash);
}
