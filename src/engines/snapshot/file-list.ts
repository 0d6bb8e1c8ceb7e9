/**
 * The file list repeats what the `file` rows of an artifact say, in one compressed block before the footer, which Parquet readers
 * ignore. A client that only needs the files reads it instead of decompressing the columns of all rows. See
 * docs/snapshot-format.md.
 */
import { isText } from "../../lib/shape.ts";
import { gunzip } from "./gunzip.ts";
import { countsUses, HASH_BYTES, MAX_PAGE_BYTES } from "./layout.ts";
import { isSafePath } from "./rows.ts";
import { comparePaths, type SnapshotFile, SnapshotFormatError, type SnapshotHeader } from "./types.ts";

/** A file of a snapshot without its symbols, chunks and uses. */
export interface ListedFile {
  path: string;
  /** SHA-256 (lower-case hex) of the file's bytes. */
  contentHash: string;
  language: string;
  sizeBytes: number;
  outcome: string;
  /** Number of the file's row in the whole snapshot; its symbols follow it. */
  row: number;
  symbolCount: number;
  chunkCount: number;
  /** Chunks whose text is withheld. */
  withheldCount: number;
  useCount: number;
}

/** The list's JSON. Each column has one value per file, except the dictionaries `languages` and `outcomes`. */
interface Columns {
  languages: string[];
  outcomes: string[];
  path: string[];
  language: number[];
  outcome: number[];
  sizeBytes: number[];
  symbolCount: number[];
  chunkCount: number[];
  withheldCount: number[];
  /** From version 4 on. */
  useCount: number[];
}

const COUNTS = ["sizeBytes", "symbolCount", "chunkCount", "withheldCount", "useCount"] as const;
const NAMES = new Set<string>([
  "languages",
  "outcomes",
  "path",
  "language",
  "outcome",
  ...COUNTS,
] satisfies (keyof Columns)[]);
/** Before the hashes: the length of the JSON. */
const LENGTH_BYTES = 4;

/** Limit of the JSON's size. Git's own limit for a path is 4 KiB. */
const MAX_BYTES_PER_FILE = 32_768;

/** Collects a list and encodes it. The same files give the same bytes on every platform. */
export class FileListWriter {
  readonly #gzip: (bytes: Uint8Array) => Uint8Array;
  readonly #columns: Columns = {
    languages: [],
    outcomes: [],
    path: [],
    language: [],
    outcome: [],
    sizeBytes: [],
    symbolCount: [],
    chunkCount: [],
    withheldCount: [],
    useCount: [],
  };
  #hashes = new Uint8Array(64 * HASH_BYTES);

  /** Takes the compressor as an argument, so that readers do not load it. */
  constructor(gzip: (bytes: Uint8Array) => Uint8Array) {
    this.#gzip = gzip;
  }

  /** Adds the next file; `path` is as its row has it. */
  add(path: string, contentHash: Uint8Array, file: SnapshotFile): void {
    const { language, outcome, sizeBytes, symbols, chunks, uses } = file;
    const columns = this.#columns;
    const at = columns.path.length * HASH_BYTES;
    if (at === this.#hashes.length) {
      const larger = new Uint8Array(2 * at);
      larger.set(this.#hashes);
      this.#hashes = larger;
    }
    this.#hashes.set(contentHash, at);
    columns.path.push(path);
    columns.language.push(indexIn(columns.languages, language));
    columns.outcome.push(indexIn(columns.outcomes, outcome));
    columns.sizeBytes.push(sizeBytes);
    columns.symbolCount.push(symbols.length);
    columns.chunkCount.push(chunks.length);
    columns.withheldCount.push(countWithheld(chunks));
    columns.useCount.push(uses.length);
  }

  finish(): Uint8Array {
    const json = new TextEncoder().encode(JSON.stringify(this.#columns));
    if (json.length > MAX_PAGE_BYTES)
      throw new RangeError(`the file list has ${json.length} bytes, more than a snapshot can hold`);
    const hashes = this.#hashes.subarray(0, this.#columns.path.length * HASH_BYTES);
    const compressed = this.#gzip(json);
    const bytes = new Uint8Array(LENGTH_BYTES + hashes.length + compressed.length);
    new DataView(bytes.buffer).setUint32(0, json.length, true);
    bytes.set(hashes, LENGTH_BYTES);
    bytes.set(compressed, LENGTH_BYTES + hashes.length);
    return bytes;
  }
}

/** Position of the value, which is added if it is new. There are few values, so a linear search is fastest. */
function indexIn(entries: string[], value: string): number {
  const index = entries.indexOf(value);
  return index === -1 ? entries.push(value) - 1 : index;
}

function countWithheld(chunks: readonly { withheld: boolean }[]): number {
  return chunks.reduce((sum, { withheld }) => sum + Number(withheld), 0);
}

/** Decodes a list and checks it against the header. Throws {@link SnapshotFormatError}, or a decoder's error, if it is damaged. */
export function readFileList(bytes: Uint8Array, header: SnapshotHeader): ListedFile[] {
  const { fileCount, formatVersion } = header;
  const hashesEnd = LENGTH_BYTES + fileCount * HASH_BYTES;
  if (bytes.length <= hashesEnd) fail("it is too short");
  const jsonBytes = new DataView(bytes.buffer, bytes.byteOffset, LENGTH_BYTES).getUint32(0, true);
  if (jsonBytes > MAX_PAGE_BYTES || jsonBytes > MAX_BYTES_PER_FILE * (fileCount + 1)) fail("it is too long");
  const columns = columnsOf(
    new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(gunzip(bytes.subarray(hashesEnd), jsonBytes)),
    fileCount,
    countsUses(formatVersion),
  );
  const hashes = Buffer.from(bytes.buffer, bytes.byteOffset + LENGTH_BYTES, fileCount * HASH_BYTES).toString("hex");
  const files: ListedFile[] = [];
  const totals = { symbolCount: 0, chunkCount: 0, useCount: 0 };
  let row = 0;
  for (let at = 0; at < fileCount; at++) {
    const path = columns.path[at] as string;
    const symbolCount = columns.symbolCount[at] as number;
    const chunkCount = columns.chunkCount[at] as number;
    const withheldCount = columns.withheldCount[at] as number;
    const useCount = columns.useCount[at] ?? 0;
    const before = files[at - 1];
    if (!isSafePath(path) || !path.isWellFormed()) fail(`not a path inside a repository: ${JSON.stringify(path)}`);
    if (before && comparePaths(before.path, path) >= 0) fail("files are not in order");
    if (withheldCount > chunkCount) fail(`more chunks are withheld than there are in ${JSON.stringify(path)}`);
    files.push({
      path,
      contentHash: hashes.slice(at * 2 * HASH_BYTES, (at + 1) * 2 * HASH_BYTES),
      language: columns.languages[columns.language[at] as number] ?? fail("an unknown language"),
      sizeBytes: columns.sizeBytes[at] as number,
      outcome: columns.outcomes[columns.outcome[at] as number] ?? fail("an unknown outcome"),
      row,
      symbolCount,
      chunkCount,
      withheldCount,
      useCount,
    });
    totals.symbolCount += symbolCount;
    totals.chunkCount += chunkCount;
    totals.useCount += useCount;
    row += 1 + symbolCount + chunkCount + useCount;
  }
  for (const name of ["symbolCount", "chunkCount", "useCount"] as const)
    if (totals[name] !== header[name]) fail(`${name}: the header says ${header[name]}, the files have ${totals[name]}`);
  return files;
}

function columnsOf(json: string, fileCount: number, withUses: boolean): Columns {
  const value = JSON.parse(json) as Partial<Record<keyof Columns, unknown>> | null;
  const list = <T>(name: keyof Columns, isRight: (item: unknown) => item is T, length?: number): T[] => {
    const items = value?.[name];
    if (!Array.isArray(items) || (length !== undefined && items.length !== length))
      fail(`${name}: not a value for each file`);
    // A plain loop is faster than `every`, and there are many items.
    for (let at = 0; at < items.length; at++) if (!isRight(items[at])) fail(`${name}: not what it has to be`);
    return items as T[];
  };
  const dictionary = (name: "languages" | "outcomes"): string[] => {
    const entries = list(name, isText);
    return entries.length <= fileCount ? entries : fail(`${name}: more than there are files`);
  };
  const isUnknown = (name: string): boolean => !NAMES.has(name) || (name === "useCount" && !withUses);
  const unknown = Object.keys(value ?? {}).find(isUnknown);
  if (unknown !== undefined) fail(`${unknown}: unknown`);
  const countOf = (name: (typeof COUNTS)[number]): number[] =>
    name === "useCount" && !withUses ? [] : list(name, isInt32, fileCount);
  const counts = Object.fromEntries(COUNTS.map((name) => [name, countOf(name)])) as Pick<
    Columns,
    (typeof COUNTS)[number]
  >;
  return {
    languages: dictionary("languages"),
    outcomes: dictionary("outcomes"),
    path: list("path", isText, fileCount),
    language: list("language", isInt32, fileCount),
    outcome: list("outcome", isInt32, fileCount),
    ...counts,
  };
}

/** A whole number of at least 0 that fits a column of the rows. */
const isInt32 = (item: unknown): item is number => typeof item === "number" && item >= 0 && (item | 0) === item;

/** Yields the files unchanged. Throws {@link SnapshotFormatError} where one differs from its entry in the list. */
export async function* checkedAgainst(
  list: readonly ListedFile[],
  files: AsyncIterable<SnapshotFile>,
): AsyncGenerator<SnapshotFile> {
  let at = 0;
  for await (const file of files) {
    const listed = list[at++];
    const agrees =
      listed?.path === file.path &&
      listed.contentHash === file.contentHash &&
      listed.language === file.language &&
      listed.outcome === file.outcome &&
      listed.sizeBytes === file.sizeBytes &&
      listed.symbolCount === file.symbols.length &&
      listed.chunkCount === file.chunks.length &&
      listed.withheldCount === countWithheld(file.chunks) &&
      listed.useCount === file.uses.length;
    if (!agrees) fail(`it says something else of ${JSON.stringify(file.path)} than the rows`);
    yield file;
  }
}

function fail(why: string): never {
  throw new SnapshotFormatError(`file list: ${why}`);
}
