import { OidTable, readHex } from "../../engines/git/index.ts";
import { mayReplace } from "../../engines/parsing/detect.ts";
import type { LanguageId } from "../../engines/parsing/languages.ts";

const SHA256_BYTES = 32;
const INITIAL_ROWS = 1024;

const UNKNOWN = 0;
const HASHED = 1;
/** States from this value on are reasons to skip the blob. */
const FIRST_REASON = 2;

/** The state of a run's blobs: one row each, about 80 bytes outside the JavaScript heap. */
export class BlobTable {
  readonly #oids: OidTable;
  /** By row: the blob's language, or several if files of different languages have the same content. */
  readonly #languages: (LanguageId | LanguageId[] | undefined)[] = [];
  /** By row: the language found in the blob's content, see {@link languageAt}. */
  readonly #contentLanguages = new Map<number, LanguageId>();
  /** Rows with a file whose language only the `#!` line determines. */
  readonly #scripts = new Set<number>();
  readonly #reasons: string[] = [];
  /** By row: why a blob has a text only. */
  readonly #textReasons = new Map<number, string>();
  /** By row: length in bytes plus one; 0 if it is not known. */
  #sizes = new Float64Array(INITIAL_ROWS);
  #states = new Uint8Array(INITIAL_ROWS);
  #hashes = Buffer.alloc(INITIAL_ROWS * SHA256_BYTES);

  /** @param idBytes length of the repository's object ids */
  constructor(idBytes: number) {
    this.#oids = new OidTable(idBytes);
  }

  get size(): number {
    return this.#oids.size;
  }

  *oidsInOrder(): Generator<string> {
    for (let row = 0; row < this.size; row++) yield this.#oids.oidAt(row);
  }

  oidAt(row: number): string {
    return this.#oids.oidAt(row);
  }

  /** The blob's row, or -1. */
  find(oid: string): number {
    return this.#oids.find(oid);
  }

  /** Records that a file of this language has the blob as its content; null if the `#!` line determines the language. */
  want(oid: string, language: LanguageId | null): void {
    const row = this.#row(oid);
    if (language === null) {
      this.#scripts.add(row);
      return;
    }
    const before = this.#languages[row];
    if (before === undefined) this.#languages[row] = language;
    else if (typeof before === "string") {
      if (before !== language) this.#languages[row] = [before, language];
    } else if (!before.includes(language)) before.push(language);
  }

  /** Records that a file with the blob as its content is to be searched, but not ranked. */
  wantText(oid: string): void {
    this.#row(oid);
  }

  languagesAt(row: number): LanguageId[] {
    const stated = this.#languages[row];
    const named = stated === undefined ? [] : typeof stated === "string" ? [stated] : stated;
    const languages = new Set(named.map((language) => this.languageAt(row, language) ?? language));
    const interpreter = this.#scripts.has(row) ? this.languageAt(row, null) : undefined;
    return interpreter === undefined ? [...languages] : [...languages.add(interpreter)];
  }

  /** Records the language of the blob's `#!` line, or what its content says against its name: `cpp` in a file with a C name. */
  setContentLanguage(oid: string, language: LanguageId): void {
    this.#contentLanguages.set(this.#row(oid), language);
  }

  /** The language of a file with the blob as its content; `named` is what its name says, null if it says none. */
  languageAt(row: number, named: LanguageId | null): LanguageId | undefined {
    const found = this.#contentLanguages.get(row);
    if (named === null) return found && mayReplace(found) ? undefined : found;
    return found && mayReplace(found, named) ? found : named;
  }

  /** SHA-256 of the blob's bytes in hex, if known. */
  sha256At(row: number): string | undefined {
    if (this.#states[row] !== HASHED) return undefined;
    return this.#hashes.toString("hex", row * SHA256_BYTES, (row + 1) * SHA256_BYTES);
  }

  setSha256(oid: string, sha256: string): void {
    const row = this.#row(oid);
    readHex(sha256, this.#hashes, row * SHA256_BYTES);
    this.#states[row] = HASHED;
  }

  /** Records why the blob's content is not ranked, although its text is stored. */
  setTextOnly(oid: string, reason: string): void {
    this.#textReasons.set(this.#row(oid), reason);
  }

  /** Why the blob's content is not ranked, although its text is stored; undefined if it is ranked, or not stored. */
  textOnlyAt(row: number): string | undefined {
    return this.#textReasons.get(row);
  }

  setSize(oid: string, size: number): void {
    this.#sizes[this.#row(oid)] = size + 1;
  }

  /** Length of the blob in bytes; null if it is not known. */
  sizeAt(row: number): number | null {
    const size = this.#sizes[row] ?? 0;
    return size === 0 ? null : size - 1;
  }

  /** The reason why nothing of the blob is stored, if any. */
  skipAt(row: number): string | undefined {
    const state = this.#states[row] ?? UNKNOWN;
    return state < FIRST_REASON ? undefined : this.#reasons[state - FIRST_REASON];
  }

  setSkip(oid: string, reason: string): void {
    const row = this.#row(oid);
    let index = this.#reasons.indexOf(reason);
    if (index < 0) index = this.#reasons.push(reason) - 1;
    this.#states[row] = FIRST_REASON + index;
  }

  #row(oid: string): number {
    const row = this.#oids.add(oid);
    if (row >= this.#states.length) {
      const states = new Uint8Array(this.#states.length * 2);
      states.set(this.#states);
      this.#states = states;
      const hashes = Buffer.alloc(this.#hashes.length * 2);
      hashes.set(this.#hashes);
      this.#hashes = hashes;
      const sizes = new Float64Array(states.length);
      sizes.set(this.#sizes);
      this.#sizes = sizes;
    }
    return row;
  }
}
