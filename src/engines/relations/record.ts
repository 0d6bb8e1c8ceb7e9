import { ByteReader, ByteWriter } from "../search/bytes.ts";
import { SearchFormatError } from "../search/types.ts";
import {
  callbackKey,
  type ClassInfo,
  type FileUses,
  type Import,
  type Meaning,
  type Use,
  type UseKind,
} from "./types.ts";

/**
 * The record of a file's uses, as segments keep it; all numbers are varints, lines are written as differences:
 *
 *   strings    count, then each
 *   meanings   count, then each: number of its kind (1 byte), then strings by position, meanings by position among those before it
 *   imports    count, then each: module, name, line
 *   bindings, exports   count, then each: name, meaning
 *   stars      count, then each: module
 *   classes    count, then each: line, members (count; name, line, 0 or type + 1), bases (count; meaning)
 *   returns    count, then each: line, meaning
 *   callbacks  count, then each: line, number of the parameter (1 byte), meaning
 *   uses       count, then each: number of its kind + 4 × (number of arguments + 1, or 0) (1 byte), name, line, enclosing (0 for none), meaning
 *
 * Equal strings and meanings are written once. The uses, which are most of it, come last: of most files that a question reads, it needs
 * only what other files may mean. A change of any of this, or of the order of the lists below, raises `USES_VERSION`.
 */

const USE_KINDS: readonly UseKind[] = ["call", "construct", "inherit", "decorator"];
const MEANINGS: readonly Meaning["to"][] = [
  "local",
  "variable",
  "import",
  "member",
  "returned",
  "instance",
  "opaque",
  "ambiguous",
  "global",
  "likely",
  "handed",
  "decorated",
  "first",
  "overload",
  "either",
  "value",
];
/** Arguments of a call that are counted. */
const MAX_ARGUMENTS = 62;

/** The record of a file's uses. `isWithheld` names strings that must not be stored; they become empty. */
export function encodeUses(file: FileUses, isWithheld: (text: string) => boolean = () => false): Uint8Array {
  const body = new Encoder(isWithheld);
  body.list(file.imports, ({ module, name, line }) => {
    body.string(module);
    body.string(name);
    body.line(line);
  });
  for (const named of [file.bindings, file.exports])
    body.list([...named], ([name, meaning]) => {
      body.string(name);
      body.meaning(meaning);
    });
  body.list(file.stars, (module) => body.string(module));
  body.list(file.classes, ({ line, members, bases }) => {
    body.line(line);
    body.list([...members], ([name, member]) => {
      body.string(name);
      body.line(member.line);
      body.writer.varint(member.type === undefined ? 0 : body.numberOf(member.type) + 1);
    });
    body.list(bases, (base) => body.meaning(base));
  });
  body.list([...file.returns], ([line, meaning]) => {
    body.line(line);
    body.meaning(meaning);
  });
  body.list([...file.callbacks], ([key, meaning]) => {
    body.line(key >>> 6);
    body.writer.u8(key & 63);
    body.meaning(meaning);
  });
  body.startLines();
  body.list(file.uses, ({ kind, name, line, enclosing, meaning, arguments: given }) => {
    body.writer.u8(USE_KINDS.indexOf(kind) + 4 * (given === undefined ? 0 : Math.min(given, MAX_ARGUMENTS) + 1));
    body.string(name);
    body.line(line);
    body.writer.varint(enclosing === null ? 0 : body.positionOf(enclosing) + 1);
    body.meaning(meaning);
  });
  return body.finish();
}

class Encoder {
  readonly writer = new ByteWriter();
  readonly #isWithheld: (text: string) => boolean;
  readonly #strings = new Map<string, number>();
  /** Numbers of meanings by `keyOf`. */
  readonly #numbers = new Map<number, number>();
  readonly #meanings = new ByteWriter();
  #line = 0;

  constructor(isWithheld: (text: string) => boolean) {
    this.#isWithheld = isWithheld;
  }

  list<T>(items: readonly T[], write: (item: T) => void): void {
    this.writer.varint(items.length);
    for (const item of items) write(item);
  }

  line(line: number): void {
    this.writer.zigzag(line - this.#line);
    this.#line = line;
  }

  /** Lines that follow are counted from 0 again. */
  startLines(): void {
    this.#line = 0;
  }

  string(text: string): void {
    this.writer.varint(this.positionOf(text));
  }

  meaning(meaning: Meaning): void {
    this.writer.varint(this.numberOf(meaning));
  }

  positionOf(text: string): number {
    const known = this.#strings.get(text);
    if (known !== undefined) return known;
    this.#strings.set(text, this.#strings.size);
    return this.#strings.size - 1;
  }

  /** Number of a meaning; those that it consists of are written before it. */
  numberOf(meaning: Meaning): number {
    const kind = MEANINGS.indexOf(meaning.to);
    const parts = this.#partsOf(meaning);
    const key = keyOf(kind, parts);
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    this.#meanings.u8(kind);
    for (const part of parts) this.#meanings.varint(part);
    this.#numbers.set(key, this.#numbers.size);
    return this.#numbers.size - 1;
  }

  #partsOf(meaning: Meaning): readonly number[] {
    switch (meaning.to) {
      case "local":
        return [meaning.line];
      case "variable":
        return [meaning.line, this.numberOf(meaning.of)];
      case "import":
        return [this.positionOf(meaning.module), this.positionOf(meaning.name)];
      case "member":
        return [this.numberOf(meaning.of), this.positionOf(meaning.name)];
      case "returned":
        return [this.numberOf(meaning.by)];
      case "instance":
      case "value":
      case "likely":
        return [this.numberOf(meaning.of)];
      case "first":
      case "either":
        return [this.numberOf(meaning.of), this.numberOf(meaning.otherwise)];
      case "overload":
        return [meaning.line, meaning.takes];
      case "handed":
        return [this.numberOf(meaning.by), meaning.at];
      case "decorated":
        return [meaning.line, this.numberOf(meaning.by)];
      case "opaque":
      case "ambiguous":
      case "global":
        return [];
    }
  }

  finish(): Uint8Array {
    const whole = new ByteWriter();
    whole.varint(this.#strings.size);
    for (const text of this.#strings.keys()) whole.string(this.#isWithheld(text) ? "" : text);
    whole.varint(this.#numbers.size);
    whole.bytes(this.#meanings.view());
    whole.bytes(this.writer.view());
    return whole.finish();
  }
}

/** One number for a meaning: files have less than 2^24 lines, names and meanings. */
function keyOf(kind: number, [first = 0, second = 0]: readonly number[]): number {
  return kind + 16 * (first + 2 ** 24 * second);
}

/** The uses of a file as they are stored. */
export interface StoredUses extends FileUses {
  /**
   * The uses that may be of one of some names: they are written with it, are an alias of it, or of what a module exports as a whole, which
   * goes by any name. Most of a file's uses are none of them and are not decoded.
   */
  usesOf: (names: ReadonlySet<string>) => Use[];
}

/**
 * Decodes a record; its uses anew each time they are asked for, so that many files can be in memory. Throws `SearchFormatError` if it is
 * damaged; reading its uses may throw it, too.
 */
export function decodeUses(bytes: Uint8Array): StoredUses {
  const body = new Decoder(new ByteReader(bytes));
  const imports = body.list((): Import => ({ module: body.string(), name: body.string(), line: body.line() }));
  const named = () => new Map(body.list(() => [body.string(), body.meaning()] as const));
  const bindings = named();
  const exports = named();
  const stars = body.list(() => body.string());
  const classes = body.list((): ClassInfo => {
    const line = body.line();
    const members = body.list(() => [body.string(), body.member()] as const);
    return { line, members: new Map(members), bases: body.list(() => body.meaning()) };
  });
  const returns = new Map(body.list(() => [body.line(), body.meaning()] as const));
  const callbacks = new Map(body.list(() => [callbackKey(body.line(), body.reader.u8()), body.meaning()] as const));
  const start = body.reader.position;
  return {
    imports,
    bindings,
    exports,
    stars,
    classes,
    returns,
    callbacks,
    get uses() {
      return body.usesAt(start);
    },
    usesOf: (names) => body.usesAt(start, names),
  };
}

class Decoder {
  readonly reader: ByteReader;
  readonly #strings: string[];
  readonly #meanings: Meaning[] = [];
  #line = 0;

  constructor(reader: ByteReader) {
    this.reader = reader;
    this.#strings = reader.strings(reader.varint());
    for (let left = reader.varint(); left > 0; left--) this.#meanings.push(this.#nextMeaning());
  }

  list<T>(read: () => T): T[] {
    const items: T[] = [];
    // Not an array of the count's length: a damaged count must not take memory.
    for (let left = this.reader.varint(); left > 0; left--) items.push(read());
    return items;
  }

  line(): number {
    this.#line += this.reader.zigzag();
    return this.#line;
  }

  string(): string {
    return this.#strings[this.reader.varint()] ?? fail("a string");
  }

  /** The uses, which are the rest of the record from `start`; only those that may be of one of some names, if these are given. */
  usesAt(start: number, names?: ReadonlySet<string>): Use[] {
    const uses: Use[] = [];
    const isNamed = names && this.#strings.map((text) => names.has(text));
    const isMeant = names && this.#meanings.map((meaning) => isAliasOf(meaning, names));
    if (isNamed && isMeant && !isNamed.includes(true) && !isMeant.includes(true)) return uses;
    const { reader } = this;
    reader.position = start;
    let line = 0;
    for (let left = reader.varint(); left > 0; left--) {
      const packed = reader.u8();
      const kind = USE_KINDS[packed & 3] ?? fail("a kind of use");
      const name = reader.varint();
      line += reader.zigzag();
      const enclosing = reader.varint();
      const meaning = reader.varint();
      if (isNamed?.[name] === false && isMeant?.[meaning] === false) continue;
      uses.push({
        kind,
        name: this.#strings[name] ?? fail("a string"),
        line,
        enclosing: enclosing === 0 ? null : (this.#strings[enclosing - 1] ?? fail("a string")),
        meaning: this.#meanings[meaning] ?? fail("a meaning"),
        ...(packed > 3 && { arguments: (packed >>> 2) - 1 }),
      });
    }
    if (!reader.atEnd) fail("its end");
    return uses;
  }

  meaning(): Meaning {
    return this.#meanings[this.reader.varint()] ?? fail("a meaning");
  }

  member(): { line: number; type?: Meaning } {
    const line = this.line();
    const type = this.reader.varint();
    return type === 0 ? { line } : { line, type: this.#meanings[type - 1] ?? fail("a meaning") };
  }

  #nextMeaning(): Meaning {
    const to = MEANINGS[this.reader.u8()] ?? fail("a kind of meaning");
    switch (to) {
      case "local":
        return { to, line: this.reader.varint() };
      case "variable":
        return { to, line: this.reader.varint(), of: this.meaning() };
      case "import":
        return { to, module: this.string(), name: this.string() };
      case "member":
        return { to, of: this.meaning(), name: this.string() };
      case "returned":
        return { to, by: this.meaning() };
      case "instance":
      case "value":
      case "likely":
        return { to, of: this.meaning() };
      case "first":
      case "either":
        return { to, of: this.meaning(), otherwise: this.meaning() };
      case "overload":
        return { to, line: this.reader.varint(), takes: this.reader.varint() };
      case "handed":
        return { to, by: this.meaning(), at: this.reader.varint() };
      case "decorated":
        return { to, line: this.reader.varint(), by: this.meaning() };
      case "opaque":
      case "ambiguous":
      case "global":
        return { to };
    }
  }
}

/** Whether a use with a meaning may be of one of some names, however it is written. */
const isAliasOf = (meaning: Meaning, names: ReadonlySet<string>): boolean =>
  meaning.to === "import" && (isWholeModule(meaning) || names.has(meaning.name));

/** Whether a meaning is what a module exports as a whole, which goes by any name. */
export const isWholeModule = ({ name }: { name: string }): boolean => name === "default" || name === "*";

function fail(what: string): never {
  throw new SearchFormatError(`a record of uses is damaged: ${what}`);
}
