import { Language, Parser } from "web-tree-sitter";
import type { GrammarName, GrammarSource } from "./languages.ts";
import { SyntaxTree, type TreeBinding } from "./syntax-node.ts";
import { wasm, type WasmFunction, type WasmImports, type WasmInstance, type WasmMemory } from "./wasm.ts";

/** The core copies source text through a buffer of 10 KiB and keeps two bytes of it. */
const INPUT_BUFFER_UNITS = 5119;
/** One progress call stands for about this many parse operations. */
const OPERATIONS_PER_PROGRESS_CALL = 100;
/** Real files need up to 4.1 operations a character. Clocks stand still in workerd, so operations are what is counted. */
const OPERATIONS_PER_CHARACTER = 12;
const BASE_OPERATIONS = 200_000;
/**
 * The core ships with a stack of 64 KiB, which ambiguous input overruns (stack merging recurses), silently
 * overwriting the allocator's state. With this much, the engine's own call stack ends first, as a clean exception.
 */
const STACK_BYTES = 2 * 1024 * 1024;
/**
 * A parse that makes the core's heap grow beyond this is cancelled: ambiguous input can ask for gigabytes within few
 * operations, and a Worker has 128 MB. Seven thousand real files need 48 MB, grammars included.
 */
const MAX_HEAP_BYTES = 72 * 1024 * 1024;
/** Beyond this the heap is not let grow at all: one single operation can ask for gigabytes. */
const HARD_HEAP_BYTES = 80 * 1024 * 1024;
/** What must be free again once such a parse is thrown away. */
const SPARE_BYTES = 8 * 1024 * 1024;
const MIN_CALLOC_BYTES = 64;
/** After this many traps in one isolate the heap is not to be trusted any more. */
const MAX_TRAPS = 3;

/** Raised when the WebAssembly instance of this isolate can no longer parse. Another isolate can: retry there. */
export class ParserUnavailableError extends Error {
  constructor() {
    super("The syntax parser of this process stopped working; retry the file in another one.");
    this.name = "ParserUnavailableError";
  }
}

/** Thrown through the core when its heap would pass the hard limit; nothing in it is half-written then. */
class HeapLimitError extends Error {}

export interface LoadedGrammar {
  language: Language;
  /** Type name by type id; anonymous tokens included. */
  types: string[];
  fieldIds: Map<string, number>;
}

export type SyntaxResult =
  | { ok: true; tree: SyntaxTree; release: () => void }
  | { ok: false; reason: "budget" | "parser-error" };

/**
 * web-tree-sitter with the hooks that make it fit for a Worker: no run-time compilation, a budget of operations in
 * place of a clock, source text copied without strings, and raw node access.
 *
 * The core is a singleton of the process (web-tree-sitter keeps one instance), hence one engine for all parsers.
 */
export class SyntaxEngine {
  private readonly binding: TreeBinding;
  private readonly state: HookState;
  private readonly grammars = new Map<GrammarName, LoadedGrammar>();
  private readonly source: GrammarSource;
  private parser: Parser;
  private traps = 0;

  private constructor(binding: TreeBinding, state: HookState, source: GrammarSource) {
    this.binding = binding;
    this.state = state;
    this.source = source;
    this.parser = new Parser();
  }

  static async create(source: GrammarSource): Promise<SyntaxEngine> {
    const core = await source.core();
    const state: HookState = { units: new Uint16Array(0), remainingCalls: 0, heapBytes: 0, exhausted: false };
    let binding: TreeBinding | undefined;
    const restore = presentAsRenderer();
    try {
      const options = {
        instantiateWasm(imports: WasmImports, done: (instance: WasmInstance, module: WebAssembly.Module) => void) {
          const env = imports["env"]!;
          const memory = env["memory"] as WasmMemory;
          installHooks(env, memory, state, () => binding!.exports);
          const instance = new wasm.Instance(core, imports);
          binding = { exports: instance.exports, memory, transfer: 0 };
          done(instance, core);
          return instance.exports;
        },
      };
      await Parser.init(options);
    } finally {
      restore();
    }
    if (binding === undefined) throw new Error("web-tree-sitter was initialised before the parsing engine.");
    binding.transfer = binding.exports["ts_init"]!();
    const stack = binding.exports["malloc"]!(STACK_BYTES);
    binding.exports["_emscripten_stack_restore"]!((stack + STACK_BYTES) & ~15);
    return new SyntaxEngine(binding, state, source);
  }

  /** Loads a grammar on first use; throws what the source throws. */
  async grammar(name: GrammarName): Promise<LoadedGrammar> {
    const known = this.grammars.get(name);
    if (known !== undefined) return known;
    if (this.traps >= MAX_TRAPS) throw new ParserUnavailableError();
    const module = await this.source.grammar(name);
    const again = this.grammars.get(name);
    if (again !== undefined) return again;
    const language = Language.loadSync(module);
    const fieldIds = new Map<string, number>();
    for (const [id, field] of language.fields.entries()) if (field) fieldIds.set(field, id);
    const loaded: LoadedGrammar = { language, types: language.types, fieldIds };
    this.grammars.set(name, loaded);
    return loaded;
  }

  /**
   * Parses UTF-16 text. `release` must be called once the tree is no longer used: the core's heap never shrinks.
   *
   * @throws ParserUnavailableError after repeated traps.
   */
  parse(units: Uint16Array, text: string, grammar: LoadedGrammar): SyntaxResult {
    if (this.traps >= MAX_TRAPS) throw new ParserUnavailableError();
    const { state, parser, binding } = this;
    state.units = units;
    state.exhausted = false;
    state.heapBytes = Math.max(binding.memory.buffer.byteLength, MAX_HEAP_BYTES);
    const operations = BASE_OPERATIONS + units.length * OPERATIONS_PER_CHARACTER;
    state.remainingCalls = Math.ceil(operations / OPERATIONS_PER_PROGRESS_CALL);
    const stack = binding.exports["emscripten_stack_get_current"]!();
    try {
      parser.setLanguage(grammar.language);
      const tree = parser.parse(NO_TEXT);
      if (tree === null) {
        parser.reset();
        return { ok: false, reason: state.exhausted ? "budget" : "parser-error" };
      }
      const address = (tree as unknown as { 0: number })[0];
      return { ok: true, tree: new SyntaxTree(binding, address, grammar, text), release: () => tree.delete() };
    } catch (error) {
      return { ok: false, reason: this.recover(error, stack) };
    } finally {
      state.units = NO_UNITS;
    }
  }

  /** A trap leaves the parser half-way: put the core's stack pointer back and go on with a new parser. */
  recover(error: unknown, stack: number): "budget" | "parser-error" {
    const isHeapLimit = error instanceof HeapLimitError;
    if (!isHeapLimit && !(error instanceof wasm.RuntimeError) && !(error instanceof RangeError)) throw error;
    const { exports } = this.binding;
    try {
      exports["_emscripten_stack_restore"]!(stack);
      this.parser.delete();
      this.parser = new Parser();
      if (isHeapLimit) exports["free"]!(exports["malloc"]!(SPARE_BYTES));
      else this.traps++;
    } catch {
      this.traps = MAX_TRAPS;
    }
    return isHeapLimit ? "budget" : "parser-error";
  }

  /** Where the core's stack stands, for {@link recover}. */
  stackPointer(): number {
    return this.binding.exports["emscripten_stack_get_current"]!();
  }
}

interface HookState {
  units: Uint16Array;
  remainingCalls: number;
  /** Size that the heap must not pass in this parse. */
  heapBytes: number;
  exhausted: boolean;
}

const NO_UNITS = new Uint16Array(0);
/** The replaced import reads the prepared units; the binding's own callback is never asked. */
const NO_TEXT = (): string => "";

function installHooks(
  env: Record<string, unknown>,
  memory: WasmMemory,
  state: HookState,
  exports: () => Record<string, WasmFunction>,
): void {
  let heap16 = new Uint16Array(memory.buffer);
  let heap32 = new Int32Array(memory.buffer);
  env["tree_sitter_parse_callback"] = (address: number, index: number, _row: number, _column: number, size: number) => {
    if (heap16.length === 0) {
      heap16 = new Uint16Array(memory.buffer);
      heap32 = new Int32Array(memory.buffer);
    }
    const begin = index >>> 0;
    const end = Math.min(begin + INPUT_BUFFER_UNITS, state.units.length);
    if (begin < end) heap16.set(state.units.subarray(begin, end), address >>> 1);
    heap32[size >>> 2] = Math.max(end - begin, 0);
  };
  env["tree_sitter_progress_callback"] = () => {
    if (--state.remainingCalls >= 0 && memory.buffer.byteLength <= state.heapBytes) return 0;
    state.exhausted = true;
    return 1;
  };
  const grow = env["emscripten_resize_heap"] as (bytes: number) => number;
  env["emscripten_resize_heap"] = (bytes: number) => {
    if (bytes >>> 0 > HARD_HEAP_BYTES) throw new HeapLimitError();
    return grow(bytes);
  };
  // A scanner may ask for no bytes and use them all the same (Swift's does): give it some, and all of them zero, or
  // what it reads depends on what was parsed before.
  env["calloc"] = (count: number, size: number) => exports()["calloc"]!(1, Math.max(MIN_CALLOC_BYTES, count * size));
}

/**
 * Emscripten's start-up takes workerd with Node compatibility for Node and fails there; a process of type
 * "renderer" is what it takes for a browser. Returns what puts the old value back.
 */
function presentAsRenderer(): () => void {
  const process = (globalThis as { process?: { type?: string } }).process;
  if (process === undefined) return () => {};
  const before = process.type;
  process.type = "renderer";
  return () => {
    if (before === undefined) delete process.type;
    else process.type = before;
  };
}
