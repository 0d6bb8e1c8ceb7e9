import { LimitError, type LoadedGrammar, TreeSitterCore } from "./core.ts";
import type { GrammarName, GrammarSource } from "./languages.ts";
import { NEWLINE } from "./statements.ts";
import { type Origin, START_OF_TEXT, SyntaxTree } from "./syntax-node.ts";
import { wasm } from "./wasm.ts";

/** Approximate number of parse operations per progress call. */
const OPERATIONS_PER_PROGRESS_CALL = 100;
/** Real files need up to 4.1 operations per character. Operations are counted because clocks do not advance in workerd. */
const OPERATIONS_PER_CHARACTER = 12;
const BASE_OPERATIONS = 200_000;
/**
 * Operations that repeatedly restart far back in the text cost a thousand times the usual: 50 KB of shell took 10 s, 1 MB of JavaScript with many
 * unclosed comments 22 s. They are detected by the text that is read (in pieces of about 5,000 characters, counted as in `core.ts`). Of 2,908
 * real files, none needs more than 0.4 times this.
 */
const CHARACTERS_PER_READ = 4;
const BASE_READS = 20_000;
/**
 * Errors below many operators without an operand cost ten thousand times the usual: 5 KB of `->` as JavaScript took 10 s. A unit is half a
 * microsecond to two, see {@link ParseStack.errorDepth}. Of 30,000 real files of code none needs
 * more than a seventh of this; an archive of PHP needs 0.8 times it.
 */
const ERROR_DEPTH_PER_CHARACTER = 2;
const BASE_ERROR_DEPTH = 1_000_000;
/** `ts_language_symbol_type` of node types that appear in trees: named ones and anonymous tokens. */
const VISIBLE_TYPES = 2;

/** Thrown when the syntax parser of this process cannot be restarted. Retry in another process. */
export class ParserUnavailableError extends Error {
  constructor(cause: unknown) {
    super("The syntax parser of this process could not be started again; retry the file in another one.", { cause });
    this.name = "ParserUnavailableError";
  }
}

export type Failure = "budget" | "parser-error";

/**
 * Grammars whose scanner goes on for ever at the end of a text that ends within an annotation, without reading, so that no budget ends it:
 * `val a = 1` with `@b` below. Their texts end with a line break.
 */
const NEED_LINE_BREAK: ReadonlySet<GrammarName> = new Set<GrammarName>(["kotlin"]);

function withLineBreak(units: Uint16Array): Uint16Array {
  if (units.at(-1) === NEWLINE) return units;
  const longer = new Uint16Array(units.length + 1);
  longer.set(units);
  longer[units.length] = NEWLINE;
  return longer;
}

/** Remaining budget of all parses of a file. */
export interface WorkBudget {
  /** Progress calls, each about {@link OPERATIONS_PER_PROGRESS_CALL} operations. */
  calls: number;
  /** Number of text pieces that may be read. */
  reads: number;
  /** Errors, each times the depth of the stack at it. */
  errorDepth: number;
}

export function workBudget(characters: number): WorkBudget {
  const operations = BASE_OPERATIONS + characters * OPERATIONS_PER_CHARACTER;
  return {
    calls: Math.ceil(operations / OPERATIONS_PER_PROGRESS_CALL),
    reads: BASE_READS + Math.ceil(characters / CHARACTERS_PER_READ),
    errorDepth: BASE_ERROR_DEPTH + characters * ERROR_DEPTH_PER_CHARACTER,
  };
}

/** Whole rows that a parse leaves out: `row` to before `endRow`, and the same as UTF-16 offsets in the whole text. */
export interface Gap {
  row: number;
  endRow: number;
  start: number;
  end: number;
}

/** Rows and columns, then offsets, of a range that the core reads. */
const WORDS_PER_RANGE = 6;

export type SyntaxResult = { ok: true; tree: SyntaxTree } | { ok: false; reason: Failure };

/**
 * Parses within limits that work in a Worker: a budget of operations instead of a clock, and a bounded heap. A file that
 * traps the core or exhausts its heap gets no tree; the core is then booted again.
 */
export class SyntaxEngine {
  readonly #core: TreeSitterCore;
  readonly #grammars = new Map<GrammarName, LoadedGrammar>();
  readonly #source: GrammarSource;
  #broken = false;

  private constructor(core: TreeSitterCore, source: GrammarSource) {
    this.#core = core;
    this.#source = source;
    core.boot();
  }

  static async create(source: GrammarSource): Promise<SyntaxEngine> {
    return new SyntaxEngine(new TreeSitterCore(await source.core()), source);
  }

  /** Bytes of memory held by the core, its grammars and its heap. */
  get memoryBytes(): number {
    return this.#core.memoryBytes;
  }

  /** Loads a grammar on first use; throws what the source throws. */
  async grammar(name: GrammarName): Promise<LoadedGrammar> {
    const known = this.#grammars.get(name);
    if (known !== undefined) return known;
    const module = await this.#source.grammar(name);
    const again = this.#grammars.get(name);
    if (again !== undefined) return again;
    if (this.#broken) this.#reboot();
    const place = this.#core.reserve(module);
    const address = this.#core.link(place);
    const loaded = { name, ...describe(this.#core, address), place, generation: this.#core.generation, address };
    this.#grammars.set(name, loaded);
    return loaded;
  }

  /**
   * Parses UTF-16 text, which may be a part of `text` that begins at `origin`. The tree is valid until the next parse.
   *
   * @param budget limit on the parse's cost; the actual cost is subtracted. Nothing is parsed once it is below zero.
   * @param gaps parts of the text that are not read, in order: skipping them costs nothing, reading blanks does.
   * @throws ParserUnavailableError if the core had to be booted again and could not be.
   */
  parse(
    units: Uint16Array,
    text: string,
    grammar: LoadedGrammar,
    budget = workBudget(units.length),
    origin = START_OF_TEXT,
    gaps: readonly Gap[] = [],
  ): SyntaxResult {
    if (Math.min(budget.calls, budget.reads, budget.errorDepth) < 0) return { ok: false, reason: "budget" };
    const core = this.#core;
    if (this.#broken) this.#reboot();
    core.units = NEED_LINE_BREAK.has(grammar.name) ? withLineBreak(units) : units;
    core.remainingCalls = budget.calls;
    core.remainingReads = budget.reads;
    core.remainingErrorDepth = budget.errorDepth;
    try {
      if (grammar.generation !== core.generation) {
        grammar.address = core.link(grammar.place);
        grammar.generation = core.generation;
      }
      core.rewind();
      const { exports } = core;
      exports["ts_parser_set_language"]!(core.parser, grammar.address);
      const count = gaps.length === 0 ? 0 : gaps.length + 1;
      const ranges = count === 0 ? 0 : this.#writeRanges(gaps, origin, core.units.length);
      const tree = exports["ts_parser_parse_wasm"]!(core.parser, core.input, 0, ranges, count);
      if (Math.min(core.remainingCalls, core.remainingErrorDepth) < 0) return { ok: false, reason: "budget" };
      if (tree === 0) return { ok: false, reason: "parser-error" };
      return { ok: true, tree: new SyntaxTree(core, tree, grammar, text, origin) };
    } catch (error) {
      return { ok: false, reason: this.recover(error) };
    } finally {
      core.units = NO_UNITS;
      budget.calls = core.remainingCalls;
      budget.reads = core.remainingReads;
      budget.errorDepth = core.remainingErrorDepth;
    }
  }

  /** Writes what is left between gaps to the core's heap; returns its address. The last range has no end. */
  #writeRanges(gaps: readonly Gap[], origin: Origin, length: number): number {
    const core = this.#core;
    const address = core.exports["malloc"]!((gaps.length + 1) * WORDS_PER_RANGE * 4);
    const { words } = core;
    let at = address >>> 2;
    let start = 0;
    let row = 0;
    for (const gap of gaps) {
      const end = gap.start - origin.offset;
      const endRow = gap.row - origin.row;
      words.set([row, 0, endRow, 0, start, end], at);
      at += WORDS_PER_RANGE;
      start = gap.end - origin.offset;
      row = gap.endRow - origin.row;
    }
    words.set([row, 0, -1, -1, start, length], at);
    return address;
  }

  /**
   * Discards the core after a trap or an exhausted heap, and boots it again. Returns why the file gets no tree; rethrows
   * errors that did not come from the core.
   *
   * @throws ParserUnavailableError if the core cannot be booted again.
   */
  recover(error: unknown): Failure {
    const isLimit = error instanceof LimitError;
    // Deep recursion causes a RangeError.
    if (!isLimit && !(error instanceof wasm.RuntimeError) && !(error instanceof RangeError)) throw error;
    this.#reboot();
    return isLimit ? "budget" : "parser-error";
  }

  #reboot(): void {
    this.#broken = true;
    try {
      this.#core.boot();
    } catch (error) {
      throw new ParserUnavailableError(error);
    }
    this.#broken = false;
  }
}

const NO_UNITS = new Uint16Array(0);

function describe(core: TreeSitterCore, address: number): Pick<LoadedGrammar, "types" | "isNamed" | "fieldIds"> {
  const { exports } = core;
  const types: string[] = [];
  const isNamed: boolean[] = [];
  for (let id = 0; id < exports["ts_language_symbol_count"]!(address); id++) {
    if (exports["ts_language_symbol_type"]!(address, id) >= VISIBLE_TYPES) continue;
    types[id] = core.string(exports["ts_language_symbol_name"]!(address, id));
    isNamed[id] = exports["ts_language_type_is_named_wasm"]!(address, id) !== 0;
  }
  const fieldIds = new Map<string, number>();
  for (let id = 1; id <= exports["ts_language_field_count"]!(address); id++)
    fieldIds.set(core.string(exports["ts_language_field_name_for_id"]!(address, id)), id);
  return { types, isNamed, fieldIds };
}
