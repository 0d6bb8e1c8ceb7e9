import { createHash } from "node:crypto";
import { Blocks } from "./blocks.ts";
import { ByteReader, ByteWriter, bytesOf, copyU16, copyU32 } from "./bytes.ts";
import { beginFile, HEADER_BYTES, readHotPart } from "./file-header.ts";
import { compareUtf8 } from "./order.ts";
import { PATH_END, PathList } from "./path-list.ts";
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
export const ENGINE_VERSION = 10;

const DIGEST_BYTES = 32;
/** The bit of a path term's counts for the file's name; 1 is for its folders. */
export const IN_NAME = 2;

/** A segment as the table names it. */
export interface OpenSegment {
  id: string;
  segment: Segment;
}

/** A table, and where it finds the contents: by the segments' ids, as `RevisionTable` has it. */
export interface WrittenTable {
  table: Uint8Array<ArrayBuffer>;
  /** As `RevisionTable.digest`. */
  digest: Uint8Array;
  segmentIds: string[];
  segmentOf: Uint16Array;
  ordinalOf: Uint32Array;
}

/**
 * Writes the table of a revision. Each content must be in one of the segments (files whose content is in none are left out
 * and returned as `missing`); segments that hold nothing of the revision are not named. Later segments win where several hold
 * a content.
 */
export function buildTable(
  files: readonly RevisionFile[],
  segments: readonly OpenSegment[],
): WrittenTable & { missing: RevisionFile[] } {
  const sorted = files.toSorted((a, b) => compareUtf8(a.path, b.path));
  const known = new Map<string, Place | undefined>();
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
  const written = writeTable(
    {
      paths: new PathList(body, placed.length),
      segmentOf: Uint16Array.from(placed, ({ segment }) => segment),
      ordinalOf: Uint32Array.from(placed, ({ ordinal }) => ordinal),
      traits,
      directory: terms.directory(),
      terms: terms.body(),
    },
    segments,
  );
  return { ...written, missing };
}

/** Where a content is: the position of a segment among the given ones, and the content's in it. */
export interface Place {
  segment: number;
  ordinal: number;
}

/** The files of a table, in columns. */
interface TableColumns {
  paths: PathList;
  /** Positions among the given segments. */
  segmentOf: Uint16Array;
  ordinalOf: Uint32Array;
  traits: Uint16Array;
  /** Directory and blocks of the paths' terms. */
  directory: Uint8Array;
  terms: Uint8Array;
}

/** Writes the table of files that are in order of their paths. */
export function writeTable(columns: TableColumns, segments: readonly OpenSegment[]): WrittenTable {
  const { paths, ordinalOf, traits, directory, terms } = columns;
  const isUsed = new Uint8Array(segments.length);
  for (const segment of columns.segmentOf) isUsed[segment] = 1;
  const used = [...segments.keys()].filter((segment) => isUsed[segment] === 1);
  const numbers = Uint16Array.from(segments, (_, segment) => used.indexOf(segment));
  const segmentOf = columns.segmentOf.map((segment) => numbers[segment] as number);
  const segmentIds = used.map((segment) => (segments[segment] as OpenSegment).id);
  const hot = new ByteWriter(paths.bytes.length + (2 + 4 + 2) * paths.size + directory.length + SMALL_PARTS_BYTES);
  const digest = digestOf(columns, segments);
  hot.bytes(digest);
  hot.varint(used.length);
  for (const id of segmentIds) hot.string(id);
  hot.varint(paths.size);
  hot.varint(paths.bytes.length);
  hot.bytes(paths.bytes);
  hot.bytes(bytesOf(segmentOf));
  hot.bytes(bytesOf(ordinalOf));
  hot.bytes(bytesOf(traits));
  hot.varint(directory.length);
  hot.bytes(directory);
  const file = beginFile(TABLE_FORMAT, hot.view(), terms.length);
  file.bytes(terms);
  return { table: file.finish(), digest, segmentIds, segmentOf, ordinalOf };
}

/** The place of a content in the last segment that holds it; undefined if none does. */
export function findContent(file: RevisionFile, segments: readonly OpenSegment[]): Place | undefined {
  for (let segment = segments.length - 1; segment >= 0; segment--) {
    const ordinal = (segments[segment] as OpenSegment).segment.find(file);
    if (ordinal >= 0) return { segment, ordinal };
  }
  return undefined;
}

/** Digest, counts and ids of segments take less. */
const SMALL_PARTS_BYTES = 1024;
/** A call of the hash for each file would take several times as long. */
const HASHED_BYTES = 64 * 1024;

/**
 * SHA-256 of all that answers depend on: versions, paths, contents. The distribution of contents over segments is not included. For each
 * file `<SHA-256 in hex> <language> <path>` and a NUL are hashed, written as bytes, since there may be a hundred thousand.
 */
function digestOf({ paths, segmentOf, ordinalOf }: TableColumns, segments: readonly OpenSegment[]): Uint8Array {
  const hash = createHash("sha256");
  hash.update(`${ENGINE_VERSION} ${TABLE_VERSION} ${SEGMENT_VERSION}\n`);
  const names = new Map<string, Uint8Array>();
  const some = new ByteWriter(HASHED_BYTES);
  for (let file = 0; file < paths.size; file++) {
    const { segment } = segments[segmentOf[file] as number] as OpenSegment;
    const ordinal = ordinalOf[file] as number;
    const language = segment.language(ordinal);
    let name = names.get(language);
    if (!name) names.set(language, (name = new TextEncoder().encode(` ${language} `)));
    some.hex(segment.sha256(ordinal));
    some.bytes(name);
    some.bytes(paths.at(file));
    if (some.length < HASHED_BYTES / 2) continue;
    hash.update(some.view());
    some.clear();
  }
  hash.update(some.view());
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
  /** Directory of the terms' blocks, and where these begin in the file. */
  readonly directory: Uint8Array;
  readonly termsAt: number;
  /** The paths, each ended by a NUL. */
  readonly pathBytes: Uint8Array;
  #paths: string[] | undefined;

  private constructor(bytes: RangeReader, hot: Uint8Array) {
    const reader = new ByteReader(hot);
    this.digest = reader.bytes(DIGEST_BYTES);
    this.segmentIds = Array.from({ length: reader.varint() }, () => reader.string());
    const count = reader.varint();
    this.pathBytes = reader.bytes(reader.varint());
    this.segmentOf = copyU16(hot, reader.position, count);
    reader.bytes(2 * count);
    this.ordinalOf = copyU32(hot, reader.position, count);
    reader.bytes(4 * count);
    this.traits = copyU16(hot, reader.position, count);
    reader.bytes(2 * count);
    this.directory = reader.bytes(reader.varint());
    this.termsAt = HEADER_BYTES + hot.length;
    this.terms = new Blocks(bytes, this.termsAt, this.directory);
  }

  /** In order of their UTF-8. Decoded when they are asked for. Throws `SearchFormatError` if they are not those of the files. */
  get paths(): string[] {
    if (this.#paths === undefined) {
      const paths = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }).decode(this.pathBytes).split(PATH_END);
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
