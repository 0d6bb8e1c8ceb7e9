import { fstatSync, statSync, writeSync } from "node:fs";
import { devNull } from "node:os";
import { EXIT } from "../exit-codes.ts";

/**
 * stdout or stderr. Node takes 4 ms to make a stream of a file and 12 ms of a pipe, as long as a short command takes otherwise, so a text is
 * written without one. A terminal, and a pipe whose reader is slow, get the stream.
 */
export class Output {
  readonly #fd: number;
  readonly #makeStream: () => NodeJS.WriteStream;
  readonly #onError: (error: unknown) => void;
  #stream: NodeJS.WriteStream | undefined;
  #isTerminal: boolean | undefined;

  /** `onError`: called when a text cannot be written. */
  constructor(fd: number, makeStream: () => NodeJS.WriteStream, onError: (error: unknown) => void) {
    this.#fd = fd;
    this.#makeStream = makeStream;
    this.#onError = onError;
  }

  get stream(): NodeJS.WriteStream {
    return (this.#stream ??= this.#makeStream().on("error", this.#onError));
  }

  get isTTY(): boolean {
    return (this.#isTerminal ??= mayBeTerminal(this.#fd) && this.stream.isTTY);
  }

  write(text: string): void {
    let rest: Uint8Array = Buffer.from(text);
    try {
      while (!this.#stream && rest.length > 0) rest = rest.subarray(writeSync(this.#fd, rest));
    } catch (error) {
      if (codeOf(error) !== "EAGAIN") return this.#onError(error);
    }
    if (rest.length > 0) this.stream.write(rest);
  }
}

/** Ends the process if the reader has closed the pipe (`| head`), which is not a failure. Other errors of an output have nowhere to go. */
export function endIfClosed(error: unknown): void {
  if (codeOf(error) === "EPIPE") process.exit(EXIT.ok);
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

/** Whether a file may be a terminal: it is a device, and not the one that swallows everything. */
function mayBeTerminal(fd: number): boolean {
  try {
    const stat = fstatSync(fd);
    return stat.isCharacterDevice() && stat.rdev !== statSync(devNull, { throwIfNoEntry: false })?.rdev;
  } catch {
    return true;
  }
}
