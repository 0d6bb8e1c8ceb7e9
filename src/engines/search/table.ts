import { createHash } from "node:crypto";
import { Blocks } from "./blocks.ts";
import { ByteReader, ByteWriter, bytesOf, copyU16, copyU32 } from "./bytes.ts";
import { beginFile, HEADER_BYTES, readHotPart } from "./file-header.ts";
import { compareUtf8 } from "./order.ts";
import { PathReader } from "./paths.ts";
import { splitPath } from "./traits.ts";
import { writePostings } from "./postings.ts";
import { SEGMENT_VERSION, type Segment } from "./segment.ts";
import { SearchFormatError, type RangeReader, type RevisionFile } from "./types.ts";

/**
 * The table of a revision: its paths, the segment of each content, and what the ranking takes from the paths. A file of some 60 bytes a
 * path, written for each revision; the segments that it refers to are shared.
 */

/** Raised with every change of the format, or of what the ranking takes from paths. */
export const TABLE_VERSION = 3;
/** The magic number is "CCTB". */
const TABLE_FORMAT = { name: "revision table", magic: 0x42544343, version: TABLE_VERSION };
/** Raised with every change that may alter an answer. */
export const ENGINE_VERSION = 4;

const DIGEST_BYTES = 32;
/** Between paths. Git allows every other byte in them. */
const PATH_END = "\0";

/** The bit of a path term's counts for the file's name; 1 is for its folders. */
export const IN_NAME = 2;

/** A segment as the table names it. */
export interface OpenSegment {
  id: string;
  segment: Segment;
}

/**
 * Writes the table of a revision. Each content must be in one of the segments (files whose content is in none are left out
 * and returned as `missing`); segments that hold nothing of the revision are not named. Later segments win where several hold
 * a content.
 */
export function buildTable(
  files: readonly RevisionFile[],
  segments: readonly OpenSegment[],
): { table: Uint8Array<ArrayBuffer>; missing: RevisionFile[] } {
  const sorted = files.toSorted((a, b) => compareUtf8(a.path, b.path));
  const known = new Map<string, { segment: number; ordinal: number } | undefined>();
  const missing: RevisionFile[] = [];
  const placed = sorted.flatMap((file) => {
    const key = `${file.sha256} ${file.language}`;
    if (!known.has(key)) known.set(key, findContent(file, segments));
    const place = known.get(key);
    if (place === undefined) missing.push(file);
    return place === undefined ? [] : [{ ...file, ...place }];
  });
  const paths = new Set(placed.map(({ path }) => path));
  const exists = (path: string): boolean => paths.has(path);
  const reader = new PathReader();
  const traits = new Uint16Array(placed.length);
  const terms = writePostings(1, (postings) => {
    for (const [i, { path, language }] of placed.entries()) {
      const parts = splitPath(path);
      for (const [hash, field] of reader.terms(parts)) postings.add(hash, i, field);
      traits[i] = reader.traits(path, parts, language, exists);
    }
  });
  const body = new TextEncoder().encode(placed.map(({ path }) => path + PATH_END).join(""));
  const ofPaths = { paths: body, directory: terms.directory(), terms: terms.body() };
  return { table: writeTable(placed, traits, ofPaths, segments), missing };
}

/**
 * Writes the table of a revision that has the paths of an earlier one, with the contents of some of them changed. What paths alone decide
 * is taken over. Undefined if one of the paths is new, or a content is in none of the segments: the table must then be built.
 */
export async function changeTable(
  bytes: RangeReader,
  changes: ReadonlyMap<string, RevisionFile>,
  segments: readonly OpenSegment[],
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const earlier = await RevisionTable.open(bytes);
  const numbers = earlier.segmentIds.map((id) => segments.findIndex((segment) => segment.id === id));
  const paths = new Set(earlier.paths);
  if ([...changes.keys()].some((path) => !paths.has(path))) return undefined;
  const reader = new PathReader();
  const traits = earlier.traits.slice();
  const placed: PlacedFile[] = [];
  for (const [i, path] of earlier.paths.entries()) {
    const change = changes.get(path);
    if (change === undefined) {
      const segment = numbers[earlier.segmentOf[i] as number] as number;
      const ordinal = earlier.ordinalOf[i] as number;
      if (segment < 0) return undefined;
      const { sha256, language } = (segments[segment] as OpenSegment).segment.contentKey(ordinal);
      placed.push({ path, sha256, language, segment, ordinal });
      continue;
    }
    const place = findContent(change, segments);
    if (place === undefined) return undefined;
    placed.push({ ...change, ...place });
    traits[i] = reader.traits(path, splitPath(path), change.language, (other) => paths.has(other));
  }
  return writeTable(placed, traits, await readPathParts(bytes), segments);
}

type PlacedFile = RevisionFile & { segment: number; ordinal: number };

/** The parts of a table that follow from its paths: the paths themselves, and the blocks of their terms with their directory. */
interface PathParts {
  paths: Uint8Array;
  directory: Uint8Array;
  terms: Uint8Array;
}

/** Reads the parts of a table. Its blocks keep their checksums, which are compared when they are asked. */
async function readPathParts(bytes: RangeReader): Promise<PathParts> {
  const hot = await readHotPart(bytes, TABLE_FORMAT);
  const reader = new ByteReader(hot);
  reader.bytes(DIGEST_BYTES);
  for (let left = reader.varint(); left > 0; left--) reader.string();
  const count = reader.varint();
  const paths = reader.bytes(reader.varint());
  // Segments, ordinals and traits.
  reader.bytes((2 + 4 + 2) * count);
  const directory = reader.bytes(reader.varint());
  const at = HEADER_BYTES + hot.length;
  return { paths, directory, terms: await bytes.read(at, bytes.size - at) };
}

function writeTable(
  placed: readonly PlacedFile[],
  traits: Uint16Array<ArrayBuffer>,
  { paths, directory, terms }: PathParts,
  segments: readonly OpenSegment[],
): Uint8Array<ArrayBuffer> {
  const used = [...new Set(placed.map(({ segment }) => segment))].sort((a, b) => a - b);
  const hot = new ByteWriter();
  hot.bytes(digestOf(placed));
  hot.varint(used.length);
  for (const segment of used) hot.string((segments[segment] as OpenSegment).id);
  hot.varint(placed.length);
  hot.varint(paths.length);
  hot.bytes(paths);
  hot.bytes(bytesOf(Uint16Array.from(placed, ({ segment }) => used.indexOf(segment))));
  hot.bytes(bytesOf(Uint32Array.from(placed, ({ ordinal }) => ordinal)));
  hot.bytes(bytesOf(traits));
  hot.varint(directory.length);
  hot.bytes(directory);
  const file = beginFile(TABLE_FORMAT, hot.view());
  file.bytes(terms);
  return file.finish();
}

function findContent(
  file: RevisionFile,
  segments: readonly OpenSegment[],
): { segment: number; ordinal: number } | undefined {
  for (let segment = segments.length - 1; segment >= 0; segment--) {
    const ordinal = (segments[segment] as OpenSegment).segment.find(file);
    if (ordinal >= 0) return { segment, ordinal };
  }
  return undefined;
}

/** A call for each file would take several times as long. */
const HASHED_FILES = 1_000;

/** SHA-256 of all that answers depend on: versions, paths, contents. The distribution of contents over segments is not included. */
function digestOf(files: readonly RevisionFile[]): Uint8Array {
  const hash = createHash("sha256");
  hash.update(`${ENGINE_VERSION} ${TABLE_VERSION} ${SEGMENT_VERSION}\n`);
  for (let i = 0; i < files.length; i += HASHED_FILES) {
    const some = files.slice(i, i + HASHED_FILES);
    hash.update(some.map(({ path, sha256, language }) => `${sha256} ${language} ${path}${PATH_END}`).join(""));
  }
  return new Uint8Array(hash.digest());
}

/** An open table. */
export class RevisionTable {
  /** SHA-256, see `digestOf`. */
  readonly digest: Uint8Array;
  /** Ids of the segments, by the numbers in `segmentOf`. */
  readonly segmentIds: string[];
  readonly segmentOf: Uint16Array;
  /** Ordinal of each file's content in its segment. */
  readonly ordinalOf: Uint32Array;
  /** `TRAIT` bits of each file. */
  readonly traits: Uint16Array;
  /** Files by the terms of their paths. */
  readonly terms: Blocks;
  readonly #pathBytes: Uint8Array;
  #paths: string[] | undefined;

  private constructor(bytes: RangeReader, hot: Uint8Array) {
    const reader = new ByteReader(hot);
    this.digest = reader.bytes(DIGEST_BYTES);
    this.segmentIds = Array.from({ length: reader.varint() }, () => reader.string());
    const count = reader.varint();
    this.#pathBytes = reader.bytes(reader.varint());
    this.segmentOf = copyU16(hot, reader.position, count);
    reader.bytes(2 * count);
    this.ordinalOf = copyU32(hot, reader.position, count);
    reader.bytes(4 * count);
    this.traits = copyU16(hot, reader.position, count);
    reader.bytes(2 * count);
    this.terms = new Blocks(bytes, HEADER_BYTES + hot.length, reader.bytes(reader.varint()));
  }

  /** In order of their UTF-8. Decoded when they are asked for. Throws `SearchFormatError` if they are not those of the files. */
  get paths(): string[] {
    if (this.#paths === undefined) {
      const paths = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }).decode(this.#pathBytes).split(PATH_END);
      paths.pop();
      if (paths.length !== this.traits.length) throw new SearchFormatError("the table's paths do not fit its files");
      this.#paths = paths;
    }
    return this.#paths;
  }

  /** Opens a table. Throws `SearchFormatError` if it is damaged or of another version. */
  static async open(bytes: RangeReader): Promise<RevisionTable> {
    return new RevisionTable(bytes, await readHotPart(bytes, TABLE_FORMAT));
  }
}
