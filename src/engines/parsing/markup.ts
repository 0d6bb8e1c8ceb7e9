/** Expressions and components in the markup of components. */
import type { ComponentLanguage } from "./component-names.ts";
import { blankOf, endStatement, find, NEGATION, SEMICOLON, skip, UNDERSCORE } from "./statements.ts";

/** Part of a text, by offsets; the end is not part of it. */
export interface Span {
  start: number;
  end: number;
}

interface Code extends Span {
  /** `handler` names a function that an event calls, `name` a component of a tag, or a function that is used with an element. */
  is: "expression" | "handler" | "name";
}

interface Markup {
  /** Expressions and statements that may call something, in order. The characters before and behind each belong to none. */
  code: Code[];
  /** Names that the markup binds somewhere, as a loop does, and others of the same patterns: what they mean depends on the place. */
  names: Set<string>;
}

/** Code without one of these calls nothing. Tags in expressions are those of Astro. */
const CALLING = /[(`]|<[A-Z]/;
/** A function by its name alone. */
const FUNCTION_NAME = /^\s*[\w$]+(?:\.[\w$]+)*\s*$/;
const MAX_FUNCTION_NAME = 200;
/** Before the value of an event's attribute in Svelte: `on:click|once={`, `onclick="{`. */
const EVENT = /\son[:\w|]*=["']?$/;
const MAX_EVENT = 40;
/** Expressions of a file at most. */
const MAX_CODE = 20_000;
const MAX_NAMES = 5_000;
/** Braces and template literals in one another. */
const MAX_DEPTH = 50;
const NAME = /[\p{ID_Start}$_][\p{ID_Continue}$]*/gu;

/** A name that scripts know, or that of a component in the form of tags. */
const USED_NAME = /^[A-Za-z_$](?:[\w$.]*|\w*(?:-\w+)+)$/;
const MAX_USED_NAME = 100;
/** Names of elements of HTML begin with a small letter and have no hyphen; in Vue, `<user-card>` is `UserCard`. */
const COMPONENT_TAG = /^[A-Z]|-/;

/** The expressions and components outside of `blocks`, which are scripts and styles. One pass over the text. */
export function readMarkup(language: ComponentLanguage, text: string, blocks: readonly Span[]): Markup {
  const markup: Markup = { code: [], names: new Set() };
  const read = language === "vue" ? readVue : readSvelte;
  let from = 0;
  for (const { start, end } of [...blocks, { start: text.length, end: text.length }]) {
    read(new Part(text.slice(from, start), from, markup));
    from = Math.max(from, end);
  }
  return markup;
}

const HYPHEN = 45;

/**
 * The expressions of a markup as statements of a script, with offsets and rows as they are: the rest is blank. A sign before what would begin a
 * block, function or class makes an expression of it.
 */
export function asStatements(units: Uint16Array, code: Markup["code"]): Uint16Array {
  const statements = blankOf(units);
  for (const { start, end, is } of code) {
    if (is === "name") {
      nameStatement(statements, units.subarray(start, end), start);
      continue;
    }
    statements.set(units.subarray(start, end), start);
    const text = String.fromCharCode(...units.subarray(start, Math.min(end, start + STATEMENT_HEAD)));
    if (/^\s*(?:\{|(?:async\s+)?function\b|class\b)/.test(text)) statements[start - 1] = NEGATION;
    endStatement(statements, end, is === "handler" ? CALL : STATEMENT_END);
  }
  return statements;
}

/** A used name as a statement: scripts have none that is a mere name. The character before it is not part of anything else. */
function nameStatement(statements: Uint16Array, name: Uint16Array, start: number): void {
  statements[start - 1] = SEMICOLON;
  for (const [i, unit] of name.entries()) statements[start + i] = unit === HYPHEN ? UNDERSCORE : unit;
  endStatement(statements, start + name.length, STATEMENT_END);
}

const STATEMENT_END = [SEMICOLON];
/** `();`, for which markup has room: behind a value there are at least a quote or brace, the end of the tag and the next one. */
const CALL = [40, 41, SEMICOLON];

/** Characters that tell what a statement begins with. */
const STATEMENT_HEAD = 60;

/** Markup between two blocks. */
class Part {
  readonly text: string;
  readonly #offset: number;
  readonly #markup: Markup;

  constructor(text: string, offset: number, markup: Markup) {
    this.text = text;
    this.#offset = offset;
    this.#markup = markup;
  }

  addCode(start: number, end: number, isEvent = false): void {
    const { code } = this.#markup;
    if (start >= end || code.length >= MAX_CODE) return;
    const own = this.text.slice(start, end);
    const isName = isEvent && own.length < MAX_FUNCTION_NAME && FUNCTION_NAME.test(own);
    if (isName || CALLING.test(own))
      code.push({
        start: start + this.#offset,
        end: end + this.#offset,
        is: isName ? "handler" : "expression",
      });
  }

  addUsed(start: number, end: number): void {
    const { code } = this.#markup;
    if (code.length >= MAX_CODE || end - start > MAX_USED_NAME || !USED_NAME.test(this.text.slice(start, end))) return;
    code.push({ start: start + this.#offset, end: end + this.#offset, is: "name" });
  }

  addNames(start: number, end: number): void {
    const { names } = this.#markup;
    for (const [name] of this.text.slice(start, end).matchAll(NAME)) if (names.size < MAX_NAMES) names.add(name);
  }
}

/** `{{ … }}` and the values of directives. */
function readVue(part: Part): void {
  const { text } = part;
  const next = /\{\{|<(?:!--|(?=[a-z]))/gi;
  for (let found = next.exec(text); found; found = next.exec(text)) {
    const at = next.lastIndex;
    if (found[0] === "{{") {
      const close = find(part.text, "}}", at);
      if (close === text.length) return;
      part.addCode(at, close);
      next.lastIndex = close + 2;
    } else next.lastIndex = found[0] === "<" ? readTag(part, at) : find(part.text, "-->", at);
  }
}

/** Reads the attributes of a tag. Returns where it ends. */
function readTag(part: Part, start: number): number {
  const { text } = part;
  let at = skip(text, start, /[^\s/>]*/y);
  if (COMPONENT_TAG.test(text.slice(start, Math.min(at, start + MAX_USED_NAME)))) part.addUsed(start, at);
  for (;;) {
    at = skip(text, at, /[\s/]*/y);
    if (at >= text.length || text[at] === ">") return at;
    const name = text.slice(at, (at = skip(text, at + 1, /[^\s/>=]*/y)));
    const value = skip(text, at, /\s*/y);
    if (text[value] !== "=") continue;
    const from = skip(text, value + 1, /\s*/y);
    const quote = text[from];
    if (quote !== '"' && quote !== "'") {
      at = skip(text, from, /[^\s>]*/y);
      continue;
    }
    const to = find(part.text, quote, from + 1);
    if (/^(?::|v-bind:)is$/.test(name)) part.addUsed(from + 1, to);
    directive(part, name, from + 1, to);
    at = to + 1;
  }
}

/** An attribute of Vue: `:of="…"`, `@event="…"`, `v-for="(item, i) in items"`, `#slot="{ item }"`. */
function directive(part: Part, name: string, start: number, end: number): void {
  if (name.startsWith("#") || name.startsWith("v-slot")) part.addNames(start, end);
  else if (name === "v-for") {
    const separator = /\s(?:in|of)\s/.exec(part.text.slice(start, end));
    if (!separator) return;
    part.addNames(start, start + separator.index);
    part.addCode(start + separator.index + separator[0].length, end);
  } else if (/^(?::|@|v-)/.test(name)) part.addCode(start, end, /^(?:@|v-on:)/.test(name));
}

/** `{…}`, wherever it stands. Svelte's blocks are what no expression of Astro begins with. */
function readSvelte(part: Part): void {
  const { text } = part;
  const next = /\{|\slet:([\w$]+)|<!--|(?:<|\sthis=\{)(?=[A-Z])|\s(?:use|transition|in|out|animate):(?=[\w$])/g;
  for (let found = next.exec(text); found; found = next.exec(text)) {
    const at = next.lastIndex;
    const [mark, name] = found;
    if (name === undefined && mark !== "{" && mark !== "<!--") {
      next.lastIndex = skip(text, at, /[\w$.]*/y);
      part.addUsed(at, next.lastIndex);
    } else if (name !== undefined) part.addNames(at - name.length, at);
    else if (mark === "{") {
      const close = closingBrace(text, at);
      if (close === undefined) continue;
      svelteTag(part, at, close);
      next.lastIndex = close + 1;
    } else next.lastIndex = find(part.text, "-->", at);
  }
}

/** What stands between braces: an expression, a block such as `{#each items as item}`, or a tag such as `{@html text}`. */
function svelteTag(part: Part, start: number, end: number): void {
  const content = part.text.slice(start, end);
  const [head = ""] = /^\s*(?:[#:@/][a-z]+(?:\s+if\b)?|\.{3})?/.exec(content) ?? [];
  const from = start + head.length;
  const [word = ""] = head.trim().split(/\s+/);
  switch (word) {
    case "#each":
    case "#await": {
      const separator = /\s(?:as|then|catch)(?=\s|$)/.exec(content);
      const split = separator ? start + separator.index : end;
      part.addCode(from, split);
      const key = keyOf(part.text, split, end);
      part.addNames(split + SEPARATOR_CHARACTERS, key ? key.start - 1 : end);
      if (key) part.addCode(key.start, key.end);
      return;
    }
    case "@const": {
      const split = find(part.text, "=", from);
      part.addNames(from, Math.min(split, end));
      part.addCode(split + 1, end);
      return;
    }
    case ":then":
    case ":catch":
    case "#snippet":
      part.addNames(from, end);
      return;
    default:
      if (!/^[:/](?!else)|^@debug/.test(word))
        part.addCode(from, end, EVENT.test(part.text.slice(Math.max(0, start - 1 - MAX_EVENT), start - 1)));
  }
}

/** A space and the shortest word that stands between a value and the names for it. */
const SEPARATOR_CHARACTERS = " as".length;

/** What stands in parentheses at the end: the key of a loop, `items as item (item.id)`. */
function keyOf(text: string, start: number, end: number): Span | undefined {
  const last = start + text.slice(start, end).trimEnd().length - 1;
  let depth = 0;
  for (let at = last; at > start && text[last] === ")"; at--) {
    if (text[at] === ")") depth++;
    else if (text[at] === "(" && --depth === 0) return { start: at + 1, end: last };
  }
  return undefined;
}

/** Where the brace that stands before `start` is closed; undefined if it is not, or after more levels than anyone writes. */
function closingBrace(text: string, start: number): number | undefined {
  const open: string[] = [];
  const next = /[{}`\\'"]|\/\*/g;
  next.lastIndex = start;
  for (let found = next.exec(text); found; found = next.exec(text)) {
    const [mark] = found;
    const isTemplate = open.at(-1) === "`";
    if (mark === "\\") next.lastIndex++;
    else if (isTemplate) {
      if (mark === "`") open.pop();
      else if (mark === "{" && text[found.index - 1] === "$") open.push(mark);
    } else if (mark === "}") {
      if (open.length === 0) return found.index;
      open.pop();
    } else if (mark === "{" || mark === "`") open.push(mark);
    else next.lastIndex = mark === "/*" ? endOf(text, "*/", next.lastIndex) : endOfString(text, mark, next.lastIndex);
    if (open.length > MAX_DEPTH) return undefined;
  }
  return undefined;
}

function endOf(text: string, sought: string, from: number): number {
  const at = text.indexOf(sought, from);
  return at < 0 ? text.length : at + sought.length;
}

/** The end of a string that has begun before `from`; `from` itself where its line has no second quote, as after an apostrophe in a text. */
function endOfString(text: string, quote: string, from: number): number {
  for (let at = from; at < text.length && text[at] !== "\n"; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === quote) return at + 1;
  }
  return from;
}
