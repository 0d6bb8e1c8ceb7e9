import { sha256 } from "../machine/checksum.ts";
import type { InspectedText } from "../../engines/exact/inspect.ts";
import { NGRAM_FILTER_VERSION } from "../../engines/exact/ngram-filter.ts";
import { PARSER_VERSION } from "../../engines/parsing/version.ts";
import type { FileStat } from "../indexing/file-stat.ts";

/** Raised with every change of the format, or of what is known of a text. */
const TEXT_RECORDS_VERSION = 2;
const CHECKSUM_BYTES = 32;
const HEADER_AT = CHECKSUM_BYTES + 4;
/** No path and no object id has it. */
const SEPARATOR = "\0";
/** Numbers stored for a file's state: size, mtime, ctime, inode. */
const STAT_FIELDS = 4;

type Kind = Pick<InspectedText, "reason" | "script">;
type Withheld = InspectedText["withheld"];

/** What is known of a text, and the state of its file when it was read; of a text of git's, which never changes, no state. */
export interface TextRecord {
  stat: FileStat | undefined;
  inspected: InspectedText;
}

/** What `encodeRecords` writes as JSON. */
interface Header {
  version: string;
  keysBytes: number;
  /** Distinct kinds; most texts share a few. */
  kinds: Kind[];
  /** Withheld lines, by the position of their text. */
  withheld: [position: number, withheld: Withheld][];
}

/** The parser finds secrets and tells text from binary, so its version counts too. */
const VERSION = `${TEXT_RECORDS_VERSION}.${NGRAM_FILTER_VERSION}.${PARSER_VERSION}`;

/**
 * Records by key: the path in a work tree, git's object id in a commit. Derived: what is missing or damaged is made again.
 *
 * Bytes: SHA-256 of the rest (32), length of the header (4), header (JSON), keys with a NUL between; then in columns the kind of each text
 * (2), its filter's length as the logarithm, 255 for none (1), and its state (4 doubles); then the filters one after another. A search
 * reads all of them, so none is an object of its own before it is asked for.
 */
export function encodeRecords(records: ReadonlyMap<string, TextRecord>): Buffer {
  const all = [...records.values()];
  const kinds = new Map<string, number>();
  const ofKind = all.map(({ inspected: { reason, script } }) => {
    const name = JSON.stringify({ reason, script } satisfies Kind);
    const known = kinds.get(name) ?? kinds.size;
    kinds.set(name, known);
    return known;
  });
  const keys = Buffer.from([...records.keys()].join(SEPARATOR));
  const header: Header = {
    version: VERSION,
    keysBytes: keys.length,
    kinds: [...kinds.keys()].map((name) => JSON.parse(name) as Kind),
    withheld: all.flatMap(({ inspected: { withheld } }, position): Header["withheld"] =>
      withheld.length === 0 ? [] : [[position, withheld]],
    ),
  };
  const json = Buffer.from(JSON.stringify(header));
  const stats = all.flatMap(({ stat }) => (stat ? [stat.size, stat.mtimeMs, stat.ctimeMs, stat.ino] : [0, 0, 0, 0]));
  const rest = Buffer.concat([
    bytesOf(Uint32Array.of(json.length)),
    json,
    keys,
    bytesOf(Uint16Array.from(ofKind)),
    Uint8Array.from(all, ({ inspected: { filter } }) => (filter.length === 0 ? NO_FILTER : Math.log2(filter.length))),
    bytesOf(Float64Array.from(stats)),
    ...all.map(({ inspected: { filter } }) => filter.bytes.subarray(filter.start, filter.start + filter.length)),
  ]);
  return Buffer.concat([sha256(rest), rest]);
}

const NO_FILTER = 255;

const bytesOf = ({ buffer }: Uint16Array<ArrayBuffer> | Uint32Array<ArrayBuffer> | Float64Array<ArrayBuffer>) =>
  new Uint8Array(buffer);

/** The records of bytes that `encodeRecords` has written; undefined if they are damaged or of another version. */
export function decodeRecords(bytes: Uint8Array<ArrayBuffer>): TextRecords | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (buffer.length < HEADER_AT || !sha256(buffer.subarray(CHECKSUM_BYTES)).equals(buffer.subarray(0, CHECKSUM_BYTES)))
    return undefined;
  const headerEnd = HEADER_AT + buffer.readUInt32LE(CHECKSUM_BYTES);
  const header = JSON.parse(buffer.toString("utf8", HEADER_AT, headerEnd)) as Header;
  if (header.version !== VERSION) return undefined;
  return new TextRecords(bytes, header, headerEnd);
}

/** Decoded records. */
export class TextRecords {
  readonly #bytes: Uint8Array<ArrayBuffer>;
  readonly #kinds: readonly Kind[];
  readonly #withheld: ReadonlyMap<number, Withheld>;
  readonly #keys: readonly string[];
  readonly #ofKind: Uint16Array;
  readonly #stats: Float64Array;
  /** Start of each filter, and the end of the last one. */
  readonly #filterAt: Uint32Array;
  /** Position at which the next key is expected. */
  #next = 0;
  #positions: Map<string, number> | undefined;

  /** @internal */
  constructor(bytes: Uint8Array<ArrayBuffer>, { kinds, withheld, keysBytes }: Header, headerEnd: number) {
    this.#bytes = bytes;
    this.#kinds = kinds;
    this.#withheld = new Map(withheld);
    let at = headerEnd;
    const take = (length: number): ArrayBuffer => bytes.slice(at, (at += length)).buffer;
    const keys = Buffer.from(take(keysBytes)).toString();
    this.#keys = keys === "" ? [] : keys.split(SEPARATOR);
    const count = this.#keys.length;
    this.#ofKind = new Uint16Array(take(count * Uint16Array.BYTES_PER_ELEMENT));
    const lengths = new Uint8Array(take(count));
    this.#stats = new Float64Array(take(count * STAT_FIELDS * Float64Array.BYTES_PER_ELEMENT));
    this.#filterAt = new Uint32Array(count + 1);
    this.#filterAt[0] = at;
    for (let i = 0; i < count; i++) {
      const length = lengths[i] as number;
      this.#filterAt[i + 1] = (this.#filterAt[i] as number) + (length === NO_FILTER ? 0 : 2 ** length);
    }
  }

  get size(): number {
    return this.#keys.length;
  }

  /** The position of a key; -1 if there is none. Fastest if the keys are asked for in their order. */
  find(key: string): number {
    if (this.#keys[this.#next] === key) return this.#next++;
    this.#positions ??= new Map(this.#keys.map((own, position) => [own, position]));
    const position = this.#positions.get(key);
    if (position === undefined) return -1;
    this.#next = position + 1;
    return position;
  }

  keyAt(position: number): string {
    return this.#keys[position] as string;
  }

  /** Whether the file of a record was in a state when it was read. */
  isInState(position: number, { size, mtimeMs, ctimeMs, ino }: FileStat): boolean {
    const stats = this.#stats;
    const at = position * STAT_FIELDS;
    return stats[at] === size && stats[at + 1] === mtimeMs && stats[at + 2] === ctimeMs && stats[at + 3] === ino;
  }

  at(position: number): TextRecord {
    const [size = 0, mtimeMs = 0, ctimeMs = 0, ino = 0] = this.#stats.subarray(position * STAT_FIELDS);
    return { stat: { size, mtimeMs, ctimeMs, ino }, inspected: this.inspectedAt(position) };
  }

  inspectedAt(position: number): InspectedText {
    const { reason, script } = this.#kinds[this.#ofKind[position] as number] as Kind;
    const start = this.#filterAt[position] as number;
    const filter = { bytes: this.#bytes, start, length: (this.#filterAt[position + 1] as number) - start };
    return { reason, script, withheld: this.#withheld.get(position) ?? NONE, filter };
  }
}

const NONE: Withheld = [];
