/**
 * What the core's parse stack tells during a parse. Its structures (`lib/src/stack.c` of tree-sitter) are read in the memory of the core; all
 * positions are in words of 32 bits.
 */

/** Words of `TSParser`, within which the address of its stack is looked for. */
const PARSER_WORDS = 400;
/** Of `Stack`: where its first version is, how many it has, and the capacities of its heads, slices, iterators and pool of nodes. */
const HEADS = 0;
const HEAD_COUNT = 1;
const CAPACITIES = [
  [2, 4],
  [5, 4],
  [8, 4],
  [11, 50],
] as const;
/** Of `StackNode`: where it ends in the text in bytes, the node below it, how many it has, and the cost of all errors up to it. */
const POSITION = 1;
const BELOW = 4;
const BELOW_COUNT = 36;
const ERROR_COST = 38;
const LOW_HALF = 0xffff;

/** `ERROR_COST_PER_RECOVERY` and the least that is skipped then. */
const COST_OF_ERROR = 600;
/** Errors between two progress calls, at most: an error takes three operations. */
const MAX_ERRORS = 30;
/** Depths are looked at after so many progress calls if there was no error. */
const CALLS_PER_LOOK = 64;
/**
 * Nodes are counted while they are dense. What nests operators has a node for every few characters; text of which a grammar has misread the
 * beginning, as 90 KB of overloads in TypeScript, has thousands on the stack as well, but they cost nothing.
 */
const DENSE_FROM_BYTES = 4_000;
const BYTES_PER_NODE = 16;
/** A deeper stack is given up: a single error could take a tenth of a second. */
export const MAX_DEPTH = 20_000;

export class ParseStack {
  readonly #stack: number;
  #errorCost = 0;
  #calls = 0;

  /**
   * @param words the memory, right after the core has made the parser
   * @param parser address of the parser in bytes
   */
  constructor(words: Int32Array, parser: number) {
    const first = parser >>> 2;
    const isStack = (at: number) => at > 0 && CAPACITIES.every(([offset, capacity]) => words[at + offset] === capacity);
    const stack = Array.from(words.subarray(first, first + PARSER_WORDS), (address) => address >>> 2).find(isStack);
    if (stack === undefined) throw new Error("The parser's core is of a version whose stack is not known.");
    this.#stack = stack;
  }

  /** A new parse begins. */
  restart(): void {
    this.#errorCost = 0;
    this.#calls = 0;
  }

  /**
   * To be called at each progress call. The number of errors since the last call, about, times the depth of the stack: at an error the core
   * reduces all that is open, again for each token that may be missing, and counts that as one operation. A node of the stack counts as often
   * as there are pairs of nodes below it: where a text can be read in several ways, a reduction follows each of them, and those below. Infinite
   * if the stack is too deep.
   */
  errorDepth(words: Int32Array): number {
    if (words[this.#stack + HEAD_COUNT] === 0) return 0;
    const head = words[words[this.#stack + HEADS]! >>> 2]! >>> 2;
    const cost = words[head + ERROR_COST]!;
    const isSame = cost === this.#errorCost;
    if (isSame && ++this.#calls % CALLS_PER_LOOK !== 0) return 0;
    let depth = 0;
    let weight = 0;
    const end = words[head + POSITION]!;
    for (let node = head; ; node = words[node + BELOW]! >>> 2) {
      const below = words[node + BELOW_COUNT]! & LOW_HALF;
      if (below === 0 || end - words[node + POSITION]! > DENSE_FROM_BYTES + BYTES_PER_NODE * depth) break;
      if (++depth > MAX_DEPTH) return Infinity;
      weight += below * below;
    }
    if (isSame) return 0;
    const errors = Math.min(Math.ceil(Math.abs(cost - this.#errorCost) / COST_OF_ERROR), MAX_ERRORS);
    this.#errorCost = cost;
    return weight * errors;
  }
}
