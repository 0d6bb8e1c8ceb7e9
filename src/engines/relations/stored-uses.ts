/** Reads the records that `record.ts` writes. */
import { ByteReader } from "../search/bytes.ts";
import { SearchFormatError } from "../search/types.ts";
import { MEANINGS, PARTS, USE_KINDS } from "./record.ts";
import { RecordStrings, type WantedNames } from "./record-strings.ts";
import {
  callbackKey,
  type ClassInfo,
  type FileUses,
  type Import,
  isWholeModule,
  type Meaning,
  type Use,
} from "./types.ts";

const IMPORT = MEANINGS.indexOf("import");

/** The uses of a file as they are stored. */
export interface StoredUses extends FileUses {
  /**
   * The uses that may be of one of some names: they are written with it, are an alias of it, or of what a module exports as a whole, which
   * goes by any name. Most of a file's uses are none of them and are not decoded.
   */
  usesOf: (names: WantedNames) => Use[];
}

/**
 * Decodes a record: each part when it is first asked for, its uses anew each time, so that many files can be in memory. Of most files that a
 * question reads little is asked. Throws `SearchFormatError` if the record is damaged; so may reading its parts.
 */
export function decodeUses(bytes: Uint8Array): StoredUses {
  const body = new Decoder(bytes);
  const { reader } = body;
  const named = () =>
    body.part(
      () => new Map(body.list(() => [body.string(), body.meaning()] as const)),
      () => reader.skipVarints(2 * reader.varint()),
    );
  const imports = body.part(
    () => body.list((): Import => ({ module: body.string(), name: body.string(), line: body.line() })),
    () => body.skipEach(() => body.skipWithLine(2)),
  );
  const bindings = named();
  const exports = named();
  const stars = body.part(
    () => body.list(() => body.string()),
    () => reader.skipVarints(reader.varint()),
  );
  const classes = body.part(
    () =>
      body.list((): ClassInfo => {
        const line = body.line();
        const members = body.list(() => [body.string(), body.member()] as const);
        return { line, members: new Map(members), bases: body.list(() => body.meaning()) };
      }),
    () =>
      body.skipEach(() => {
        body.line();
        body.skipEach(() => body.skipWithLine(1, 1));
        reader.skipVarints(reader.varint());
      }),
  );
  const returns = body.part(
    () => new Map(body.list(() => [body.line(), body.meaning()] as const)),
    () => body.skipEach(() => body.skipWithLine(0, 1)),
  );
  const callbacks = body.part(
    () => new Map(body.list(() => [callbackKey(body.line(), reader.u8()), body.meaning()] as const)),
    () =>
      body.skipEach(() => {
        body.line();
        reader.skip(1);
        reader.skipVarints(1);
      }),
  );
  const start = reader.position;
  return {
    get imports() {
      return imports();
    },
    get bindings() {
      return bindings();
    },
    get exports() {
      return exports();
    },
    get stars() {
      return stars();
    },
    get classes() {
      return classes();
    },
    get returns() {
      return returns();
    },
    get callbacks() {
      return callbacks();
    },
    get uses() {
      return body.usesAt(start);
    },
    usesOf: (names) => body.usesAt(start, names),
  };
}

class Decoder {
  readonly reader: ByteReader;
  readonly #strings: RecordStrings;
  /** How many meanings there are, and what reads the next of them. */
  readonly #count: number;
  readonly #next: ByteReader;
  /** Those that were decoded: all before one that is asked for. */
  readonly #meanings: Meaning[] = [];
  /** Numbers of the meanings that are imports, each followed by the position of the name. */
  readonly #imports: number[] = [];
  #line = 0;

  constructor(bytes: Uint8Array) {
    const reader = new ByteReader(bytes);
    this.reader = reader;
    this.#strings = new RecordStrings(reader, bytes);
    this.#count = reader.varint();
    this.#next = new ByteReader(bytes, reader.position);
    for (let number = 0; number < this.#count; number++) {
      const kind = reader.u8();
      if (kind === IMPORT) {
        reader.skipVarints(1);
        this.#imports.push(number, reader.varint());
      } else reader.skipVarints(PARTS[kind] ?? fail("a kind of meaning"));
    }
  }

  /** A part of the record, decoded when it is first asked for; `skip` goes over it. */
  part<T>(read: () => T, skip: () => void): () => T {
    const { position } = this.reader;
    const line = this.#line;
    skip();
    let known: T | undefined;
    return () => {
      if (known !== undefined) return known;
      this.reader.position = position;
      this.#line = line;
      return (known = read());
    };
  }

  list<T>(read: () => T): T[] {
    const items: T[] = [];
    // Not an array of the count's length: a damaged count must not take memory.
    for (let left = this.reader.varint(); left > 0; left--) items.push(read());
    return items;
  }

  skipEach(skip: () => void): void {
    for (let left = this.reader.varint(); left > 0; left--) skip();
  }

  /** Skips integers before a line, the line, and those after it. */
  skipWithLine(before: number, after = 0): void {
    this.reader.skipVarints(before);
    this.line();
    this.reader.skipVarints(after);
  }

  line(): number {
    this.#line += this.reader.zigzag();
    return this.#line;
  }

  string(): string {
    return this.#strings.at(this.reader.varint());
  }

  /** The uses, which are the rest of the record from `start`; only those that may be of one of some names, if these are given. */
  usesAt(start: number, names?: WantedNames): Use[] {
    const uses: Use[] = [];
    const isNamed = names && this.#strings.among(names);
    const aliases = names && this.#aliasesOf(isNamed);
    if (aliases?.size === 0 && !isNamed) return uses;
    const { reader } = this;
    reader.position = start;
    let line = 0;
    for (let left = reader.varint(); left > 0; left--) {
      const packed = reader.u8();
      const kind = USE_KINDS[packed & 7] ?? fail("a kind of use");
      const name = reader.varint();
      line += reader.zigzag();
      const enclosing = reader.varint();
      const meaning = reader.varint();
      if (aliases && isNamed?.[name] !== 1 && !aliases.has(meaning)) continue;
      uses.push({
        kind,
        name: this.#strings.at(name),
        line,
        enclosing: enclosing === 0 ? null : this.#strings.at(enclosing - 1),
        meaning: this.#meaningAt(meaning),
        ...(packed > 7 && { arguments: (packed >>> 3) - 1 }),
      });
    }
    if (!reader.atEnd) fail("its end");
    return uses;
  }

  /** Numbers of the meanings whose uses may be of one of some names, however they are written. */
  #aliasesOf(isNamed: Uint8Array | undefined): ReadonlySet<number> {
    const aliases = new Set<number>();
    for (let i = 0; i < this.#imports.length; i += 2) {
      const name = this.#imports[i + 1] as number;
      if (isNamed?.[name] === 1 || isWholeModule({ name: this.#strings.at(name) }))
        aliases.add(this.#imports[i] as number);
    }
    return aliases;
  }

  meaning(): Meaning {
    return this.#meaningAt(this.reader.varint());
  }

  member(): { line: number; type?: Meaning } {
    const line = this.line();
    const type = this.reader.varint();
    return type === 0 ? { line } : { line, type: this.#meaningAt(type - 1) };
  }

  #meaningAt(number: number): Meaning {
    if (number >= this.#count) fail("a meaning");
    while (this.#meanings.length <= number) this.#meanings.push(this.#nextMeaning());
    return this.#meanings[number] as Meaning;
  }

  #nextMeaning(): Meaning {
    const next = this.#next;
    const meaning = () => this.#meanings[next.varint()] ?? fail("a meaning");
    const string = () => this.#strings.at(next.varint());
    const to = MEANINGS[next.u8()] ?? fail("a kind of meaning");
    switch (to) {
      case "local":
        return { to, line: next.varint() };
      case "variable":
        return { to, line: next.varint(), of: meaning() };
      case "import":
        return { to, module: string(), name: string() };
      case "member":
        return { to, of: meaning(), name: string() };
      case "returned":
        return { to, by: meaning() };
      case "instance":
      case "value":
      case "super":
      case "likely":
        return { to, of: meaning() };
      case "first":
      case "either":
      case "same":
        return { to, of: meaning(), otherwise: meaning() };
      case "generic":
        return { to, of: meaning(), by: meaning() };
      case "overload":
        return { to, line: next.varint(), takes: next.varint() };
      case "handed":
        return { to, by: meaning(), at: next.varint() };
      case "decorated":
        return { to, line: next.varint(), by: meaning() };
      case "opaque":
      case "ambiguous":
      case "global":
        return { to };
    }
  }
}

function fail(what: string): never {
  throw new SearchFormatError(`a record of uses is damaged: ${what}`);
}
