/**
 * The file list of a revision: every path of its tree, whether its text is stored and where, and if not, why. It is what an answer
 * about all files starts from, and what coverage is counted by.
 */
import { constants, deflateRawSync, inflateRawSync } from "node:zlib";
import { ByteReader, ByteWriter } from "../search/bytes.ts";
import { beginFile, readHotPart } from "../search/file-header.ts";
import { compareUtf8 } from "../search/order.ts";
import { type RangeReader, SearchFormatError } from "../search/types.ts";

/** Raised with every change of the format. */
export const LIST_VERSION = 1;
/** The magic number is "CCFL". */
const LIST_FORMAT = { name: "file list", magic: 0x4c464343, version: LIST_VERSION };
/** What a damaged list may inflate to: more than a million paths, and the most that workerd accepts as a limit. */
const MAX_LIST_BYTES = 128 * 1024 * 1024;
/** Room in that limit: workerd counts the buffers that it inflates into, which are up to 64 KiB longer than what they hold. */
const INFLATE_ROOM_BYTES = 128 * 1024;

/** `indexed`: text, chunks, symbols and vectors. `searched`: a text only. `not_searched`: none of them. */
export type FileState = "indexed" | "searched" | "not_searched";

/** Where a text is. */
export interface TextPlace {
  /** Id of the pack. */
  pack: string;
  ordinal: number;
}

/** A file of a revision. */
export interface ListedFile {
  path: string;
  state: FileState;
  /** Why it is not indexed, or not searched; null if it is indexed. */
  reason: string | null;
  /** Null if it is not known. */
  language: string | null;
  /** Length in bytes; null if it is not known. */
  size: number | null;
  /** Lines that are withheld. */
  withheldLines: number;
  /** Null if there is no text. */
  text: TextPlace | null;
}

/** Names the text at a place of a pack: the same name is the same text. */
export const textName = (pack: string, ordinal: number): string => `${pack}:${ordinal}`;

/** Numbers strings in the order in which they are first asked for. */
class Names {
  readonly names: string[] = [];
  readonly #numbers = new Map<string, number>();

  numberOf(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    this.#numbers.set(name, this.names.length);
    return this.names.push(name) - 1;
  }

  write(to: ByteWriter): void {
    to.varint(this.names.length);
    for (const name of this.names) to.string(name);
  }
}

/** Writes a list; `files` in any order, each path once. */
export function encodeFileList(files: Iterable<ListedFile>): Uint8Array<ArrayBuffer> {
  const sorted = [...files].sort((a, b) => compareUtf8(a.path, b.path));
  const states = new Names();
  const languages = new Names();
  const packs = new Names();
  // Each kind of value by itself, because columns shrink to a half of what rows do.
  const columns = Array.from({ length: 6 }, () => new ByteWriter());
  const [paths, kinds, sizes, withheld, places, ordinals] = columns as [
    ByteWriter,
    ByteWriter,
    ByteWriter,
    ByteWriter,
    ByteWriter,
    ByteWriter,
  ];
  let before: Uint8Array = new Uint8Array();
  const expected = new Map<string, number>();
  const encoder = new TextEncoder();
  for (const { path, state, reason, language, size, withheldLines, text } of sorted) {
    const bytes = encoder.encode(path);
    let shared = 0;
    while (shared < before.length && shared < bytes.length && before[shared] === bytes[shared]) shared++;
    paths.varint(shared);
    paths.varint(bytes.length - shared);
    paths.bytes(bytes.subarray(shared));
    before = bytes;
    kinds.varint(states.numberOf(reason === null ? state : `${state}:${reason}`));
    kinds.varint(language === null ? 0 : languages.numberOf(language) + 1);
    sizes.varint(size === null ? 0 : size + 1);
    withheld.varint(withheldLines);
    places.varint(text === null ? 0 : packs.numberOf(text.pack) + 1);
    if (text === null) continue;
    // Texts of one folder mostly follow each other.
    ordinals.zigzag(text.ordinal - (expected.get(text.pack) ?? 0));
    expected.set(text.pack, text.ordinal + 1);
  }
  const body = new ByteWriter();
  for (const names of [states, languages, packs]) names.write(body);
  body.varint(sorted.length);
  for (const column of columns) {
    body.varint(column.length);
    body.bytes(column.view());
  }
  const raw = body.view();
  const hot = new ByteWriter();
  hot.varint(raw.byteLength);
  hot.bytes(deflateRawSync(raw, { level: constants.Z_DEFAULT_COMPRESSION }));
  return beginFile(LIST_FORMAT, hot.view()).finish();
}

/** Bytes that a file takes in memory besides its path. */
const BYTES_PER_FILE = 24;
/** Rough bytes of a path in memory, and of the name of a text. */
const BYTES_PER_PATH = 100;
const BYTES_PER_TEXT_NAME = 100;

/** An open list, in order of the paths' UTF-8. */
export class FileList {
  readonly paths: readonly string[];
  /** Ids of the packs that hold the texts. */
  readonly packs: readonly string[];
  readonly #states: readonly { state: FileState; reason: string | null }[];
  readonly #languages: readonly string[];
  readonly #stateOf: Uint8Array;
  readonly #languageOf: Uint16Array;
  /** Plus one; 0 is unknown. */
  readonly #sizes: Float64Array;
  readonly #withheld: Uint32Array;
  /** Plus one; 0 is none. */
  readonly #packOf: Uint32Array;
  readonly #ordinalOf: Uint32Array;
  #textNames: (string | undefined)[] | undefined;

  private constructor(body: Uint8Array) {
    const reader = new ByteReader(body);
    const names = () => Array.from({ length: reader.varint() }, () => reader.string());
    this.#states = names().map((name) => {
      const colon = name.indexOf(":");
      const state = (colon === -1 ? name : name.slice(0, colon)) as FileState;
      return { state, reason: colon === -1 ? null : name.slice(colon + 1) };
    });
    this.#languages = names();
    this.packs = names();
    const count = reader.varint();
    if (count > body.byteLength) throw new SearchFormatError("the file list has more files than bytes");
    const column = () => new ByteReader(reader.bytes(reader.varint()));
    this.paths = readPaths(column(), count);
    const kinds = column();
    this.#stateOf = new Uint8Array(count);
    this.#languageOf = new Uint16Array(count);
    for (let at = 0; at < count; at++) {
      this.#stateOf[at] = kinds.varint();
      this.#languageOf[at] = kinds.varint();
    }
    const sizes = column();
    this.#sizes = Float64Array.from({ length: count }, () => sizes.varint());
    const withheld = column();
    this.#withheld = Uint32Array.from({ length: count }, () => withheld.varint());
    const places = column();
    this.#packOf = Uint32Array.from({ length: count }, () => places.varint());
    const ordinals = column();
    const expected = new Uint32Array(this.packs.length + 1);
    this.#ordinalOf = this.#packOf.map((pack) => {
      if (pack === 0) return 0;
      const ordinal = (expected[pack] as number) + ordinals.zigzag();
      expected[pack] = ordinal + 1;
      return ordinal;
    });
  }

  /** Opens a list. Throws `SearchFormatError` if it is damaged or of another version. */
  static async open(bytes: RangeReader): Promise<FileList> {
    const hot = await readHotPart(bytes, LIST_FORMAT);
    const reader = new ByteReader(hot);
    const length = reader.varint();
    let body: Uint8Array | undefined;
    try {
      const maxOutputLength = Math.min(length + INFLATE_ROOM_BYTES, MAX_LIST_BYTES);
      body = inflateRawSync(hot.subarray(reader.position), { maxOutputLength });
    } catch {
      // Said below.
    }
    if (body?.byteLength !== length) throw new SearchFormatError("the file list is damaged", bytes.name);
    return new FileList(body);
  }

  get length(): number {
    return this.paths.length;
  }

  /** Rough bytes in memory. */
  get byteLength(): number {
    return this.length * (BYTES_PER_FILE + BYTES_PER_PATH + BYTES_PER_TEXT_NAME);
  }

  /** What is said of the file at a position, one by one: an object for each of many files takes longer than asking it. */
  stateAt(position: number): FileState {
    return this.#statedAt(position).state;
  }

  reasonAt(position: number): string | null {
    return this.#statedAt(position).reason;
  }

  languageAt(position: number): string | null {
    const language = this.#languageOf[position] as number;
    return language === 0 ? null : (this.#languages[language - 1] ?? null);
  }

  sizeAt(position: number): number | null {
    const size = this.#sizes[position] as number;
    return size === 0 ? null : size - 1;
  }

  withheldLinesAt(position: number): number {
    return this.#withheld[position] as number;
  }

  /** A name of the text at a position, the same for the same text: `<pack>:<ordinal>`; undefined if there is none. */
  textNameAt(position: number): string | undefined {
    return (this.#textNames ??= this.#nameTexts())[position];
  }

  #nameTexts(): (string | undefined)[] {
    return Array.from(this.#packOf, (pack, position) =>
      pack === 0 ? undefined : textName(this.packs[pack - 1] as string, this.#ordinalOf[position] as number),
    );
  }

  #statedAt(position: number): { state: FileState; reason: string | null } {
    const stated = this.#states[this.#stateOf[position] ?? 0];
    if (position >= this.length || stated === undefined) throw new RangeError(`the list has no file ${position}`);
    return stated;
  }

  /** The file at a position. */
  at(position: number): ListedFile {
    const { state, reason } = this.#statedAt(position);
    const pack = this.#packOf[position] as number;
    return {
      path: this.paths[position] as string,
      state,
      reason,
      language: this.languageAt(position),
      size: this.sizeAt(position),
      withheldLines: this.withheldLinesAt(position),
      text: pack === 0 ? null : { pack: this.packs[pack - 1] as string, ordinal: this.#ordinalOf[position] as number },
    };
  }

  /** Position of a path; -1 if the revision does not have it. */
  find(path: string): number {
    let low = 0;
    let high = this.length - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const order = compareUtf8(this.paths[middle] as string, path);
      if (order === 0) return middle;
      if (order < 0) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }

  *[Symbol.iterator](): Generator<ListedFile> {
    for (let position = 0; position < this.length; position++) yield this.at(position);
  }
}

function readPaths(column: ByteReader, count: number): string[] {
  const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });
  const paths: string[] = [];
  let path: Uint8Array = new Uint8Array();
  for (let left = count; left > 0; left--) {
    const shared = column.varint();
    const rest = column.bytes(column.varint());
    if (shared > path.length) throw new SearchFormatError("a path of the file list begins with more than there is");
    const bytes = new Uint8Array(shared + rest.length);
    bytes.set(path.subarray(0, shared));
    bytes.set(rest, shared);
    paths.push(decoder.decode(bytes));
    path = bytes;
  }
  return paths;
}
