import type { GrammarName } from "./languages.ts";
import { ParseStack } from "./parse-stack.ts";
import {
  wasm,
  type WasmFunction,
  type WasmGlobalVariable,
  type WasmImports,
  type WasmMemory,
  type WasmTable,
} from "./wasm.ts";

const PAGE_BYTES = 65_536;
const MEBIBYTE = 1024 * 1024;

/**
 * Memory layout from address 0: the stack, the core's own data, the grammars' data, the heap.
 *
 * - The stack comes first, so that an overflow traps instead of overwriting data (ambiguous input makes the core
 *   recurse; the 64 KiB that emscripten gives by default are not enough). The engine's own call stack mostly ends first.
 * - Grammars are outside the heap, so that a file's heap limit does not depend on which grammars are loaded. The twenty
 *   take 30.1 MiB.
 * - The heap starts small and has a hard limit: ambiguous input requests gigabytes within a few operations, and a
 *   Worker has 128 MB. Of several thousand real files none needs more than 16 MiB.
 */
const CORE_AT = 2 * MEBIBYTE;
const GRAMMARS_AT = CORE_AT + PAGE_BYTES;
const HEAP_AT = GRAMMARS_AT + 31 * MEBIBYTE;
const INITIAL_HEAP_BYTES = MEBIBYTE;
export const MEMORY_LIMIT_BYTES = HEAP_AT + 39 * MEBIBYTE - PAGE_BYTES;
const GROW_BYTES = 2 * MEBIBYTE;

/** The core copies source text through a buffer of 10 KiB and keeps two bytes of it. */
const INPUT_BUFFER_UNITS = 5119;
/**
 * A piece that goes on where the last one ends was read to its end, the others mostly at their beginning: a scanner goes back to the start of a
 * line to count columns.
 */
const READS_OF_READING_ON = 40;
/** A scanner may allocate zero bytes and still write to them (Swift's does). */
const MIN_CALLOC_BYTES = 64;
/** First entry of the core in the table of functions. Entry 0 is the null function; the grammars come after the core. */
const CORE_TABLE_AT = 1;

/**
 * Thrown through the core when its heap would exceed the limit, or a parse has read all that it may. The core must then be booted again.
 *
 * No other answer ends every parse whose reads are used up: some scanners search for the end of a line, and go on for ever if the text
 * ends before it.
 */
export class LimitError extends Error {}

const NO_UNITS = new Uint16Array(0);

/** Addresses at which a grammar is linked; the same after every boot. */
interface GrammarPlace {
  module: WebAssembly.Module;
  dataAt: number;
  dataBytes: number;
  tableAt: number;
}

export interface LoadedGrammar {
  name: GrammarName;
  /** Type name by type id; anonymous tokens included. */
  types: string[];
  isNamed: boolean[];
  fieldIds: Map<string, number>;
  place: GrammarPlace;
  /** Generation of the core that the grammar is linked to, and its address in it. */
  generation: number;
  address: number;
}

/**
 * The tree-sitter core and its grammars, linked by the dynamic linking convention of WebAssembly
 * (https://github.com/WebAssembly/tool-conventions/blob/main/DynamicLinking.md): position-independent modules that
 * share a memory and a table. This replaces web-tree-sitter's start-up code, which keeps one instance per process; a hostile
 * file can leave that instance unusable. This core can be booted again in the same memory.
 */
export class TreeSitterCore {
  /** Functions of the running instance; replaced by {@link boot}. */
  exports: Record<string, WasmFunction> = {};
  /** The memory as 32-bit words; replaced when it grows. */
  words: Int32Array;
  /** Address of the buffer through which the core takes nodes and gives results. */
  transfer = 0;
  /** Incremented by {@link boot}: addresses of an earlier generation are invalid. */
  generation = 0;
  /** Code units of the text that is being parsed. */
  units: Uint16Array = NO_UNITS;
  /** Progress calls that the parse may still make. */
  remainingCalls = 0;
  /** Number of text pieces that the parse may still read; one that goes on where the last one ends counts as {@link READS_OF_READING_ON}. */
  remainingReads = 0;
  /** Sum of {@link ParseStack.errorDepth} that the parse may still reach. */
  remainingErrorDepth = 0;
  /** Address of the parser that {@link boot} made, and of its input. */
  parser = 0;
  input = 0;
  #stack: ParseStack | undefined;
  /** Where the last piece that was read ends. */
  #readTo = -1;
  #halves: Uint16Array;
  /** The core's data and the start of the heap, as restored by {@link rewind}. */
  #start = { data: new Int32Array(0), heap: new Int32Array(0) };
  readonly #module: WebAssembly.Module;
  readonly #memory: WasmMemory;
  readonly #table: WasmTable;
  #nextGrammarAt = GRAMMARS_AT;
  #stackPointer: WasmGlobalVariable | undefined;

  constructor(module: WebAssembly.Module) {
    this.#module = module;
    const { tableSize, memorySize } = linkInfo(module);
    if (memorySize > GRAMMARS_AT - CORE_AT) throw new Error("The parser's core needs more memory than is set aside.");
    this.#memory = new wasm.Memory({
      initial: Math.ceil((HEAP_AT + INITIAL_HEAP_BYTES) / PAGE_BYTES),
      maximum: Math.floor(MEMORY_LIMIT_BYTES / PAGE_BYTES),
    });
    this.#table = new wasm.Table({ element: "anyfunc", initial: CORE_TABLE_AT + tableSize });
    this.words = new Int32Array(this.#memory.buffer);
    this.#halves = new Uint16Array(this.#memory.buffer);
  }

  /** Bytes of memory held; never more than {@link MEMORY_LIMIT_BYTES}. */
  get memoryBytes(): number {
    return this.words.byteLength;
  }

  /**
   * Starts a fresh instance of the core in the same memory. All data of an earlier instance is discarded, including its
   * trees and parsers; grammars must be linked again.
   */
  boot(): void {
    // New memory is zero, and takes no room before it is written to.
    if (this.generation > 0) {
      this.words.fill(0, 0, GRAMMARS_AT >>> 2);
      this.words.fill(0, HEAP_AT >>> 2);
    }
    this.generation++;
    const stackPointer = new wasm.Global({ value: "i32", mutable: true }, CORE_AT);
    const address = (value: number) => new wasm.Global({ value: "i32", mutable: true }, value);
    const env = { ...this.#place(CORE_AT, CORE_TABLE_AT, stackPointer), ...this.#hooks() };
    const instance = new wasm.Instance(
      this.#module,
      completed(this.#module, {
        env,
        "GOT.mem": { __stack_low: address(0), __stack_high: address(CORE_AT), __heap_base: address(HEAP_AT) },
      }),
    );
    this.#stackPointer = stackPointer;
    this.exports = instance.exports;
    start(instance.exports);
    this.transfer = instance.exports["ts_init"]!();
    instance.exports["ts_parser_new_wasm"]!();
    this.parser = this.words[this.transfer >>> 2]!;
    this.input = this.words[(this.transfer >>> 2) + 1]!;
    this.#stack = new ParseStack(this.words, this.parser);
    this.#mark();
  }

  /** Saves the current heap as the state that {@link rewind} restores. */
  #mark(): void {
    const { words } = this;
    let end = (HEAP_AT + INITIAL_HEAP_BYTES) >>> 2;
    while (words[end - 1] === 0) end--;
    this.#start = { data: words.slice(CORE_AT >>> 2, GRAMMARS_AT >>> 2), heap: words.slice(HEAP_AT >>> 2, end) };
  }

  /**
   * Discards everything that was allocated since {@link boot} at once, so that every file is parsed with the same heap,
   * independent of earlier files.
   */
  rewind(): void {
    this.#readTo = -1;
    this.#stack!.restart();
    this.words.set(this.#start.data, CORE_AT >>> 2);
    this.words.set(this.#start.heap, HEAP_AT >>> 2);
  }

  /** Reserves memory and table entries for a grammar. */
  reserve(module: WebAssembly.Module): GrammarPlace {
    const { memorySize, memoryAlign, tableSize } = linkInfo(module);
    const dataAt = Math.ceil(this.#nextGrammarAt / memoryAlign) * memoryAlign;
    if (dataAt + memorySize > HEAP_AT) throw new Error("The grammars need more memory than is set aside for them.");
    this.#nextGrammarAt = dataAt + memorySize;
    return { module, dataAt, dataBytes: memorySize, tableAt: this.#table.grow(tableSize) };
  }

  /** Links a grammar into the running instance; returns the address of its `TSLanguage`. */
  link({ module, dataAt, dataBytes, tableAt }: GrammarPlace): number {
    new Uint8Array(this.#memory.buffer, dataAt, dataBytes).fill(0);
    const core = this.exports;
    const env = {
      ...core,
      ...this.#place(dataAt, tableAt, this.#stackPointer!),
      // Zero all of it: otherwise a scanner's reads would depend on what was parsed before.
      calloc: (count: number, size: number) => core["calloc"]!(1, Math.max(MIN_CALLOC_BYTES, count * size)),
    };
    const { exports } = new wasm.Instance(module, completed(module, { env }));
    start(exports);
    const language = Object.keys(exports).find((name) => /^tree_sitter_(?!.*external_scanner_)\w+$/.test(name));
    if (language === undefined) throw new Error("A grammar exports no language.");
    return exports[language]!();
  }

  /** Reads a NUL-terminated string. */
  string(address: number): string {
    const bytes = new Uint8Array(this.#memory.buffer);
    return new TextDecoder().decode(bytes.subarray(address, bytes.indexOf(0, address)));
  }

  #place(dataAt: number, tableAt: number, stackPointer: WasmGlobalVariable): Record<string, unknown> {
    return {
      memory: this.#memory,
      __indirect_function_table: this.#table,
      __memory_base: new wasm.Global({ value: "i32", mutable: false }, dataAt),
      __table_base: new wasm.Global({ value: "i32", mutable: false }, tableAt),
      __stack_pointer: stackPointer,
    };
  }

  #hooks(): Record<string, unknown> {
    return {
      // Copies prepared code units into the core's buffer: no strings, no callbacks of callbacks.
      tree_sitter_parse_callback: (address: number, index: number, _row: number, _column: number, size: number) => {
        const begin = index >>> 0;
        const end = Math.min(begin + INPUT_BUFFER_UNITS, this.units.length);
        this.remainingReads -= begin === this.#readTo && begin < end ? READS_OF_READING_ON : 1;
        this.#readTo = end;
        if (this.remainingReads < 0) throw new LimitError();
        if (begin < end) this.#halves.set(this.units.subarray(begin, end), address >>> 1);
        this.words[size >>> 2] = Math.max(end - begin, 0);
      },
      tree_sitter_progress_callback: () => {
        this.remainingErrorDepth -= this.#stack!.errorDepth(this.words);
        return --this.remainingCalls >= 0 && this.remainingErrorDepth >= 0 ? 0 : 1;
      },
      emscripten_resize_heap: (bytes: number) => this.#grow(bytes >>> 0),
      _abort_js: () => {
        throw new wasm.RuntimeError("aborted");
      },
    };
  }

  #grow(bytes: number): number {
    if (bytes > MEMORY_LIMIT_BYTES) throw new LimitError();
    const target = Math.min(Math.max(bytes, this.memoryBytes + GROW_BYTES), MEMORY_LIMIT_BYTES);
    this.#memory.grow(Math.ceil((target - this.memoryBytes) / PAGE_BYTES));
    this.words = new Int32Array(this.#memory.buffer);
    this.#halves = new Uint16Array(this.#memory.buffer);
    return 1;
  }
}

function start(exports: Record<string, WasmFunction>): void {
  exports["__wasm_apply_data_relocs"]?.();
  exports["__wasm_call_ctors"]?.();
}

/** Imports without an implementation (a failed assertion, output, a logger) trap; a regular parse does not call them. */
function completed(module: WebAssembly.Module, given: WasmImports): WasmImports {
  const imports: WasmImports = { ...given };
  for (const { module: space, name, kind } of wasm.Module.imports(module)) {
    const names = (imports[space] ??= {});
    if (names[name] !== undefined || kind !== "function") continue;
    names[name] = () => {
      throw new wasm.RuntimeError(`${space}.${name} was called`);
    };
  }
  return imports;
}

const DYLINK_MEMORY_INFO = 1;

/** What a module needs to be linked, from its `dylink.0` section: sizes in bytes and table entries. */
function linkInfo(module: WebAssembly.Module): { memorySize: number; memoryAlign: number; tableSize: number } {
  const [section] = wasm.Module.customSections(module, "dylink.0");
  const bytes = new Uint8Array(section ?? new ArrayBuffer(0));
  let at = 1;
  const number = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  if (bytes[0] !== DYLINK_MEMORY_INFO) throw new Error("A grammar is not built for dynamic linking.");
  number();
  const memorySize = number();
  const memoryAlign = 2 ** number();
  return { memorySize, memoryAlign, tableSize: number() };
}
