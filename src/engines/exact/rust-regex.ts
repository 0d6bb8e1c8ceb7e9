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

/** Memory beyond which an engine is not used for another pattern: the memory of WebAssembly never shrinks. */
const MAX_KEPT_BYTES = 24 * 1024 * 1024;
/** What matching may take before the instance is replaced: its allocator loses about as much as each list of matches takes. */
const MAX_GROWTH_BYTES = 16 * 1024 * 1024;
/**
 * Its allocator keeps cells for each size below 1 KB, in words, and 64 KB or more for the first of a size. So lines of small sizes are filled up
 * to a few of them.
 */
const MIN_LARGE_BYTES = 1028;
const SMALL_STEP = 128;
const LINE_BREAK = 10;
/** What `shortestMatch` returns if nothing matches. */
const NO_MATCH = 0x100000001;
/** Bytes that may mark the matches in a result: controls that are rare in texts. */
const MARKS = [0, 1, 2, 3, 4, 5, 6, 7, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 28, 29, 30, 31];
/** The error's text has the pattern behind so many spaces, and marks the place below. */
const INDENT = 4;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Compiles regular expressions in one instance of the WebAssembly at a time. */
export class RegexEngine {
  readonly #module: WebAssembly.Module;
  #instance: Instance;

  constructor(module: WebAssembly.Module) {
    this.#module = module;
    this.#instance = new Instance(module);
  }

  /** Whether it can be used for another pattern. */
  get isSmall(): boolean {
    return this.#instance.sizeBytes <= MAX_KEPT_BYTES;
  }

  /** Throws `PatternError`. The expression must be freed. */
  compile(pattern: string): RustRegex {
    return new RustRegex(this, pattern);
  }

  /** @internal A new instance if the last one has grown much since an expression was compiled in it. */
  instance(): Instance {
    if (this.#instance.hasGrown) this.#instance = new Instance(this.#module);
    return this.#instance;
  }
}

/** A compiled regular expression. It matches in time linear in the text, whatever the pattern is. */
export class RustRegex {
  readonly #engine: RegexEngine;
  readonly #pattern: string;
  #instance: Instance;
  #regex: number;

  /** @internal */
  constructor(engine: RegexEngine, pattern: string) {
    this.#engine = engine;
    this.#pattern = pattern;
    this.#instance = engine.instance();
    this.#regex = this.#instance.compile(pattern);
  }

  /** `text` must be valid UTF-8, here and below. */
  hasMatch(text: Uint8Array): boolean {
    return this.#instance.shortestMatch(this.#regex, text) >= 0;
  }

  /**
   * Offset at which a match ends, or is known, in the first line that has one; -1 if nothing matches. The expression must match line by line:
   * within a line, and at its end as at that of the text.
   */
  firstMatchEnd(text: Uint8Array): number {
    const length = text.length < MIN_LARGE_BYTES ? Math.ceil(text.length / SMALL_STEP) * SMALL_STEP : text.length;
    const end = this.#instance.shortestMatch(this.#regex, text, length);
    return end > text.length ? -1 : end;
  }

  /** Offsets of all matches, in bytes: start and end in turns. */
  matches(text: Uint8Array): number[] {
    const instance = this.#engine.instance();
    if (instance !== this.#instance) {
      this.#regex = instance.compile(this.#pattern);
      this.#instance = instance;
    }
    return instance.matches(this.#regex, text);
  }

  free(): void {
    this.#instance.free(this.#regex);
  }
}

/** An instance of the WebAssembly. Expressions are pointers in its memory. */
class Instance {
  readonly #exports: Exports;
  #bytes = new Uint8Array();
  /** Memory after the last expression was compiled. */
  #compiledBytes = 0;

  constructor(module: WebAssembly.Module) {
    this.#exports = this.#instantiate(module);
    this.#exports.__wbindgen_start();
  }

  get sizeBytes(): number {
    return this.#exports.memory.buffer.byteLength;
  }

  get hasGrown(): boolean {
    return this.sizeBytes > this.#compiledBytes + MAX_GROWTH_BYTES;
  }

  /** Throws `PatternError`. */
  compile(pattern: string): number {
    const bytes = encoder.encode(pattern);
    const [regex, error, failed] = this.#exports.rregex_new(this.#put(bytes), bytes.length);
    this.#compiledBytes = this.sizeBytes;
    if (failed === 0) return regex;
    const thrown = this.#exports.__wbindgen_export_2.get(error);
    this.#exports.__externref_table_dealloc(error);
    throw new PatternError(reasonOf(thrown instanceof Error ? thrown.message : String(thrown)));
  }

  /** Offset at which a match is known; -1 if nothing matches. The text is filled up with line breaks to `length`. */
  shortestMatch(regex: number, text: Uint8Array, length = text.length): number {
    const end = this.#exports.rregex_shortestMatch(regex, this.#put(text, length), length);
    return end === NO_MATCH ? -1 : end;
  }

  matches(regex: number, text: Uint8Array): number[] {
    const mark = markFor(text);
    const character = String.fromCharCode(mark);
    const by = encoder.encode(`${character}\${0}${character}`);
    const [pointer, length] = this.#exports.rregex_replaceAll(
      regex,
      this.#put(text),
      text.length,
      this.#put(by),
      by.length,
    );
    const marked = this.#memory().subarray(pointer, pointer + length);
    const offsets: number[] = [];
    for (let at = marked.indexOf(mark); at >= 0; at = marked.indexOf(mark, at + 1)) offsets.push(at - offsets.length);
    this.#exports.__wbindgen_free(pointer, length, 1);
    return offsets;
  }

  free(regex: number): void {
    this.#exports.__wbg_rregex_free(regex, 0);
  }

  /** Copies bytes into the memory, with line breaks behind them up to `length`. */
  #put(bytes: Uint8Array, length = bytes.length): number {
    const pointer = this.#exports.__wbindgen_malloc(length, 1) >>> 0;
    const memory = this.#memory();
    memory.set(bytes, pointer);
    if (length > bytes.length) memory.fill(LINE_BREAK, pointer + bytes.length, pointer + length);
    return pointer;
  }

  #memory(): Uint8Array {
    // A memory that grows gets a new buffer, which leaves the old view empty.
    if (this.#bytes.length === 0) this.#bytes = new Uint8Array(this.#exports.memory.buffer);
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
  return `is not a regular expression: ${reason.replace(/\s+/g, " ")}${place}; to find it as text, ask for fixed strings`;
}
