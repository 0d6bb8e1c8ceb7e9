/** The C# in files of Razor: members of `@code { … }`, directives, and the statements and expressions of the markup. */
import { wordSet } from "../../lib/word-set.ts";
import type { Span } from "./markup.ts";
import { blankOf, endStatement, find, NEGATION, NEWLINE, SEMICOLON, skip, SPACE, UNDERSCORE } from "./statements.ts";

const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
const EQUALS = 61;
const TILDE = 126;
const CLASS = [99, 108, 97, 115, 115];
const USING = [117, 115, 105, 110, 103];
/** `_=>{`: markup as a value is a function. */
const LAMBDA = [95, 61, 62, 123];

/** Elements and blocks in one another. */
const MAX_DEPTH = 60;
const MAX_LINE = 1_000;
/** Elements without an end. */
const VOID = wordSet("area base br col embed hr img input link meta param source track wbr");
const STATEMENTS = wordSet("if for foreach while switch lock using try do");
/** Directives that are code. The first word of those of `USED` is read as `using`, whose place in the text tells what they are. */
const USED = wordSet("using model inherits");
const DECLARED = wordSet("inject namespace");
/** Parameters of components that take a function by its name. */
const TAKES_FUNCTION = /^On[A-Z]|(?:Changed|Func)$/;
/** A parameter's value that is a call or a function; others may be texts. */
const IS_CODE = /^[A-Za-z_][\w.]{0,200}\([^]*\)$|=>|^(?:Handle|On)[A-Z]\w*$|^[A-Z]\w*Async$/;

interface RazorCode {
  /** Directives, and members in classes of their own. Offsets and rows are as they are, the rest is blank. */
  members: Uint16Array;
  /** Statements of the markup, in the same form. The name of a component has the sign `~` before it. */
  markup: Uint16Array;
  /** The contents of `@code` and `@functions`. */
  blocks: Span[];
}

/** The C# of a file. One pass over the text: what is not closed ends with it. */
export const razorOf = (text: string, units: Uint16Array): RazorCode => new Reader(text, units).read();

class Reader {
  readonly #text: string;
  readonly #units: Uint16Array;
  readonly #members: Uint16Array;
  readonly #markup: Uint16Array;
  readonly #blocks: Span[] = [];
  #depth = 0;

  constructor(text: string, units: Uint16Array) {
    this.#text = text;
    this.#units = units;
    this.#members = blankOf(units);
    this.#markup = this.#members.slice();
  }

  read(): RazorCode {
    this.#readMarkup(0, this.#markup, "file");
    return { members: this.#members, markup: this.#markup, blocks: this.#blocks };
  }

  /** Copies code but not white space, where the end of a statement may have been written. */
  #copy(start: number, end: number, to: Uint16Array): void {
    for (let at = start; at < end; at++) if ((this.#units[at] as number) > SPACE) to[at] = this.#units[at] as number;
  }

  /** Reads markup to where the file, its first element or a line ends. Returns that place. */
  #readMarkup(start: number, to: Uint16Array, until: "file" | "element" | "line"): number {
    const text = this.#text;
    if (this.#depth > MAX_DEPTH) return text.length;
    this.#depth++;
    const next = /@|<!--|<\/?[a-z][\w.:-]*|\n/gi;
    next.lastIndex = start;
    let open = 0;
    for (let found = next.exec(text); found; found = next.exec(text)) {
      const [mark] = found;
      let at = next.lastIndex;
      if (mark === "\n") {
        if (until !== "line") continue;
        this.#depth--;
        return at;
      }
      if (mark === "@") at = this.#transition(found.index, to, until === "file");
      else if (mark === "<!--") at = find(this.#text, "-->", at);
      else if (mark[1] === "/") {
        at = find(this.#text, ">", at) + 1;
        open--;
      } else {
        const tag = this.#tag(found.index + 1, at, to);
        at = tag.end;
        if (!tag.isClosed && /^<(?:script|style)$/i.test(mark)) at = this.#raw(at, to);
        if (!tag.isClosed) open++;
      }
      if (until === "element" && open <= 0 && mark.startsWith("<") && mark !== "<!--") {
        this.#depth--;
        return at;
      }
      next.lastIndex = at;
    }
    this.#depth--;
    return text.length;
  }

  /** Reads a script or style, in which nothing else is markup. Returns where its end begins. */
  #raw(start: number, to: Uint16Array): number {
    const next = /@|<\/(?:script|style)/gi;
    next.lastIndex = start;
    for (let found = next.exec(this.#text); found; found = next.exec(this.#text)) {
      if (found[0] !== "@") return found.index;
      next.lastIndex = this.#transition(found.index, to, false);
    }
    return this.#text.length;
  }

  /** Reads a tag behind its name. */
  #tag(start: number, nameEnd: number, to: Uint16Array): { end: number; isClosed: boolean } {
    const text = this.#text;
    const name = text.slice(start, nameEnd);
    const isComponent = /^[A-Z]|\.[A-Z]/.test(name) && !/[:-]/.test(name);
    if (isComponent) {
      to[start - 1] = TILDE;
      this.#copy(start, nameEnd, to);
      endStatement(to, nameEnd, [SEMICOLON]);
    }
    let at = nameEnd;
    for (;;) {
      at = skip(this.#text, at, /\s+/y);
      if (at >= text.length || text[at] === ">") return { end: at + 1, isClosed: VOID.has(name.toLowerCase()) };
      if (text.startsWith("/>", at)) return { end: at + 2, isClosed: true };
      const end = skip(this.#text, at, /@?[\w:.-]+/y);
      const equals = skip(this.#text, end, /\s*/y);
      if (text[equals] === "=" && end > at) {
        const isCode =
          text[at] === "@" || (isComponent && TAKES_FUNCTION.test(text.slice(at, Math.min(end, at + 100))));
        at = this.#value({ end, equals, isCode, isComponent }, to);
      } else if (text[at] === "@") at = this.#transition(at, to, false);
      else at = end > at ? end : at + 1;
    }
  }

  /** Reads the value of an attribute whose name ends before `end`. Returns where the value ends. */
  #value(
    { end, equals, isCode, isComponent }: { end: number; equals: number; isCode: boolean; isComponent: boolean },
    to: Uint16Array,
  ): number {
    const text = this.#text;
    let at = skip(this.#text, equals + 1, /\s*/y);
    const quote = text[at];
    const isAssigned = isCode || isComponent;
    // What an attribute is given is assigned to the last letter of its name.
    const assign = (): void => {
      to[end - 1] = UNDERSCORE;
      to[equals] = EQUALS;
    };
    if (quote !== '"' && quote !== "'") {
      if (quote !== "@") return skip(this.#text, at, /[^\s>]*/y);
      if (isAssigned && this.#isExpression(at)) assign();
      return this.#transition(at, to, false, isAssigned);
    }
    at++;
    const close = find(this.#text, quote, at);
    const isShort = close > at && close - at < MAX_LINE;
    if (text[at] !== "@" && (isCode || (isComponent && isShort && IS_CODE.test(text.slice(at, close))))) {
      if (isShort) {
        assign();
        this.#copy(at, close, to);
        endStatement(to, close, [SEMICOLON]);
      }
      return close + 1;
    }
    if (isAssigned && text[at] === "@" && this.#isExpression(at)) assign();
    const next = quote === '"' ? /["@]/g : /['@]/g;
    next.lastIndex = at;
    for (let found = next.exec(text); found; found = next.exec(text)) {
      if (found[0] === quote) return next.lastIndex;
      next.lastIndex = this.#transition(found.index, to, false, isAssigned && found.index === at);
    }
    return text.length;
  }

  #isExpression(at: number): boolean {
    const first = skip(this.#text, at + 1, /[A-Za-z_]\w*/y);
    return first > at + 1 && !STATEMENTS.has(this.#text.slice(at + 1, first));
  }

  /** Reads what begins with the sign `@`. Returns where it ends. `isValue`: what is named there counts without a call, too. */
  #transition(at: number, to: Uint16Array, isTop: boolean, isValue = false): number {
    const text = this.#text;
    const follows = text[at + 1] ?? "";
    if (follows === "@") return at + 2;
    if (follows === "*") return find(this.#text, "*@", at + 2) + 2;
    if (follows === "(") {
      // `@(a)` is `_=a;`: any expression is a statement then.
      to[at] = UNDERSCORE;
      to[at + 1] = EQUALS;
      const close = this.#code(at + 2, to);
      endStatement(to, close, [SEMICOLON]);
      return close + 1;
    }
    if (follows === "{") return this.#code(at + 2, to) + 1;
    const wordEnd = skip(this.#text, at + 1, /[A-Za-z_]\w*/y);
    if (wordEnd === at + 1 || /\w/.test(text[at - 1] ?? "")) return at + 1;
    const word = text.slice(at + 1, wordEnd);
    const inner = skip(this.#text, wordEnd, /[^\S\n]*/y);
    if (isTop && (word === "code" || word === "functions")) {
      const brace = skip(this.#text, wordEnd, /\s*/y);
      return text[brace] === "{" ? this.#membersOf(wordEnd, brace) : wordEnd;
    }
    if (isTop && text[inner] !== "(" && (USED.has(word) || DECLARED.has(word)))
      return this.#directive(word, at + 1, inner);
    if (word === "section") return skip(this.#text, wordEnd, /\s*\w*\s*\{?/y);
    if (STATEMENTS.has(word)) return this.#statement(at + 1, wordEnd, to);
    if (word === "await" && skip(this.#text, inner, /foreach\b/y) > inner)
      return this.#statement(at + 1, inner + 7, to);
    return this.#expression(at + 1, word === "await" ? inner : at + 1, to, isValue);
  }

  /** `@using A.B`, `@model T`, `@inherits T`, `@inject T name`, `@namespace A`. */
  #directive(word: string, start: number, rest: number): number {
    const lineEnd = Math.min(find(this.#text, "\n", rest), rest + MAX_LINE);
    const end = skip(this.#text, rest, /[^;\n]{0,1000}/y);
    const own = rest + this.#text.slice(rest, end).trimEnd().length;
    if (own === rest) return lineEnd;
    if (USED.has(word)) this.#members.set(USING, start);
    else if (word === "namespace") this.#copy(start, rest, this.#members);
    this.#copy(rest, own, this.#members);
    endStatement(this.#members, own, [SEMICOLON]);
    return lineEnd;
  }

  /** Members in braces, behind a word, over which and what follows `class _{` is written. Where no room is for the name, there is none. */
  #membersOf(wordEnd: number, brace: number): number {
    const [text, members] = [this.#text, this.#members];
    const close = this.#code(brace + 1, members);
    this.#blocks.push({ start: brace + 1, end: close });
    if (close < text.length) members[close] = CLOSE_BRACE;
    members.set(CLASS, wordEnd - CLASS.length);
    const places: number[] = [];
    for (let at = wordEnd; places.length < 3 && (at <= brace || /\s/.test(text[at] ?? "")); at++)
      if (text[at] !== "\n") places.push(at);
    const [name, opening] = places[0] === wordEnd && places.length > 1 ? places.slice(1) : places;
    if (name !== undefined && opening !== undefined) members[name] = UNDERSCORE;
    members[opening ?? name ?? brace] = OPEN_BRACE;
    return close + 1;
  }

  /** Reads a statement with blocks from its first word on. */
  #statement(start: number, wordEnd: number, to: Uint16Array): number {
    const text = this.#text;
    let [from, at] = [start, wordEnd];
    for (;;) {
      let inner = skip(this.#text, at, /\s*/y);
      const hasCondition = text[inner] === "(";
      if (hasCondition) {
        this.#copy(from, inner + 1, to);
        from = this.#code(inner + 1, to);
        at = from + 1;
        inner = skip(this.#text, at, /\s*/y);
      }
      if (text[inner] === "{") {
        this.#copy(from, inner + 1, to);
        from = this.#code(inner + 1, to);
        at = from + 1;
      } else if (!hasCondition) return at;
      if (from < text.length) this.#copy(from, from + 1, to);
      from = at;
      const next = skip(this.#text, at, /\s*(?:else(?:\s+if)?|catch|finally|when|while)\b/y);
      if (next === at) {
        if (text[at] === ";") this.#copy(at, ++at, to);
        return at;
      }
      at = next;
    }
  }

  /** Reads `a.B(c)[d]?.E`, with what stands from `start` on before it. */
  #expression(start: number, first: number, to: Uint16Array, isValue: boolean): number {
    const text = this.#text;
    let [from, at] = [start, skip(this.#text, first, /[A-Za-z_]\w*/y)];
    let isCall = isValue;
    for (;;) {
      const mark = text[at];
      if (mark === "(" || mark === "[") {
        isCall = true;
        // With a sign before it, any expression is a statement.
        if (!isValue && to[start - 1] !== SEMICOLON) to[start - 1] = NEGATION;
        this.#copy(from, at + 1, to);
        from = this.#code(at + 1, to);
        at = from + 1;
        continue;
      }
      const member = skip(this.#text, at, /!?\??\.[A-Za-z_]\w*|!(?=[.[(])|\?(?=\[)/y);
      if (member === at) break;
      at = member;
    }
    if (!isCall) return at;
    this.#copy(from, Math.min(at, text.length), to);
    endStatement(to, at, [SEMICOLON]);
    return at;
  }

  /** Copies code to the bracket that ends it, which is open before `start`, and reads the markup in it. Returns the place of that bracket. */
  #code(start: number, to: Uint16Array): number {
    const text = this.#text;
    if (this.#depth > MAX_DEPTH) return text.length;
    this.#depth++;
    const next = /[({[]|[)}\]]|[;:]|\$?@?\$?"|'|\/[/*]|@(?=[*:<(A-Za-z{])|<(?=[A-Za-z]|!--)/g;
    next.lastIndex = start;
    // Markup begins where a statement does.
    let [open, from, edge] = [0, start, text[start - 1] === "{" ? start : text.length];
    for (let found = next.exec(text); found; found = next.exec(text)) {
      const { index } = found;
      const [mark] = found;
      let at = next.lastIndex;
      let isRead = false;
      if (/^[({[]$/.test(mark)) open++;
      else if (/^[)}\]]$/.test(mark) && --open < 0) {
        this.#copy(from, index, to);
        this.#depth--;
        return index;
      } else if (mark.endsWith('"')) at = this.#endOfString(mark, at);
      else if (mark === "'") at = skip(this.#text, at, /(?:\\[^\n']{1,10}|\\'|[^\\'\n])'/y);
      else if (mark.startsWith("/")) {
        at = mark === "//" ? find(this.#text, "\n", at) : find(this.#text, "*/", at) + 2;
        if (this.#isBlank(edge, index)) edge = at;
      } else if (mark === "<" || mark === "@") {
        const isFirst = this.#isBlank(edge, index);
        const [follows = ""] = mark === "<" ? "<" : (text[index + 1] ?? "");
        const isName = mark === "@" && skip(this.#text, at, /[A-Za-z_]\w*\s*=(?!=)/y) > at;
        isRead = (isFirst && !isName) || (mark === "@" && /[*<:]/.test(follows));
        if (isRead) {
          this.#copy(from, index, to);
          if (text.startsWith("<!--", index)) at = find(this.#text, "-->", at) + 3;
          else if (mark === "<") at = this.#readMarkup(index, to, "element");
          else if (follows === ":") at = this.#readMarkup(index + 2, to, "line");
          else if (follows === "<") at = this.#fragment(index, to, isFirst);
          else at = this.#transition(index, to, false);
          from = at;
        }
      }
      if (isRead || /[{};:]/.test(mark)) edge = at;
      next.lastIndex = at;
    }
    this.#copy(Math.min(from, text.length), text.length, to);
    this.#depth--;
    return text.length;
  }

  /** Whether nothing but space stands between two places. */
  #isBlank(from: number, to: number): boolean {
    let at = to - 1;
    if (to < from) return false;
    while (at >= from && /\s/.test(this.#text[at] ?? "")) at--;
    return at < from;
  }

  /** `@<p>…</p>`, which is a function where it is a value. */
  #fragment(at: number, to: Uint16Array, isFirst: boolean): number {
    const end = this.#readMarkup(at + 1, to, "element");
    if (!isFirst && end - at > LAMBDA.length) {
      for (const [i, unit] of LAMBDA.entries()) if (to[at + i] !== NEWLINE) to[at + i] = unit;
      to[end - 1] = CLOSE_BRACE;
    }
    return end;
  }

  /** The end of a string behind its first quote. One that its line does not end is none. */
  #endOfString(mark: string, start: number): number {
    const text = this.#text;
    if (text.startsWith('""', start) && !mark.includes("@")) return find(this.#text, '"""', start + 2) + 3;
    if (mark.includes("@")) return skip(this.#text, start, /(?:[^"]|"")*"/y);
    return skip(this.#text, start, /(?:[^"\\\n]|\\.)*"/y);
  }
}
