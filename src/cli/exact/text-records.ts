import { type CheckedFile, decodeChecked, encodeChecked } from "../machine/checked-file.ts";
import type { InspectedText } from "../../engines/exact/inspect.ts";
import { type FilterPart, NGRAM_FILTER_VERSION } from "../../engines/exact/ngram-filter.ts";
import { PARSER_VERSION } from "../../engines/parsing/version.ts";
import type { FileStat } from "../indexing/file-stat.ts";

/** Raised with every change of the format, or of what is known of a text. */
const TEXT_RECORDS_VERSION = 5;
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

/** What is known of a text as its file was in one state. */
export interface KnownText extends InspectedText {
  isInState(stat: FileStat): boolean;
}

/** What `encodeRecords` writes as JSON. */
interface Header {
  version: string;
  count: number;
  keysBytes: number;
  /** Distinct kinds; most texts share a few. */
  kinds: Kind[];
  /** Of changes: the name of the records that they complete. */
  completes?: string | undefined;
  /** Withheld lines, by the position of their text. */
  withheld: [position: number, withheld: Withheld][];
}

/** The parser finds secrets and tells text from binary, so its version counts too. */
const VERSION = `${TEXT_RECORDS_VERSION}.${NGRAM_FILTER_VERSION}.${PARSER_VERSION}`;

/**
 * Records by key: the path in a work tree, git's object id in a commit. Derived: what is missing or damaged is made again.
 *
 * Body of the file (checked-file.ts): keys with a NUL between; then in columns the kind of each text (2), the state of its file
 * (4 doubles) and where its filter ends (4); then the filters one after another. A search that has just started runs loops
 * over thousands slowly, so the columns are used as they are.
 */
export function encodeRecords(
  records: ReadonlyMap<string, TextRecord>,
  { completes }: { completes?: string } = {},
): Buffer {
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
    count: all.length,
    keysBytes: keys.length,
    completes,
    kinds: [...kinds.keys()].map((name) => JSON.parse(name) as Kind),
    withheld: all.flatMap(({ inspected: { withheld } }, position): Header["withheld"] =>
      withheld.length === 0 ? [] : [[position, withheld]],
    ),
  };
  let filterEnd = 0;
  const stats = all.flatMap(({ stat }) => (stat ? [stat.size, stat.mtimeMs, stat.ctimeMs, stat.ino] : [0, 0, 0, 0]));
  return encodeChecked(header, [
    keys,
    bytesOf(Uint16Array.from(ofKind)),
    bytesOf(Float64Array.from(stats)),
    bytesOf(Uint32Array.from(all, ({ inspected: { filter } }) => (filterEnd += filter.length))),
    ...all.map(({ inspected: { filter } }) => filter.bytes.subarray(filter.start, filter.start + filter.length)),
  ]);
}

const bytesOf = ({ buffer }: Uint16Array<ArrayBuffer> | Uint32Array<ArrayBuffer> | Float64Array<ArrayBuffer>) =>
  new Uint8Array(buffer);

/** The records of bytes that `encodeRecords` has written; undefined if they are damaged, of another version or complete other records. */
export function decodeRecords(bytes: Uint8Array<ArrayBuffer>, completes?: string): TextRecords | undefined {
  const file = decodeChecked<Header>(bytes, { version: VERSION, completes });
  return file && new TextRecords(bytes, file);
}

/** Decoded records. */
export class TextRecords {
  readonly name: string;
  readonly #bytes: Uint8Array<ArrayBuffer>;
  readonly #kinds: readonly Kind[];
  readonly #withheld: ReadonlyMap<number, Withheld>;
  readonly #keysText: string;
  #keys: readonly string[] | undefined;
  readonly #ofKind: Uint16Array;
  readonly #stats: Float64Array;
  /** Where the first filter begins, and from there the end of each. */
  readonly #filtersAt: number;
  readonly #filterEnds: Uint32Array;
  /** Position at which the next key is expected. */
  #next = 0;
  #positions: Map<string, number> | undefined;

  /** @internal */
  constructor(bytes: Uint8Array<ArrayBuffer>, { name, header, bodyAt }: CheckedFile<Header>) {
    const { kinds, withheld, count, keysBytes } = header;
    this.name = name;
    this.#bytes = bytes;
    this.#kinds = kinds;
    this.#withheld = new Map(withheld);
    let at = bodyAt;
    const take = (length: number): ArrayBuffer => bytes.slice(at, (at += length)).buffer;
    this.#keysText = Buffer.from(take(keysBytes)).toString();
    this.#ofKind = new Uint16Array(take(count * Uint16Array.BYTES_PER_ELEMENT));
    this.#stats = new Float64Array(take(count * STAT_FIELDS * Float64Array.BYTES_PER_ELEMENT));
    this.#filterEnds = new Uint32Array(take(count * Uint32Array.BYTES_PER_ELEMENT));
    this.#filtersAt = at;
  }

  get size(): number {
    return this.#ofKind.length;
  }

  get #allKeys(): readonly string[] {
    return (this.#keys ??= this.size === 0 ? [] : this.#keysText.split(SEPARATOR));
  }

  /** The position of a key; -1 if there is none. Fastest if the keys are asked for in their order. */
  find(key: string): number {
    const keys = this.#allKeys;
    if (keys[this.#next] === key) return this.#next++;
    this.#positions ??= new Map(keys.map((own, position) => [own, position]));
    const position = this.#positions.get(key);
    if (position === undefined) return -1;
    this.#next = position + 1;
    return position;
  }

  keyAt(position: number): string {
    return this.#allKeys[position] as string;
  }

  /** @internal Whether the file of a record was in a state when it was read. */
  isInState(position: number, { size, mtimeMs, ctimeMs, ino }: FileStat): boolean {
    const stats = this.#stats;
    const at = position * STAT_FIELDS;
    return stats[at] === size && stats[at + 1] === mtimeMs && stats[at + 2] === ctimeMs && stats[at + 3] === ino;
  }

  at(position: number): TextRecord {
    const [size = 0, mtimeMs = 0, ctimeMs = 0, ino = 0] = this.#stats.subarray(position * STAT_FIELDS);
    return { stat: { size, mtimeMs, ctimeMs, ino }, inspected: this.inspectedAt(position) };
  }

  inspectedAt(position: number): StoredText {
    return new StoredText(this, position);
  }

  /** @internal */
  kindAt(position: number): Kind {
    return this.#kinds[this.#ofKind[position] as number] as Kind;
  }

  /** @internal */
  withheldAt(position: number): Withheld {
    return this.#withheld.get(position) ?? NONE;
  }

  /** @internal */
  filterAt(position: number): FilterPart {
    const start = position === 0 ? 0 : (this.#filterEnds[position - 1] as number);
    const length = (this.#filterEnds[position] as number) - start;
    return { bytes: this.#bytes, start: this.#filtersAt + start, length };
  }
}

const NONE: Withheld = [];

/** A decoded record. A search asks each of thousands for little, so it holds nothing of its own. */
export class StoredText implements KnownText {
  readonly #records: TextRecords;
  readonly #position: number;

  constructor(records: TextRecords, position: number) {
    this.#records = records;
    this.#position = position;
  }

  get reason(): Kind["reason"] {
    return this.#records.kindAt(this.#position).reason;
  }

  get script(): Kind["script"] {
    return this.#records.kindAt(this.#position).script;
  }

  get withheld(): Withheld {
    return this.#records.withheldAt(this.#position);
  }

  get filter(): FilterPart {
    return this.#records.filterAt(this.#position);
  }

  isInState(stat: FileStat): boolean {
    return this.#records.isInState(this.#position, stat);
  }
}
