/**
 * Reads patterns in the dialect of Rust's `regex`, which the compiler has already accepted: what must occur in a match (for n-grams), and
 * where the pattern has to be changed so that it matches line by line, as ripgrep does.
 */

/** A part of a pattern. Offsets are UTF-16 units of the pattern. */
export type PatternNode =
  | { kind: "empty" }
  /** A character; `isFolded` if its case does not count. */
  | { kind: "character"; character: string; isFolded: boolean }
  /** One character of a class: those in `characters`, if they are few. */
  | { kind: "class"; characters: readonly string[] | undefined; isFolded: boolean }
  | { kind: "concatenation"; parts: readonly PatternNode[] }
  | { kind: "alternation"; parts: readonly PatternNode[] }
  | { kind: "repetition"; part: PatternNode; min: number; max: number };

/** A part of the pattern that means something else when lines are matched one by one. */
export interface PatternToken {
  start: number;
  end: number;
  kind: "dot" | "class" | "line_start" | "line_end" | "text_start" | "text_end" | "line_break";
  /** `s`: the dot matches line breaks too. */
  isDotAll: boolean;
  isUnicode: boolean;
}

export interface ReadPattern {
  tree: PatternNode;
  tokens: readonly PatternToken[];
  /** White space and comments are ignored at the end of the pattern, so a comment may be open there. */
  isVerbose: boolean;
}

interface Flags {
  ignoreCase: boolean;
  dotAll: boolean;
  verbose: boolean;
  unicode: boolean;
}

/** A character class with more members is any character, as far as n-grams go. */
const MAX_MEMBERS = 16;
const LINE_BREAK = "\n";
const EMPTY: PatternNode = { kind: "empty" };
const UNBOUNDED = Infinity;
const CONTROLS: Readonly<Record<string, string>> = {
  a: "\u0007",
  f: "\f",
  t: "\t",
  n: LINE_BREAK,
  r: "\r",
  v: "\u000b",
};
/** Classes of one letter. */
const LETTER_CLASSES = "dDsSwWpP";
const HEX_DIGITS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/** Reads a pattern. `isLiteral` takes it as it is. Linear in its length, and bounded in depth by the compiler's own limit. */
export function readPattern(
  pattern: string,
  { isLiteral = false, ignoreCase = false }: { isLiteral?: boolean; ignoreCase?: boolean } = {},
): ReadPattern {
  return new PatternReader(pattern, ignoreCase).read(isLiteral);
}

class PatternReader {
  readonly #pattern: string;
  readonly #tokens: PatternToken[] = [];
  #at = 0;
  #flags: Flags;

  constructor(pattern: string, ignoreCase: boolean) {
    this.#pattern = pattern;
    this.#flags = { ignoreCase, dotAll: false, verbose: false, unicode: true };
  }

  read(isLiteral: boolean): ReadPattern {
    const tree = isLiteral
      ? concatenation(Array.from(this.#pattern, (character) => this.#literal(character)))
      : this.#alternation();
    return { tree, tokens: this.#tokens, isVerbose: this.#flags.verbose };
  }

  #literal(character: string): PatternNode {
    return { kind: "character", character, isFolded: this.#flags.ignoreCase };
  }

  /** Up to the end of the pattern, or to the `)` of the group. */
  #alternation(): PatternNode {
    const branches: PatternNode[] = [];
    let parts: PatternNode[] = [];
    while (this.#at < this.#pattern.length && this.#pattern[this.#at] !== ")") {
      const start = this.#at;
      const character = this.#next();
      if (this.#flags.verbose && this.#skipsSpace(character)) continue;
      if (character === "|") {
        branches.push(concatenation(parts));
        parts = [];
      } else if ("*+?{".includes(character)) {
        const part = parts.pop() ?? EMPTY;
        const [min, max] = this.#bounds(character);
        parts.push({ kind: "repetition", part, min, max });
      } else parts.push(this.#atom(character, start));
    }
    branches.push(concatenation(parts));
    return branches.length === 1 ? (branches[0] as PatternNode) : { kind: "alternation", parts: branches };
  }

  #atom(character: string, start: number): PatternNode {
    switch (character) {
      case "(":
        return this.#group();
      case "[":
        return this.#brackets(start);
      case "\\":
        return this.#escape(start);
      case ".":
        this.#token("dot", start);
        return { kind: "class", characters: undefined, isFolded: false };
      case "^":
        this.#token("line_start", start);
        return EMPTY;
      case "$":
        this.#token("line_end", start);
        return EMPTY;
      default:
        if (character === LINE_BREAK) this.#token("line_break", start);
        return this.#literal(character);
    }
  }

  /** In verbose mode: white space, and comments up to the end of their line. */
  #skipsSpace(character: string): boolean {
    if (character === "#") {
      const end = this.#pattern.indexOf(LINE_BREAK, this.#at);
      this.#at = end < 0 ? this.#pattern.length : end + 1;
      return true;
    }
    return /\s/.test(character);
  }

  #group(): PatternNode {
    const outer = this.#flags;
    if (this.#peek("?")) {
      const named = this.#peek("?<") || this.#peek("?P<");
      const end = this.#indexAfter(named ? ">" : ":)");
      const header = this.#pattern.slice(this.#at, end);
      this.#at = end;
      if (!named) {
        this.#flags = withFlags(outer, header.slice(1, -1));
        // `(?i)` holds for the rest of the group around it.
        if (header.endsWith(")")) return EMPTY;
      }
    }
    const inner = this.#alternation();
    this.#at++;
    this.#flags = outer;
    return inner;
  }

  /** A class in brackets, with its nested ones. The members are known if there are only single characters. */
  #brackets(start: number): PatternNode {
    const members: string[] = [];
    let isSimple = !this.#peek("^");
    if (!isSimple) this.#at++;
    let depth = 1;
    let isFirst = true;
    while (depth > 0 && this.#at < this.#pattern.length) {
      const character = this.#next();
      if (this.#flags.verbose && this.#skipsSpace(character)) continue;
      if (character === "[") {
        isSimple = false;
        const name = /^:\^?[a-z]+:\]/.exec(this.#pattern.slice(this.#at, this.#at + MAX_MEMBERS))?.[0];
        if (name !== undefined) this.#at += name.length;
        else {
          depth++;
          if (this.#peek("^")) this.#at++;
          if (this.#peek("]")) this.#at++;
        }
      } else if (character === "]" && !isFirst) depth--;
      else if (character === "\\") {
        const escaped = this.#escapedCharacter();
        if (escaped === undefined) isSimple = false;
        else members.push(escaped);
      } else {
        const isOperator = "-&~".includes(character) && !isFirst && !this.#peek("]");
        if (isOperator) isSimple = false;
        members.push(character);
      }
      isFirst = false;
      if (members.length > MAX_MEMBERS) isSimple = false;
    }
    this.#token(
      members.length > 0 && isSimple && members.every((member) => member === LINE_BREAK) ? "line_break" : "class",
      start,
    );
    return { kind: "class", characters: isSimple ? members : undefined, isFolded: this.#flags.ignoreCase };
  }

  #escape(start: number): PatternNode {
    const look = /^(?:[AzB<>]|b(?:\{(?:start|end|start-half|end-half)\})?)/.exec(
      this.#pattern.slice(this.#at, this.#at + 16),
    )?.[0];
    if (look !== undefined) {
      this.#at += look.length;
      if (look === "A") this.#token("text_start", start);
      if (look === "z") this.#token("text_end", start);
      return EMPTY;
    }
    const character = this.#escapedCharacter();
    if (character === LINE_BREAK) this.#token("line_break", start);
    if (character !== undefined) return this.#literal(character);
    this.#token("class", start);
    return { kind: "class", characters: undefined, isFolded: false };
  }

  /** The character of an escape sequence behind its backslash; undefined for a class, which is skipped. */
  #escapedCharacter(): string | undefined {
    const letter = this.#next();
    if (LETTER_CLASSES.includes(letter)) {
      if (letter.toLowerCase() !== "p") return undefined;
      if (this.#peek("{")) this.#at = this.#indexAfter("}");
      else this.#next();
      return undefined;
    }
    const digits = HEX_DIGITS[letter];
    if (digits === undefined) return CONTROLS[letter] ?? letter;
    const isBraced = this.#peek("{");
    const end = isBraced ? this.#indexAfter("}") : this.#at + digits;
    const code = Number.parseInt(this.#pattern.slice(this.#at + (isBraced ? 1 : 0), end), 16);
    this.#at = end;
    return String.fromCodePoint(Number.isNaN(code) ? 0 : code);
  }

  /** Bounds of a repetition, of which `operator` has been read. */
  #bounds(operator: string): [min: number, max: number] {
    let bounds: [number, number] = [operator === "+" ? 1 : 0, operator === "?" ? 1 : UNBOUNDED];
    if (operator === "{") {
      const end = this.#indexAfter("}");
      const [least = "", most] = this.#pattern
        .slice(this.#at, end - 1)
        .split(",")
        .map((number) => number.trim());
      bounds = [Number(least), most === undefined ? Number(least) : most === "" ? UNBOUNDED : Number(most)];
      this.#at = end;
    }
    if (this.#peek("?")) this.#at++;
    return bounds;
  }

  #token(kind: PatternToken["kind"], start: number): void {
    const { dotAll, unicode } = this.#flags;
    this.#tokens.push({ start, end: this.#at, kind, isDotAll: dotAll, isUnicode: unicode });
  }

  #next(): string {
    const character = String.fromCodePoint(this.#pattern.codePointAt(this.#at) ?? 0);
    this.#at += character.length;
    return character;
  }

  #peek(text: string): boolean {
    return this.#pattern.startsWith(text, this.#at);
  }

  /** Offset behind the next of the characters; the end if there is none. */
  #indexAfter(characters: string): number {
    for (let at = this.#at; at < this.#pattern.length; at++)
      if (characters.includes(this.#pattern[at] ?? "")) return at + 1;
    return this.#pattern.length;
  }
}

function concatenation(parts: readonly PatternNode[]): PatternNode {
  const own = parts.filter(({ kind }) => kind !== "empty");
  if (own.length === 1) return own[0] as PatternNode;
  return own.length === 0 ? EMPTY : { kind: "concatenation", parts: own };
}

function withFlags(flags: Flags, letters: string): Flags {
  const changed = { ...flags };
  let isOn = true;
  for (const letter of letters) {
    if (letter === "-") isOn = false;
    else if (letter === "i") changed.ignoreCase = isOn;
    else if (letter === "s") changed.dotAll = isOn;
    else if (letter === "x") changed.verbose = isOn;
    else if (letter === "u") changed.unicode = isOn;
  }
  return changed;
}
