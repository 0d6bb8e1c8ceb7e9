import { createHash } from "node:crypto";
import { hexOf } from "./analyze.ts";
import { findSorted } from "./order.ts";
import type { Bounds } from "./postings.ts";
import { Segment } from "./segment.ts";
import { RevisionTable } from "./table.ts";
import { SearchFormatError, type ContentKey, type RevisionSource } from "./types.ts";
import { Vocabulary } from "./vocabulary.ts";

/** How the chunks of a segment are used. */
interface ChunkUse {
  /** Chunks that no file has. */
  unused: number;
  /** Element n: by how many the documents exceed the chunks, of the n chunks that most files have. */
  repeats: Uint32Array;
}

/**
 * One or more revisions, open for searching. Files are numbered through all revisions, in order of revision and path. A document is
 * a chunk of a file: a content at two paths has its chunks twice. Documents of a file are numbered one after another, and files follow
 * each other as their contents do in the segments: a scan of postings then goes through the arrays over documents from their beginning to
 * their end. In order of path, where every file is a cache miss, scoring took a quarter longer (270,000 documents). The order of documents
 * of different files must not show in an answer: it depends on the segments.
 */
export class SearchIndex {
  readonly tables: readonly RevisionTable[];
  readonly segments: readonly Segment[];
  /** Ids of the segments. */
  readonly segmentIds: readonly string[];
  readonly fileCount: number;
  readonly documentCount: number;
  /** First document of each file. */
  readonly firstDocuments: Int32Array;
  /** The document after the last one of each file. */
  readonly endDocuments: Int32Array;
  readonly fileOfDocument: Int32Array;
  /** `TRAIT` bits of each file. */
  readonly traits: Uint16Array;
  /** Segment of each file's content, and its ordinal there. */
  readonly segmentOf: Uint16Array;
  readonly ordinalOf: Uint32Array;
  /** Words of each document, divided by the mean of all. */
  readonly relativeLengths: Float64Array;
  /** For each segment the first document of each of its chunks; -1 where no file has it. */
  readonly documentOfChunk: readonly Int32Array[];
  /** The next document with the same chunk at another path; -1 after the last. */
  readonly nextDocument: Int32Array;
  /** For each segment the first file with each of its contents; -1 if no file has it. */
  readonly #firstFileOf: readonly Int32Array[];
  /** The next file with the same content; -1 after the last. */
  readonly #nextFile: Int32Array;
  /** First file of each revision, and the number of files after the last. */
  readonly firstFiles: readonly number[];
  readonly digest: string;
  #filesByName: Map<string, number[]> | undefined;
  #pathWords: readonly string[] | undefined;
  #uses: readonly ChunkUse[] | undefined;

  private constructor(tables: readonly RevisionTable[], segments: ReadonlyMap<string, Segment>) {
    this.tables = tables;
    this.segments = [...segments.values()];
    this.segmentIds = [...segments.keys()];
    const positions = new Map([...segments.keys()].map((id, i) => [id, i]));
    const firstFiles = [0];
    for (const { paths } of tables) firstFiles.push((firstFiles.at(-1) ?? 0) + paths.length);
    this.firstFiles = firstFiles;
    const fileCount = firstFiles.at(-1) ?? 0;
    this.fileCount = fileCount;
    this.traits = new Uint16Array(fileCount);
    this.segmentOf = new Uint16Array(fileCount);
    this.ordinalOf = new Uint32Array(fileCount);
    this.firstDocuments = new Int32Array(fileCount);
    this.endDocuments = new Int32Array(fileCount);
    let documentCount = 0;
    for (const [t, table] of tables.entries()) {
      const first = firstFiles[t] as number;
      this.traits.set(table.traits, first);
      this.ordinalOf.set(table.ordinalOf, first);
      const own = table.segmentIds.map((id) => positions.get(id) as number);
      for (let i = 0; i < table.paths.length; i++) {
        const file = first + i;
        const position = own[table.segmentOf[i] as number];
        const segment = position === undefined ? undefined : this.segments[position];
        const ordinal = table.ordinalOf[i] as number;
        if (position === undefined || segment === undefined || ordinal >= segment.contentCount)
          throw new SearchFormatError("the revision table does not fit its segments");
        this.segmentOf[file] = position;
        documentCount += (segment.firstChunks[ordinal + 1] as number) - (segment.firstChunks[ordinal] as number);
      }
    }
    this.documentCount = documentCount;
    this.fileOfDocument = new Int32Array(this.documentCount);
    this.relativeLengths = new Float64Array(this.documentCount);
    this.nextDocument = new Int32Array(this.documentCount).fill(-1);
    this.documentOfChunk = this.segments.map(({ chunkCount }) => new Int32Array(chunkCount).fill(-1));
    this.#firstFileOf = this.segments.map(({ contentCount }) => new Int32Array(contentCount).fill(-1));
    this.#nextFile = new Int32Array(fileCount);
    this.#numberDocuments();
    this.digest = digestOfTables(tables);
  }

  /** Chains the files of each content, from the last file to the first so that chains ascend, then numbers the documents. */
  #numberDocuments(): void {
    for (let file = this.fileCount - 1; file >= 0; file--) {
      const files = this.#firstFileOf[this.segmentOf[file] as number] as Int32Array;
      const ordinal = this.ordinalOf[file] as number;
      this.#nextFile[file] = files[ordinal] as number;
      files[ordinal] = file;
    }
    let total = 0;
    let next = 0;
    for (const [position, { firstChunks, lengths, contentCount }] of this.segments.entries()) {
      const documents = this.documentOfChunk[position] as Int32Array;
      const files = this.#firstFileOf[position] as Int32Array;
      for (let ordinal = 0; ordinal < contentCount; ordinal++) {
        const firstChunk = firstChunks[ordinal] as number;
        const count = (firstChunks[ordinal + 1] as number) - firstChunk;
        for (let file = files[ordinal] as number; file >= 0; file = this.#nextFile[file] as number) {
          this.firstDocuments[file] = next;
          for (let i = 0; i < count; i++) {
            const length = lengths[firstChunk + i] as number;
            const document = next++;
            this.fileOfDocument[document] = file;
            this.relativeLengths[document] = length;
            total += length;
            if (documents[firstChunk + i] === -1) documents[firstChunk + i] = document;
            else this.nextDocument[document - count] = document;
          }
          this.endDocuments[file] = next;
        }
      }
    }
    const mean = Math.max(1, total / Math.max(1, this.documentCount));
    for (let d = 0; d < this.documentCount; d++) this.relativeLengths[d] = (this.relativeLengths[d] as number) / mean;
  }

  /** Opens revisions. Segments that several name are opened once. Throws `SearchFormatError` if one is damaged. */
  static async open(revisions: readonly RevisionSource[]): Promise<SearchIndex> {
    const tables = await Promise.all(revisions.map(({ table }) => RevisionTable.open(table)));
    const opening = new Map<string, Promise<Segment>>();
    for (const [i, { segmentIds }] of tables.entries())
      for (const id of segmentIds)
        if (!opening.has(id)) opening.set(id, openSegment(revisions[i] as RevisionSource, id));
    const ids = [...opening.keys()].sort();
    const segments = await Promise.all(ids.map((id) => opening.get(id) as Promise<Segment>));
    return new SearchIndex(tables, new Map(ids.map((id, i) => [id, segments[i] as Segment])));
  }

  revisionOf(file: number): number {
    let low = 0;
    let high = this.tables.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (file < (this.firstFiles[middle + 1] as number)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  path(file: number): string {
    const revision = this.revisionOf(file);
    return (this.tables[revision] as RevisionTable).paths[file - (this.firstFiles[revision] as number)] as string;
  }

  language(file: number): string {
    return this.segmentOfFile(file).language(this.ordinalOf[file] as number);
  }

  contentKey(file: number): ContentKey {
    return this.segmentOfFile(file).contentKey(this.ordinalOf[file] as number);
  }

  /** Orders documents by file and place in the file. */
  compareDocuments(a: number, b: number): number {
    return (this.fileOfDocument[a] as number) - (this.fileOfDocument[b] as number) || a - b;
  }

  segmentOfFile(file: number): Segment {
    return this.segments[this.segmentOf[file] as number] as Segment;
  }

  /** Files with a content, ascending. */
  filesOf(segment: number, ordinal: number): number[] {
    const files: number[] = [];
    for (let file = this.#firstFileOf[segment]?.[ordinal] ?? -1; file >= 0; file = this.#nextFile[file] as number)
      files.push(file);
    return files;
  }

  /** Bounds of the number of documents with a term, from those of the number of a segment's chunks with it. */
  documentBounds(segment: number, { least, most }: Bounds): Bounds {
    this.#uses ??= this.documentOfChunk.map((documents) => chunkUse(documents, this.nextDocument));
    const { unused, repeats } = this.#uses[segment] as ChunkUse;
    return {
      least: Math.max(0, least - unused),
      most: most + (repeats[Math.min(most, repeats.length - 1)] as number),
    };
  }

  /** Files by the lower-case name after the last slash. Computed on first use. */
  get filesByName(): ReadonlyMap<string, readonly number[]> {
    if (this.#filesByName) return this.#filesByName;
    const files = new Map<string, number[]>();
    for (let file = 0; file < this.fileCount; file++) {
      const path = this.path(file);
      const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
      const same = files.get(name);
      if (same) same.push(file);
      else files.set(name, [file]);
    }
    this.#filesByName = files;
    return files;
  }

  /** Words of folders and files. Computed on first use. */
  get pathWords(): readonly string[] {
    if (this.#pathWords) return this.#pathWords;
    const vocabulary = new Vocabulary();
    const parts = new Set(this.tables.flatMap(({ paths }) => paths).flatMap((path) => path.split("/")));
    for (const part of parts) vocabulary.add(part);
    this.#pathWords = vocabulary.words();
    return this.#pathWords;
  }

  /** Number of a file; undefined if the revision has no such path. */
  fileAt(revision: number, path: string): number | undefined {
    const position = findSorted(this.tables[revision]?.paths ?? [], path);
    return position === -1 ? undefined : (this.firstFiles[revision] as number) + position;
  }
}

function chunkUse(documents: Int32Array, nextDocument: Int32Array): ChunkUse {
  let unused = 0;
  const more: number[] = [];
  for (const first of documents) {
    if (first < 0) unused++;
    let files = 0;
    for (let document = first; document >= 0; document = nextDocument[document] as number) files++;
    if (files > 1) more.push(files - 1);
  }
  const repeats = new Uint32Array(more.length + 1);
  for (const [i, own] of more.sort((a, b) => b - a).entries()) repeats[i + 1] = (repeats[i] as number) + own;
  return { unused, repeats };
}

/** Names all that answers over revisions depend on: 32 hex digits over the digests of their tables. */
export function digestOfTables(tables: readonly Pick<RevisionTable, "digest">[]): string {
  const hash = createHash("sha256");
  for (const { digest } of tables) hash.update(digest);
  return hexOf(new Uint8Array(hash.digest())).slice(0, 32);
}

async function openSegment(revision: RevisionSource, id: string): Promise<Segment> {
  return Segment.open(await revision.segment(id));
}

/** Opens revisions for searching. See `SearchIndex.open`. */
export async function openIndex(revisions: readonly RevisionSource[]): Promise<SearchIndex> {
  return SearchIndex.open(revisions);
}
