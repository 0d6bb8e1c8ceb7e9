/**
 * One automaton for a whole list of globs. The nondeterministic automaton is a trie of the globs' tokens, so that common beginnings are
 * shared; alternatives are not expanded. Its sets of states are cached as states of a deterministic one, which takes one look-up a
 * character however long the list is. Only sets that are not in the cache cost steps, and their number is limited: a list of hostile
 * globs is refused, never slow.
 */

import { type CharacterClass, isInClass, SLASH, type Token } from "./glob-tokens.ts";

/** A list of globs that takes more states or steps than the limits below allow. */
export class GlobLimitError extends Error {
  override readonly name = "GlobLimitError";
}

/** A list has at most one state for each of its characters. 50 globs of 500 characters fit. */
export const MAX_STATES = 25_500;
/**
 * Steps of a list: states of sets that are not in the cache, 100 to 300 ns each. 1,000 ordinary globs take 5,000 steps, almost all of them
 * for the first few hundred paths.
 */
const MAX_STEPS = 30_000;
const MAX_STEPS_PER_PATH = 5;
const MAX_SETS = 5_000;

/** A state: a place in the globs. -1 stands for no successor and for no glob. */
class State {
  /** The first successor by a character, and that character. Further ones are in `more`. */
  code = -1;
  to = -1;
  more: Map<number, number> | undefined = undefined;
  /** Successor by any character but `/`. */
  any = -1;
  classes: Map<string, { set: CharacterClass; to: number }> | undefined = undefined;
  /** Characters that lead back to this state. */
  readonly loop: "none" | "notSlash" | "any";
  /** Successors without a character: loops, the ends of alternatives, and what follows `**` and a slash, at the start of a segment only. */
  star = -1;
  globstar = -1;
  ends: number[] | undefined = undefined;
  atSegmentStart = -1;
  /** The last glob that ends here: of those that match files, and of all. */
  file = -1;
  folder = -1;

  constructor(loop: "none" | "notSlash" | "any") {
    this.loop = loop;
  }
}

/** A cached set of states. */
interface StateSet {
  states: Int32Array;
  file: number;
  folder: number;
  next: Map<number, StateSet>;
}

/** Stands for all characters that a set does not name. */
const OTHER = -1;

export class Automaton {
  readonly #states: State[] = [];
  readonly #sets = new Map<string, StateSet>();
  #start: StateSet | undefined;
  /** Step in which each state was last reached, so that no state is followed twice in a step. */
  #reached = new Uint32Array(0);
  #round = 0;
  #steps = 0;
  #paths = 0;

  constructor() {
    this.#add();
  }

  /** Adds a glob. `index`: its place in the list, above those before it. Throws `GlobLimitError`. */
  insert(tokens: readonly Token[], index: number, foldersOnly: boolean): void {
    let last = 0;
    const groups: { start: number; end: number }[] = [];
    for (const token of tokens) {
      const group = groups.at(-1);
      const from = this.#states[last] as State;
      switch (token.kind) {
        case "character":
          last = this.#byCode(from, token.code);
          break;
        case "any":
          last = from.any < 0 ? (from.any = this.#add()) : from.any;
          break;
        case "class":
          last = this.#byClass(from, token.set);
          break;
        case "star":
          last = from.star < 0 ? (from.star = this.#add("notSlash")) : from.star;
          break;
        case "globstar":
          last = from.globstar < 0 ? (from.globstar = this.#add("any")) : from.globstar;
          if (!token.thenSlash) break;
          last = this.#byCode(this.#states[last] as State, SLASH);
          from.atSegmentStart = last;
          break;
        case "open":
          groups.push({ start: last, end: this.#add() });
          break;
        case "comma":
        case "close":
          if (!group) break;
          (from.ends ??= []).push(group.end);
          last = token.kind === "comma" ? group.start : group.end;
          if (token.kind === "close") groups.pop();
          break;
      }
    }
    const end = this.#states[last] as State;
    end.folder = index;
    if (!foldersOnly) end.file = index;
  }

  /** Index of the last glob that matches the path or one of its parent folders; -1 for none. Throws `GlobLimitError`. */
  lastMatch(path: string): number {
    let last = -1;
    const end = this.#read(path, ({ folder }) => {
      if (folder > last) last = folder;
    });
    return Math.max(last, end.file);
  }

  /** Index of the last glob that matches the whole path, of a folder or a file; -1 for none. Throws `GlobLimitError`. */
  lastWhole(path: string, isFolder: boolean): number {
    const end = this.#read(path, () => {});
    return isFolder ? end.folder : end.file;
  }

  /** Reads the path and returns the set after it; `onFolder` gets the set after each parent folder. */
  #read(path: string, onFolder: (set: StateSet) => void): StateSet {
    this.#paths++;
    let set = (this.#start ??= this.#makeStart());
    for (let at = 0; at < path.length; at++) {
      let character = path.charCodeAt(at);
      if (character === SLASH) onFolder(set);
      if (set.states.length === 0) break;
      if (character >= 0xd800 && character < 0xdc00) {
        character = path.codePointAt(at) ?? 0;
        if (character > 0xffff) at++;
      }
      set = set.next.get(character) ?? this.#follow(set, character);
    }
    return set;
  }

  #makeStart(): StateSet {
    if (this.#reached.length === 0) this.#reached = new Uint32Array(this.#states.length);
    return this.#setOf([0], true);
  }

  #follow(set: StateSet, character: number): StateSet {
    // All characters that no state names have the same successor.
    const key = this.#isNamed(set, character) ? character : OTHER;
    let next = set.next.get(key);
    if (!next) {
      next = this.#setOf(this.#successors(set, character), character === SLASH);
      set.next.set(key, next);
    }
    set.next.set(character, next);
    return next;
  }

  #isNamed({ states }: StateSet, character: number): boolean {
    if (character === SLASH) return true;
    for (const index of states) {
      const { code, more, classes } = this.#states[index] as State;
      if (code === character || more?.has(character) === true || classes) return true;
    }
    return false;
  }

  #successors({ states }: StateSet, character: number): number[] {
    const found: number[] = [];
    for (const index of states) {
      const { code, to, more, any, classes, loop } = this.#states[index] as State;
      if (loop === "any" || (loop === "notSlash" && character !== SLASH)) found.push(index);
      const next = code === character ? to : more?.get(character);
      if (next !== undefined) found.push(next);
      if (any >= 0 && character !== SLASH) found.push(any);
      if (!classes) continue;
      for (const { set, to } of classes.values()) {
        this.#count(1 + set.ranges.length / 8);
        if (isInClass(set, character)) found.push(to);
      }
    }
    this.#count(1 + states.length / 2);
    return found;
  }

  /** The set of the states and of all that are reached from them without a character. */
  #setOf(from: number[], isSegmentStart: boolean): StateSet {
    const found: number[] = [];
    const round = ++this.#round;
    let [file, folder] = [-1, -1];
    const visit = (index: number): void => {
      if (index >= 0 && this.#reached[index] !== round) from.push(index);
    };
    for (let index = from.pop(); index !== undefined; index = from.pop()) {
      if (this.#reached[index] === round) continue;
      this.#reached[index] = round;
      found.push(index);
      const state = this.#states[index] as State;
      if (state.file > file) file = state.file;
      if (state.folder > folder) folder = state.folder;
      visit(state.star);
      visit(state.globstar);
      if (isSegmentStart) visit(state.atSegmentStart);
      if (!state.ends) continue;
      this.#count(state.ends.length);
      for (const end of state.ends) visit(end);
    }
    this.#count(found.length);
    const states = Int32Array.from(found).sort();
    const key = Buffer.from(states.buffer).toString("latin1");
    let set = this.#sets.get(key);
    if (set) return set;
    set = { states, file, folder, next: new Map() };
    if (this.#sets.size >= MAX_SETS) {
      this.#sets.clear();
      this.#start = undefined;
    }
    this.#sets.set(key, set);
    return set;
  }

  /** Steps taken so far. */
  get steps(): number {
    return this.#steps;
  }

  #count(steps: number): void {
    this.#steps += steps;
    if (this.#steps > MAX_STEPS + MAX_STEPS_PER_PATH * this.#paths) {
      throw new GlobLimitError(
        "the globs take too long to match; use fewer, or ones with fewer wildcards and alternatives",
      );
    }
  }

  #byCode(from: State, code: number): number {
    const known = from.code === code ? from.to : from.more?.get(code);
    if (known !== undefined) return known;
    const to = this.#add();
    if (from.code < 0) [from.code, from.to] = [code, to];
    else (from.more ??= new Map()).set(code, to);
    return to;
  }

  #byClass(from: State, set: CharacterClass): number {
    const key = `${set.negated} ${set.ranges.join(" ")}`;
    const known = from.classes?.get(key);
    if (known) return known.to;
    const to = this.#add();
    (from.classes ??= new Map()).set(key, { set, to });
    return to;
  }

  #add(loop: State["loop"] = "none"): number {
    if (this.#states.length >= MAX_STATES)
      throw new GlobLimitError("the globs are too long together; use fewer or shorter ones");
    return this.#states.push(new State(loop)) - 1;
  }
}
