/** The Ruby in templates of HAML and Slim, which write it on lines of their own and behind tags. */
import { blankOf, find, NEWLINE, SEMICOLON, skip } from "./statements.ts";

/** Control words that begin a line without an end of their own: what they ask is left. */
const CONTROL = /(?:if|unless|elsif|while|until|case|when|else|ensure|begin|rescue)\b/y;
/** What hands a block over, which the lines below are in. */
const BLOCK = /\bdo(?:\s*\|[^|\n]{0,200}\|)?\s*$/;
/** Tags, classes and ids before the attributes or the code of a tag. */
const HAML_TAG = /[%.#][\w:.#@-]*(?:\[[^\]\n]{0,200}\])?/y;
const SLIM_TAG = /[a-z.#*][\w:.#-]*/y;
/** `=`, `!=` and `&=` of HAML, `==`, `=>` and `=<` of Slim. */
const OUTPUT = /[<>]{0,2}[!&]?={1,2}[<>']{0,2}/y;
/** Attributes may go over several lines. */
const MAX_ATTRIBUTES = 4_000;
const [OPENING, CLOSING] = ["([{", ")]}"];

/**
 * The Ruby of a template as a program: offsets and rows are as they are, the rest is blank. Control words are blank as well, since indentation
 * closes what they open.
 */
export function rubyOfLines(text: string, units: Uint16Array, language: "haml" | "slim"): Uint16Array {
  return new LineReader(text, units, language === "haml").read();
}

class LineReader {
  readonly #text: string;
  readonly #units: Uint16Array;
  readonly #isHaml: boolean;
  readonly #program: Uint16Array;
  /** Characters that may still be read in vain for the ends of brackets that are not closed. */
  #left: number;
  /** The first `#{` behind what is read. */
  #opening = -1;

  constructor(text: string, units: Uint16Array, isHaml: boolean) {
    this.#text = text;
    this.#units = units;
    this.#isHaml = isHaml;
    this.#program = blankOf(units);
    this.#left = MAX_ATTRIBUTES + 10 * text.length;
  }

  read(): Uint16Array {
    const text = this.#text;
    /** Indentation of a filter or comment, whose lines are those below that are indented deeper. */
    let skipped: { indent: number; isRuby: boolean } | undefined;
    for (let at = 0; at < text.length;) {
      const end = find(text, "\n", at);
      const start = skip(text, at, /[ \t]*/y);
      const indent = start - at;
      at = end + 1;
      if (start >= end) continue;
      if (skipped && indent > skipped.indent) {
        if (skipped.isRuby) this.#copy(start, end);
        else this.#interpolations(start, end);
        continue;
      }
      const filter = this.#isHaml ? skip(text, start, /:\w+/y) : skip(text, start, /\w+:(?=\s*$)/my);
      const isComment = this.#isHaml ? text.startsWith("-#", start) : text[start] === "/";
      const isFilter = filter > start;
      skipped = isFilter || isComment ? { indent, isRuby: /^:?ruby:?$/.test(text.slice(start, filter)) } : undefined;
      if (!isFilter && !isComment) at = this.#line(start, end) + 1;
    }
    return this.#program;
  }

  /** Reads a line from its first character. Returns where what it begins ends: at the end of this line or another one. */
  #line(start: number, end: number): number {
    const text = this.#text;
    if (text[start] === "-") return this.#code(start + 1, end);
    let at = skip(text, start, this.#isHaml ? HAML_TAG : SLIM_TAG);
    let last = end;
    if (at > start) {
      at = this.#isHaml ? this.#hamlAttributes(at) : this.#slimAttributes(at, end);
      last = at > end ? find(text, "\n", at) : end;
      at = skip(text, at, /[ \t]*/y);
    }
    const code = skip(text, at, this.#isHaml ? /[<>]{0,2}[!&]?=|~/y : OUTPUT);
    if (code > at) return this.#code(code, last);
    this.#interpolations(at, last);
    return last;
  }

  /** Takes code up to the end of a line, or of a later one while a comma ends it. */
  #code(from: number, to: number): number {
    const text = this.#text;
    let end = to;
    while (end < text.length && text[end - 1] === ",") end = find(text, "\n", end + 1);
    let start = skip(text, from, /[ \t]*/y);
    const control = skip(text, start, CONTROL);
    // `case` and `when` list what they compare with.
    if (control > start) start = control;
    const lastLine = text.slice(Math.max(start, text.lastIndexOf("\n", end - 1) + 1), end);
    const block = BLOCK.exec(lastLine);
    this.#copy(start, block ? end - lastLine.length + block.index : end);
    return end;
  }

  /** `{ a: b }` and `(a=b)` behind a tag. */
  #hamlAttributes(from: number): number {
    let at = from;
    while (this.#text[at] === "{" || this.#text[at] === "(") {
      const close = this.#closing(at);
      if (close === undefined) return at;
      if (this.#text[at] === "{") this.#list(at + 1, close);
      else this.#values(at + 1, close);
      at = close + 1;
    }
    return at;
  }

  /** `a=b c="#{d}"` behind a tag. */
  #slimAttributes(from: number, end: number): number {
    const text = this.#text;
    for (let at = from; ;) {
      const name = skip(text, at, /[ \t]+[\w:@.-]{1,100}={1,2}(?=[^\s=])/y);
      if (name === at || name >= end) return at;
      at = this.#value(name, end);
    }
  }

  /** The values of attributes of HTML in HAML. */
  #values(from: number, to: number): void {
    for (let at = from; at < to;) {
      const name = skip(this.#text, at, /[\s]*[\w:@.-]{1,100}[ \t]*=[ \t]*/y);
      if (name === at) return;
      at = this.#value(name, to);
    }
  }

  /** Takes a value, which ends at a space outside of brackets and quotes. Returns its end. */
  #value(from: number, to: number): number {
    const text = this.#text;
    let at = from;
    let isOpen = false;
    while (at < to && !/\s/.test(text[at]!)) {
      const isBracket: boolean = !isOpen && OPENING.includes(text[at]!);
      const close: number | undefined = isBracket ? this.#closing(at) : undefined;
      // Behind a bracket that is not closed no other one is looked for.
      isOpen ||= isBracket && close === undefined;
      if (text[at] === '"' || text[at] === "'") at = Math.min(find(text, text[at]!, at + 1), to) + 1;
      else at = (close ?? at) + 1;
    }
    const end = Math.min(at, to);
    if (text[from] === '"' || text[from] === "'") this.#interpolations(from, end);
    else this.#copy(from, end);
    this.#separate(end);
    return end;
  }

  /** Takes a hash, without its brackets from `from` to `to`. */
  #list(from: number, to: number): void {
    this.#copy(from - 1, to + 1);
    this.#separate(to + 1);
  }

  /** Where the next `#{` is; a place that was found is kept, since few lines have one. */
  #nextOpening(from: number): number {
    if (this.#opening < from) this.#opening = find(this.#text, "#{", from);
    return this.#opening;
  }

  /** Takes the code in `#{…}`. */
  #interpolations(from: number, to: number): void {
    for (let at = this.#nextOpening(from); at < to; at = this.#nextOpening(at)) {
      const close = this.#closing(at + 1);
      if (close === undefined) return;
      this.#copy(at + 2, close);
      this.#separate(close);
      at = close + 1;
    }
  }

  #copy(from: number, to: number): void {
    if (to > from) this.#program.set(this.#units.subarray(from, to), from);
  }

  /** Ends a statement in the middle of a line. */
  #separate(at: number): void {
    if (at < this.#program.length && this.#program[at] !== NEWLINE) this.#program[at] = SEMICOLON;
  }

  /** Where the bracket at a place is closed. Quotes hide brackets. */
  #closing(open: number): number | undefined {
    const text = this.#text;
    let depth = 0;
    const limit = Math.min(text.length, open + Math.min(this.#left, MAX_ATTRIBUTES));
    for (let at = open; at < limit; at++) {
      const character = text[at]!;
      if (character === '"' || character === "'") {
        at = find(text, character, at + 1);
      } else if (OPENING.includes(character)) depth++;
      else if (CLOSING.includes(character) && --depth === 0) return at;
    }
    this.#left -= limit - open;
    return undefined;
  }
}
