import type { Hash } from "node:crypto";
import { corrupt, GitError, overLimit, type Scrub } from "../errors.ts";
import { STDERR_MAX_BYTES } from "../limits.ts";
import { newHash, type ObjectFormat, oidBytes, toHex } from "../object.ts";
import type { PacketReader } from "../wire/pkt-line.ts";

const INITIAL_BYTES = 256 * 1024;

/** The pack's bytes as one sliding buffer: the parser reads at `pos`, {@link fill} appends at `end`. */
export class PackSource {
  buf = new Uint8Array(INITIAL_BYTES);
  pos = 0;
  end = 0;
  /** Offset in the pack of `buf[0]`. */
  base = 0;
  /** Progress and error text that the server sent along with the pack. */
  progressText = "";
  readonly #packets: PacketReader;
  readonly #sideBand: boolean;
  readonly #format: ObjectFormat;
  readonly #scrub: Scrub;
  readonly #maxBuffered: number;
  readonly #hash: Hash;
  #hashed = 0;
  #fatal: string | undefined;
  #over = false;

  constructor(packets: PacketReader, sideBand: boolean, format: ObjectFormat, scrub: Scrub, maxBuffered: number) {
    this.#packets = packets;
    this.#sideBand = sideBand;
    this.#format = format;
    this.#scrub = scrub;
    this.#maxBuffered = maxBuffered;
    this.#hash = newHash(format);
  }

  readonly #onBand = (band: number, data: Uint8Array): void => {
    if (band === 1) this.#append(data);
    else if (band === 2 || band === 3) {
      this.progressText = (this.progressText + new TextDecoder().decode(data)).slice(-STDERR_MAX_BYTES);
      if (band === 3) this.#fatal = (this.#fatal ?? "") + new TextDecoder().decode(data);
    } else throw new GitError("PROTOCOL", `unknown side-band ${band}`, { stderr: this.#scrub(this.progressText) });
  };

  #append(data: Uint8Array): void {
    const rest = this.end - this.pos;
    if (this.end + data.length > this.buf.length) {
      this.#compact();
      const needed = rest + data.length;
      if (needed > this.#maxBuffered) throw overLimit(`more than ${this.#maxBuffered} bytes of unparsed input`);
      if (needed > this.buf.length) {
        const bigger = new Uint8Array(Math.min(this.#maxBuffered, Math.max(needed, this.buf.length * 2)));
        bigger.set(this.buf.subarray(0, this.end));
        this.buf = bigger;
      }
    }
    this.buf.set(data, this.end);
    this.end += data.length;
  }

  /** Hashes the consumed bytes and moves the rest to the front. */
  #compact(): void {
    this.#hash.update(this.buf.subarray(this.#hashed, this.pos));
    this.buf.copyWithin(0, this.pos, this.end);
    this.base += this.pos;
    this.end -= this.pos;
    this.pos = 0;
    this.#hashed = 0;
  }

  /** Appends at least one byte; false at the end of the pack's bytes. */
  async fill(): Promise<boolean> {
    const before = this.base + this.end;
    while (!this.#over) {
      if (this.#sideBand) {
        if (!(await this.#packets.pumpSideBand(this.#onBand))) this.#over = true;
      } else {
        const data = await this.#packets.pumpRaw();
        if (data === undefined) this.#over = true;
        else this.#append(data);
      }
      if (this.#fatal !== undefined) throw remoteFatal(this.#fatal, this.#scrub(this.progressText));
      if (this.base + this.end > before) return true;
    }
    return false;
  }

  /** The error for a pack that stops in the middle. */
  truncated(): GitError {
    return new GitError("NETWORK", "the server stopped before the pack was complete", {
      stderr: this.#scrub(this.progressText),
    });
  }

  /** Reads the trailer and compares it with the hash of everything before it. @throws GitError CORRUPT */
  async verifyTrailer(): Promise<void> {
    const length = oidBytes(this.#format);
    while (this.end - this.pos < length) if (!(await this.fill())) throw this.truncated();
    this.#hash.update(this.buf.subarray(this.#hashed, this.pos));
    this.#hashed = this.pos;
    const expected = toHex(this.buf, this.pos, length);
    this.pos += length;
    if (this.#hash.digest("hex") !== expected) throw corrupt("pack checksum does not match");
  }

  /** Reads the rest of the response, which may still contain a fatal message. */
  async drain(): Promise<void> {
    while (await this.fill()) this.pos = this.end;
  }
}

/** Maps a server's fatal message (side-band 3, ERR packet) to a {@link GitError}. */
export function remoteFatal(message: string, stderr: string): GitError {
  const text = message.trim();
  const lower = text.toLowerCase();
  const options = { stderr: stderr === "" ? text : stderr };
  if (/not our ref|unknown revision|bad object|does not exist on the server|no such ref/.test(lower)) {
    return new GitError("REF_NOT_FOUND", `the server does not have it: ${text}`, options);
  }
  if (/repository .{0,500}(not found|not exist)|not found|no such repository/.test(lower)) {
    return new GitError("NOT_FOUND", `repository not found: ${text}`, options);
  }
  if (/access denied|permission|unauthori[sz]ed|authentication|forbidden/.test(lower)) {
    return new GitError("AUTH", `access denied: ${text}`, options);
  }
  return new GitError("PROTOCOL", `the server refused: ${text}`, options);
}
