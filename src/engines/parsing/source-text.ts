const NEWLINE = 10;
const CARRIAGE_RETURN = 13;

/** A line weighs its non-whitespace characters, and at least this share of its length, so that no chunk is all padding. */
const PADDING_DIVISOR = 3;

/**
 * A file's text with the tables that map between its rows, UTF-16 offsets and bytes.
 *
 * A row ends at `\n` (a `\r` before it belongs to the line end); a lone `\r`, a form feed or U+2028 does not end a
 * row, as for git, grep and tree-sitter. Rows are 0-based here.
 */
export class SourceText {
  readonly bytes: Uint8Array;
  readonly text: string;
  readonly encoding: "utf-8" | "latin-1";
  /** Number of rows; a final `\n` opens no further row. */
  readonly lineCount: number;
  readonly longestLine: number;
  /** UTF-16 offset at which each row begins, and the text's length after the last. */
  readonly lineStarts: Uint32Array;
  /** weight(row a … row b exclusive) = weights[b] - weights[a]. */
  readonly weights: Uint32Array;
  readonly #singleByte: boolean;
  readonly #byteStarts: Uint32Array;
  /** Position of the last {@link byteAt} query. */
  #last = { row: -1, offset: 0, byte: 0 };

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    const utf8 = decodeUtf8(bytes);
    this.encoding = utf8 === undefined ? "latin-1" : "utf-8";
    this.text = utf8 ?? decodeLatin1(bytes);
    // In UTF-8, only ASCII text has as many characters as bytes.
    this.#singleByte = this.text.length === bytes.length;
    this.lineCount = lineCountOf(bytes);
    this.#byteStarts = new Uint32Array(this.lineCount + 1);
    this.weights = new Uint32Array(this.lineCount + 1);
    this.longestLine = this.#scanBytes();
    this.lineStarts = this.#singleByte ? this.#byteStarts : this.#scanText();
  }

  /** Fills the tables. Continuation bytes of UTF-8 weigh nothing. Returns the longest line in characters. */
  #scanBytes(): number {
    const { bytes, weights, lineCount } = this;
    const byteStarts = this.#byteStarts;
    const singleByte = this.#singleByte;
    let begin = 0;
    let total = 0;
    let longest = 0;
    for (let row = 0; row < lineCount; row++) {
      byteStarts[row] = begin;
      let at = begin;
      let solid = 0;
      let wide = 0;
      for (; at < bytes.length; at++) {
        const byte = bytes[at]!;
        if (byte > 32) {
          if (byte < 128 || byte >= 192 || singleByte) solid++;
          else wide++;
        } else if (byte === NEWLINE) break;
      }
      const characters = at - begin - wide;
      if (characters > longest) longest = characters;
      total += Math.max(solid, Math.floor(characters / PADDING_DIVISOR));
      weights[row + 1] = total;
      begin = at + 1;
    }
    byteStarts[lineCount] = bytes.length;
    return longest;
  }

  #scanText(): Uint32Array {
    const starts = new Uint32Array(this.lineCount + 1);
    const { text } = this;
    let offset = 0;
    for (let row = 1; row < this.lineCount; row++) {
      offset = text.indexOf("\n", offset) + 1;
      starts[row] = offset;
    }
    starts[this.lineCount] = text.length;
    return starts;
  }

  /** Sum of the weights of rows `from` to `to`, `to` exclusive. */
  weight(from: number, to: number): number {
    return this.weights[to]! - this.weights[from]!;
  }

  isBlank(row: number): boolean {
    return this.line(row).trim() === "";
  }

  /** UTF-16 offset of the end of a row's content, before its line end. */
  contentEnd(row: number): number {
    let end = this.lineStarts[row + 1]!;
    if (end > this.lineStarts[row]! && this.text.charCodeAt(end - 1) === NEWLINE) {
      end--;
      if (end > this.lineStarts[row]! && this.text.charCodeAt(end - 1) === CARRIAGE_RETURN) end--;
    }
    return end;
  }

  /** A row's content without its line end. */
  line(row: number): string {
    return this.text.slice(this.lineStarts[row], this.contentEnd(row));
  }

  /** Row of a UTF-16 offset; an offset at or past the end gives the last row. */
  rowAt(offset: number): number {
    const starts = this.lineStarts;
    let low = 0;
    let high = this.lineCount - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (starts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return Math.max(low, 0);
  }

  /** Byte offset of a UTF-16 offset. */
  byteAt(offset: number): number {
    if (this.#singleByte || this.lineCount === 0) return offset;
    const row = this.rowAt(offset);
    const last = this.#last;
    // Offsets mostly ascend, so a long line need not be walked from its start each time.
    const from = last.row === row && last.offset <= offset ? last : undefined;
    let byte = from?.byte ?? this.#byteStarts[row]!;
    for (let index = from?.offset ?? this.lineStarts[row]!; index < offset; index++) {
      const code = this.text.charCodeAt(index);
      // A surrogate pair is four bytes: two for each half.
      byte += code < 0x80 ? 1 : code < 0x800 || (code >= 0xd800 && code < 0xe000) ? 2 : 3;
    }
    this.#last = { row, offset, byte };
    return byte;
  }

  /** The text as UTF-16 code units, for the parser to copy from. */
  codeUnits(): Uint16Array {
    if (this.#singleByte) return new Uint16Array(this.bytes);
    const { text } = this;
    const units = new Uint16Array(text.length);
    for (let index = 0; index < units.length; index++) units[index] = text.charCodeAt(index);
    return units;
  }
}

/** Number of lines; a final line break opens no further line. */
export function lineCountOf(bytes: Uint8Array): number {
  if (bytes.length === 0) return 0;
  let lines = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) lines++;
  return bytes.at(-1) === NEWLINE ? lines : lines + 1;
}

/** Decodes UTF-8, keeping a byte order mark as U+FEFF; `undefined` if it is invalid. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Text of a file: UTF-8, or Latin-1 if it is not valid UTF-8. */
export function decodeText(bytes: Uint8Array): string {
  return decodeUtf8(bytes) ?? decodeLatin1(bytes);
}

/** Decodes ISO-8859-1, one character per byte. `TextDecoder("latin1")` would be windows-1252. */
function decodeLatin1(bytes: Uint8Array): string {
  const BLOCK = 8192;
  let text = "";
  for (let at = 0; at < bytes.length; at += BLOCK) text += String.fromCharCode(...bytes.subarray(at, at + BLOCK));
  return text;
}
