import { ByteWriter } from "../search/bytes.ts";
import type { FileUses, Meaning, UseKind } from "./types.ts";

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
 *   uses       count, then each: number of its kind + 8 × (number of arguments + 1, or 0) (1 byte), name, line, enclosing (0 for none), meaning
 *
 * Equal strings and meanings are written once. `stored-uses.ts` reads it. The uses, which are most of it, come last: of most files that a question reads, it needs
 * only what other files may mean. A change of any of this, or of the order of the lists below, raises `USES_VERSION`.
 */

export const USE_KINDS: readonly UseKind[] = ["call", "construct", "inherit", "decorator", "reference"];
export const MEANINGS: readonly Meaning["to"][] = [
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
  "super",
  "same",
  "generic",
];
/** How many integers follow the number of each kind of meaning. */
export const PARTS: readonly number[] = [1, 2, 2, 2, 1, 1, 0, 0, 0, 1, 2, 2, 2, 2, 2, 1, 1, 2, 2];
/** Arguments of a call that are counted. */
const MAX_ARGUMENTS = 30;

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
    body.writer.u8(USE_KINDS.indexOf(kind) + 8 * (given === undefined ? 0 : Math.min(given, MAX_ARGUMENTS) + 1));
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
      case "super":
      case "likely":
        return [this.numberOf(meaning.of)];
      case "first":
      case "either":
      case "same":
        return [this.numberOf(meaning.of), this.numberOf(meaning.otherwise)];
      case "generic":
        return [this.numberOf(meaning.of), this.numberOf(meaning.by)];
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
  return kind + 32 * (first + 2 ** 24 * second);
}
