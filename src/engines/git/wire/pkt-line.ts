import { Buffer } from "node:buffer";
import { overLimit, protocolError } from "../errors.ts";
import type { BodyReader } from "./http.ts";
import { PKT_MAX_BYTES } from "../limits.ts";

export const FLUSH = "0000";
export const DELIM = "0001";

/** One text pkt-line: four hex digits of length, then the text. */
export function pkt(text: string): string {
  const length = Buffer.byteLength(text) + 4;
  if (length > PKT_MAX_BYTES) throw protocolError(`pkt-line of ${length} bytes is too long`);
  return length.toString(16).padStart(4, "0") + text;
}

export type Packet =
  | { readonly kind: "data"; readonly data: Uint8Array }
  | { readonly kind: "flush" | "delim" | "end" }
  /** End of the body, between two packets. */
  | { readonly kind: "eof" };

/** A packet's text without its line end. */
export function packetText(data: Uint8Array): string {
  const text = Buffer.from(data.buffer, data.byteOffset, data.length).toString("utf8");
  return text.endsWith("\n") ? text.slice(0, -1) : text;
}

function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const lower = code | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}

/** Parses the four length digits. @throws GitError PROTOCOL */
function packetLength(bytes: Uint8Array, at: number): number {
  let length = 0;
  for (let i = 0; i < 4; i++) {
    const digit = hexDigit(bytes[at + i]!);
    if (digit < 0) {
      const seen = Buffer.from(bytes.subarray(at, at + 4)).toString("latin1");
      throw protocolError(`bad pkt-line length ${JSON.stringify(seen)}: not a Git smart-HTTP answer`);
    }
    length = length * 16 + digit;
  }
  if (length === 3 || length > PKT_MAX_BYTES) throw protocolError(`bad pkt-line length ${length}`);
  return length;
}

/** Reads pkt-lines, side-band pack data and raw bytes from one response body. */
export class PacketReader {
  readonly #body: BodyReader;
  #chunk: Uint8Array = new Uint8Array(0);
  #pos = 0;
  /** The buffer that the chunk begins in, if it is joined from several reads. */
  #joined: Uint8Array | undefined;
  /** Remaining payload bytes of the current side-band packet, and its band. */
  #left = 0;
  #band = 0;

  constructor(body: BodyReader) {
    this.#body = body;
  }

  async #more(): Promise<boolean> {
    const length = this.#chunk.length - this.#pos;
    if (length > PKT_MAX_BYTES) throw overLimit("too much buffered input");
    if (length === 0) this.#joined = undefined;
    // The next read may overwrite the rest of this one.
    else if (this.#joined === undefined) this.#moveRest(2 * length);
    const next = await this.#body.read();
    if (next === undefined) return false;
    if (this.#joined === undefined) {
      this.#chunk = next;
      this.#pos = 0;
      return true;
    }
    if (this.#chunk.length + next.length > this.#joined.length) this.#moveRest(2 * (length + next.length));
    this.#joined.set(next, this.#chunk.length);
    this.#chunk = this.#joined.subarray(0, this.#chunk.length + next.length);
    return true;
  }

  /** Copies the rest of the chunk into a new buffer. Callers double its size, so that a packet of many small reads is copied few times. */
  #moveRest(capacity: number): void {
    const rest = this.#chunk.subarray(this.#pos);
    this.#joined = new Uint8Array(capacity);
    this.#joined.set(rest);
    this.#chunk = this.#joined.subarray(0, rest.length);
    this.#pos = 0;
  }

  /** The next packet. @throws GitError NETWORK when the body ends inside one */
  async read(): Promise<Packet> {
    while (this.#chunk.length - this.#pos < 4) {
      if (await this.#more()) continue;
      if (this.#chunk.length === this.#pos) return { kind: "eof" };
      throw this.#body.cutOff("inside a pkt-line");
    }
    const length = packetLength(this.#chunk, this.#pos);
    if (length < 4) {
      this.#pos += 4;
      return { kind: length === 0 ? "flush" : length === 1 ? "delim" : "end" };
    }
    while (this.#chunk.length - this.#pos < length) {
      if (!(await this.#more())) throw this.#body.cutOff("inside a pkt-line");
    }
    const data = this.#chunk.subarray(this.#pos + 4, this.#pos + length);
    this.#pos += length;
    return { kind: "data", data };
  }

  /**
   * Demultiplexes the available side-band packets (waits for the first) and passes each piece to `onBand` without
   * copying. False at a flush packet or the end of the body.
   */
  async pumpSideBand(onBand: (band: number, data: Uint8Array) => void): Promise<boolean> {
    if (this.#pos >= this.#chunk.length && !(await this.#more())) {
      if (this.#left > 0) throw this.#body.cutOff("inside a side-band packet");
      return false;
    }
    for (;;) {
      const chunk = this.#chunk;
      if (this.#left > 0) {
        const n = Math.min(this.#left, chunk.length - this.#pos);
        onBand(this.#band, chunk.subarray(this.#pos, this.#pos + n));
        this.#pos += n;
        this.#left -= n;
      }
      const available = chunk.length - this.#pos;
      if (available === 0) return true;
      if (available >= 4) {
        const length = packetLength(chunk, this.#pos);
        if (length === 0) {
          this.#pos += 4;
          return false;
        }
        if (length < 4) throw protocolError("unexpected packet inside the pack");
        if (length === 4) {
          this.#pos += 4;
          continue;
        }
        if (available >= 5) {
          this.#band = chunk[this.#pos + 4]!;
          this.#left = length - 5;
          this.#pos += 5;
          continue;
        }
      }
      // The header is split over two reads.
      if (!(await this.#more())) throw this.#body.cutOff("inside a side-band packet");
    }
  }

  /** The bytes that have arrived, at least one. Undefined at the end of the body. */
  async pumpRaw(): Promise<Uint8Array | undefined> {
    if (this.#pos >= this.#chunk.length && !(await this.#more())) return undefined;
    const data = this.#chunk.subarray(this.#pos);
    this.#pos = this.#chunk.length;
    return data;
  }

  cancel(): void {
    this.#body.cancel();
  }

  cutOff(where: string): Error {
    return this.#body.cutOff(where);
  }
}
