/**
 * The automaton of a glob. It is nondeterministic and simulated on all states at once, so matching takes at most pattern × path steps
 * for any input; alternatives are not expanded.
 */

interface CharacterClass {
  negated: boolean;
  /** Inclusive ranges of code points. */
  ranges: [from: number, to: number][];
}

type Token =
  | { kind: "character"; code: number }
  | { kind: "any" }
  | { kind: "star" }
  | { kind: "globstar"; thenSlash: boolean }
  | { kind: "class"; set: CharacterClass }
  | { kind: "open" | "comma" | "close"; code: number };

const SLASH = 47;
const code = (character: string): number => character.codePointAt(0) ?? 0;

/** Splits a pattern into tokens. Braces and commas outside of an alternative are literal. */
export function tokenize(pattern: string): Token[] {
  const characters = Array.from(pattern);
  const tokens: Token[] = [];
  for (let i = 0; i < characters.length; i++) {
    const character = characters[i] ?? "";
    const next = characters[i + 1];
    if (character === "\\" && next !== undefined) {
      tokens.push({ kind: "character", code: code(next) });
      i++;
    } else if (character === "*") {
      let end = i;
      while (characters[end + 1] === "*") end++;
      if (end === i) tokens.push({ kind: "star" });
      else {
        const thenSlash = characters[end + 1] === "/";
        tokens.push({ kind: "globstar", thenSlash });
        if (thenSlash) end++;
      }
      i = end;
    } else if (character === "?") tokens.push({ kind: "any" });
    else if (character === "[") {
      const read = readClass(characters, i);
      if (read) {
        tokens.push({ kind: "class", set: read.set });
        i = read.end;
      } else tokens.push({ kind: "character", code: code(character) });
    } else if (character === "{") tokens.push({ kind: "open", code: code(character) });
    else if (character === ",") tokens.push({ kind: "comma", code: code(character) });
    else if (character === "}") tokens.push({ kind: "close", code: code(character) });
    else tokens.push({ kind: "character", code: code(character) });
  }
  return resolveBraces(tokens);
}

/** Reads `[…]` from its opening bracket; undefined if it is not closed. A `]` in first place is a member. */
function readClass(characters: readonly string[], start: number): { set: CharacterClass; end: number } | undefined {
  let i = start + 1;
  const negated = characters[i] === "!" || characters[i] === "^";
  if (negated) i++;
  const close = characters.indexOf("]", i + 1);
  if (close < 0) return undefined;
  const set: CharacterClass = { negated, ranges: [] };
  while (i < close) {
    const from = code(characters[i] ?? "");
    const isRange = characters[i + 1] === "-" && i + 2 < close;
    set.ranges.push([from, isRange ? code(characters[i + 2] ?? "") : from]);
    i += isRange ? 3 : 1;
  }
  return { set, end: close };
}

/** Turns braces without a partner or a comma, and commas outside of braces, into literal characters. */
function resolveBraces(tokens: readonly Token[]): Token[] {
  const syntax = new Set<number>();
  const open: { at: number; commas: number[] }[] = [];
  for (const [at, { kind }] of tokens.entries()) {
    if (kind === "open") open.push({ at, commas: [] });
    else if (kind === "comma") open.at(-1)?.commas.push(at);
    else if (kind === "close") {
      const group = open.pop();
      if (group && group.commas.length > 0) for (const index of [group.at, ...group.commas, at]) syntax.add(index);
    }
  }
  return tokens.map((token, at) =>
    (token.kind === "open" || token.kind === "comma" || token.kind === "close") && !syntax.has(at)
      ? { kind: "character", code: token.code }
      : token,
  );
}

/** A state of the automaton: either consumes one character that passes `test`, or moves on without consuming. */
interface State {
  test?: (code: number) => boolean;
  next: number[];
  /** Successor that is taken only at the start of a path segment. */
  atSegmentStart?: number;
}

const anyCharacter = () => true;
const notSlash = (code: number) => code !== SLASH;

function inClass({ negated, ranges }: CharacterClass): (code: number) => boolean {
  return (code) => code !== SLASH && ranges.some(([from, to]) => from <= code && code <= to) !== negated;
}

export class Automaton {
  private readonly states: State[] = [];
  private readonly accept: number;
  /** Step in which each state was last reached, so that no state is followed twice in a step. */
  private readonly reached: Uint32Array;
  private step = 0;
  private current: number[] = [];
  private following: number[] = [];

  constructor(tokens: readonly Token[]) {
    let last = this.add({ next: [] });
    const groups: { start: number; end: number }[] = [];
    /** Appends a state after `last`. */
    const append = (state: State) => {
      const index = this.add(state);
      this.link(last, index);
      last = index;
    };
    for (const token of tokens) {
      const group = groups.at(-1);
      switch (token.kind) {
        case "character":
          append({ test: (code) => code === token.code, next: [] });
          break;
        case "any":
          append({ test: notSlash, next: [] });
          break;
        case "class":
          append({ test: inClass(token.set), next: [] });
          break;
        case "star":
          this.appendLoop(append, notSlash);
          break;
        case "globstar": {
          append({ next: [] });
          const skip = last;
          this.appendLoop(append, anyCharacter);
          if (token.thenSlash) {
            append({ test: (code) => code === SLASH, next: [] });
            append({ next: [] });
            const skipping = this.states[skip];
            if (skipping) skipping.atSegmentStart = last;
          }
          break;
        }
        case "open":
          append({ next: [] });
          groups.push({ start: last, end: this.add({ next: [] }) });
          break;
        case "comma":
        case "close":
          if (!group) break;
          this.link(last, group.end);
          last = token.kind === "comma" ? group.start : group.end;
          if (token.kind === "close") groups.pop();
          break;
      }
    }
    append({ next: [] });
    this.accept = last;
    this.reached = new Uint32Array(this.states.length);
  }

  /** Whether the pattern matches the path or one of its parent folders; with `foldersOnly`, only the parents count. */
  matches(path: string, foldersOnly: boolean): boolean {
    return this.run(path, true) || (!foldersOnly && this.reached[this.accept] === this.step);
  }

  /** Whether the pattern matches the path itself. */
  matchesWhole(path: string): boolean {
    this.run(path, false);
    return this.reached[this.accept] === this.step;
  }

  /** Reads the path; with `parents`, stops and returns true after a parent folder that matches. */
  private run(path: string, parents: boolean): boolean {
    this.step = 1;
    this.reached.fill(0);
    this.current.length = 0;
    this.follow(0, this.current, true);
    for (const character of path) {
      const next = code(character);
      if (parents && next === SLASH && this.reached[this.accept] === this.step) return true;
      this.following.length = 0;
      const segmentStart = next === SLASH;
      this.step++;
      for (const index of this.current) {
        const state = this.states[index];
        if (state?.test?.(next) === true) for (const to of state.next) this.follow(to, this.following, segmentStart);
      }
      [this.current, this.following] = [this.following, this.current];
    }
    return false;
  }

  /** Adds a state to the list, with every state that is reachable from it without consuming a character. */
  private follow(from: number, list: number[], segmentStart: boolean): void {
    const stack = [from];
    for (let index = stack.pop(); index !== undefined; index = stack.pop()) {
      if (this.reached[index] === this.step) continue;
      this.reached[index] = this.step;
      const state = this.states[index];
      if (!state) continue;
      if (state.test) list.push(index);
      else {
        for (const to of state.next) stack.push(to);
        if (segmentStart && state.atSegmentStart !== undefined) stack.push(state.atSegmentStart);
      }
    }
  }

  /** Any number of characters that pass `test`. */
  private appendLoop(append: (state: State) => void, test: (code: number) => boolean): void {
    append({ next: [] });
    const hub = this.states.length - 1;
    const loop = this.add({ test, next: [hub] });
    this.link(hub, loop);
  }

  private add(state: State): number {
    return this.states.push(state) - 1;
  }

  private link(from: number, to: number): void {
    this.states[from]?.next.push(to);
  }
}
