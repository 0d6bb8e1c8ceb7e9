/**
 * Rust's `regex` as the WebAssembly of the package `rregex`: its raw functions, on UTF-8 in its memory. The package's own binding copies
 * a text again for each call and makes an object for each match.
 */
import { wasm, type WasmImports, type WasmMemory, type WasmTable } from "../parsing/wasm.ts";

/** A pattern that cannot be compiled. The message says where it is wrong, and why. */
export class PatternError extends Error {
  override readonly name = "PatternError";
}

interface Exports {
  memory: WasmMemory;
  __wbindgen_export_2: WasmTable & { get(index: number): unknown; set(index: number, value: unknown): void };
  __wbindgen_malloc(bytes: number, alignment: number): number;
  __wbindgen_free(pointer: number, bytes: number, alignment: number): void;
  __externref_table_dealloc(index: number): void;
  __wbindgen_start(): void;
  __wbg_rregex_free(regex: number, unused: number): void;
  /** Text arguments are freed by the callee. The second is an error if the third is not 0. */
  rregex_new(pattern: number, bytes: number): [regex: number, error: number, failed: number];
  rregex_shortestMatch(regex: number, text: number, bytes: number): number;
  rregex_replaceAll(
    regex: number,
    text: number,
    bytes: number,
    replacement: number,
    replacementBytes: number,
  ): [text: number, bytes: number];
}

/** Memory beyond which an instance is not used again: it never shrinks. */
const MAX_KEPT_BYTES = 24 * 1024 * 1024;
/** What `shortestMatch` returns if nothing matches. */
const NO_MATCH = 0x100000001;
/** Bytes that may mark the matches in a result: controls that are rare in texts. */
const MARKS = [0, 1, 2, 3, 4, 5, 6, 7, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 28, 29, 30, 31];
const LINE_BREAK = 10;
/** The error's text has the pattern behind so many spaces, and marks the place below. */
const INDENT = 4;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** An instance of the WebAssembly, with the regular expressions that were compiled in it. */
export class RegexEngine {
  readonly #exports: Exports;
  #bytes = new Uint8Array();

  constructor(module: WebAssembly.Module) {
    this.#exports = this.#instantiate(module);
    this.#exports.__wbindgen_start();
  }

  /** Whether it can be used for another pattern. */
  get isSmall(): boolean {
    return this.#exports.memory.buffer.byteLength <= MAX_KEPT_BYTES;
  }

  /** Throws `PatternError`. The expression must be freed. */
  compile(pattern: string): RustRegex {
    const bytes = encoder.encode(pattern);
    const [regex, error, failed] = this.#exports.rregex_new(this.#put(bytes), bytes.length);
    if (failed === 0) return new RustRegex(this, regex);
    const thrown = this.#exports.__wbindgen_export_2.get(error);
    this.#exports.__externref_table_dealloc(error);
    throw new PatternError(reasonOf(thrown instanceof Error ? thrown.message : String(thrown)));
  }

  /** @internal */
  hasMatch(regex: number, text: Uint8Array): boolean {
    return this.#exports.rregex_shortestMatch(regex, this.#put(text), text.length) !== NO_MATCH;
  }

  /** @internal */
  matches(regex: number, text: Uint8Array): number[] {
    const offsets: number[] = [];
    const mark = markFor(text);
    const character = String.fromCharCode(mark);
    this.#replaceAll(regex, text, `${character}\${0}${character}`, (marked) => {
      for (let at = marked.indexOf(mark); at >= 0; at = marked.indexOf(mark, at + 1)) offsets.push(at - offsets.length);
    });
    return offsets;
  }

  /**
   * As `matches`, of an expression whose matches all end with their line. Ten times as fast where many match: for a replacement that does not
   * name the match, the engine looks for no groups.
   * @internal
   */
  matchesToLineEnd(regex: number, text: Uint8Array): number[] {
    const offsets: number[] = [];
    const mark = markFor(text);
    this.#replaceAll(regex, text, String.fromCharCode(mark), (marked) => {
      // What is between the matches is the same in both.
      let [from, end] = [0, 0];
      for (let at = marked.indexOf(mark); at >= 0; at = marked.indexOf(mark, from)) {
        const start = end + at - from;
        const lineEnd = text.indexOf(LINE_BREAK, start);
        end = lineEnd < 0 ? text.length : lineEnd;
        offsets.push(start, end);
        from = at + 1;
      }
    });
    return offsets;
  }

  #replaceAll(regex: number, text: Uint8Array, replacement: string, read: (replaced: Uint8Array) => void): void {
    const by = encoder.encode(replacement);
    const [pointer, length] = this.#exports.rregex_replaceAll(
      regex,
      this.#put(text),
      text.length,
      this.#put(by),
      by.length,
    );
    read(this.#memory().subarray(pointer, pointer + length));
    this.#exports.__wbindgen_free(pointer, length, 1);
  }

  /** @internal */
  free(regex: number): void {
    this.#exports.__wbg_rregex_free(regex, 0);
  }

  #put(bytes: Uint8Array): number {
    const pointer = this.#exports.__wbindgen_malloc(bytes.length, 1) >>> 0;
    this.#memory().set(bytes, pointer);
    return pointer;
  }

  #memory(): Uint8Array {
    const { buffer } = this.#exports.memory;
    if (this.#bytes.buffer !== buffer) this.#bytes = new Uint8Array(buffer);
    return this.#bytes;
  }

  #instantiate(module: WebAssembly.Module): Exports {
    const text = (pointer: number, length: number) =>
      decoder.decode(this.#memory().slice(pointer >>> 0, (pointer >>> 0) + length));
    const used: Record<string, unknown> = {
      __wbindgen_error_new: (pointer: number, length: number) => new Error(text(pointer, length)),
      __wbindgen_string_new: text,
      __wbindgen_throw: (pointer: number, length: number) => {
        throw new Error(text(pointer, length));
      },
      __wbindgen_init_externref_table: () => {
        const table = this.#exports.__wbindgen_export_2;
        const offset = table.grow(4);
        for (const [i, value] of [undefined, null, true, false].entries()) table.set(offset + i, value);
      },
    };
    // The rest serves functions that are not called.
    const imports: WasmImports = {};
    for (const { module: from, name } of wasm.Module.imports(module)) {
      imports[from] ??= {};
      imports[from][name] =
        used[name] ??
        (() => {
          throw new Error(`${name} is not available`);
        });
    }
    return new wasm.Instance(module, imports).exports as unknown as Exports;
  }
}

/** A compiled regular expression. It matches in time linear in the text, whatever the pattern is. */
export class RustRegex {
  readonly #engine: RegexEngine;
  readonly #regex: number;

  constructor(engine: RegexEngine, regex: number) {
    this.#engine = engine;
    this.#regex = regex;
  }

  /** `text` must be valid UTF-8, here and below. */
  hasMatch(text: Uint8Array): boolean {
    return this.#engine.hasMatch(this.#regex, text);
  }

  /** Offsets of all matches, in bytes: start and end in turns. */
  matches(text: Uint8Array): number[] {
    return this.#engine.matches(this.#regex, text);
  }

  /** As `matches`, of an expression whose matches all end with their line. */
  matchesToLineEnd(text: Uint8Array): number[] {
    return this.#engine.matchesToLineEnd(this.#regex, text);
  }

  free(): void {
    this.#engine.free(this.#regex);
  }
}

/** A byte that the text does not hold. */
function markFor(text: Uint8Array): number {
  const mark = MARKS.find((byte) => !text.includes(byte));
  if (mark === undefined) throw new RangeError("the text holds every control character");
  return mark;
}

/** The engine's error on one line, with the position in the pattern, from 1. */
function reasonOf(message: string): string {
  if (message.includes("size limit"))
    return "would take more than 10 MB compiled; use a shorter one, or smaller repetitions";
  const lines = message.split("\n");
  const reason = lines.findLast((line) => line.startsWith("error: "))?.slice("error: ".length) ?? message;
  const mark = lines.find((line) => /^ +\^+$/.test(line));
  const place = mark === undefined ? "" : ` at character ${mark.indexOf("^") - INDENT + 1}`;
  return `is not a regular expression: ${reason.replace(/\s+/g, " ")}${place}`;
}
