/** The PHP in templates of Blade: `{{ … }}`, `{!! … !!}`, arguments of directives such as `@if (…)`, `@php … @endphp`, and bound attributes of components. */
import { wordSet } from "../../lib/word-set.ts";
import { blankOf, endStatement, NEWLINE, SEMICOLON } from "./statements.ts";

/** `<?` */
const OPEN_TAG = [60, 63];
const COMMA = 44;
const OPEN_LIST = 91;
const CLOSE_LIST = 93;

/** At-rules of styles. */
const OF_STYLES = wordSet("media supports import container layer page namespace counter property scope");
/** Arguments of a directive and values of an attribute are looked for in so many characters. */
const MAX_ARGUMENTS = 10_000;
const MAX_VALUE = 2_000;
/** Unclosed directives after which reading stops: an e-mail address in a text may look like one. */
const MAX_UNCLOSED = 100;
/** Attributes of a tag. */
const MAX_ATTRIBUTES = 100;

/** The PHP of a template as a program: offsets and rows are as they are, the rest is blank, and each part is a statement. */
export function phpOf(text: string, units: Uint16Array): Uint16Array {
  const program = blankOf(units);
  // The mark of the first code, which has two characters or more, has room for what makes it a program.
  const room = text.search(/[^\n]{2}/);
  if (room < 0) return program;
  program.set(OPEN_TAG, room);
  const add = (start: number, end: number): void => {
    if (start >= end) return;
    program.set(units.subarray(start, end), start);
    endStatement(program, end, [SEMICOLON]);
  };
  // What begins code, and what hides it. A sign `@` before braces makes text of them.
  const opening =
    /@?\{\{(?:--)?|@?\{!!|<\?(?:php\b|=)?|(?<![\w@])@([a-z]\w*)(?:[ \t]{0,20}(\())?|<x[-:][\w.:-]{1,200}/gi;
  let unclosed = 0;
  for (let found = opening.exec(text); found; found = opening.exec(text)) {
    const [mark, name, parenthesis] = found;
    const start = opening.lastIndex;
    if (mark.startsWith("<x")) {
      boundAttributes(text, start, add);
      continue;
    }
    if (name !== undefined && parenthesis !== undefined) {
      if (OF_STYLES.has(name)) continue;
      const close = closing(text, start);
      if (close === undefined) {
        if (++unclosed > MAX_UNCLOSED) break;
        continue;
      }
      directive(text, program, start, close);
      opening.lastIndex = close;
      continue;
    }
    const end = name === undefined ? ENDS[mark.replace("@", "").toLowerCase()] : BLOCKS[name];
    if (end === undefined) continue;
    const close = text.indexOf(end, start);
    // What begins such a part later does not end either.
    if (close < 0) break;
    if (!mark.startsWith("@{") && mark !== "{{--" && name !== "verbatim") add(start, close);
    opening.lastIndex = close + end.length;
  }
  return program;
}

const ENDS: Readonly<Record<string, string>> = {
  "{{": "}}",
  "{{--": "--}}",
  "{!!": "!!}",
  "<?": "?>",
  "<?=": "?>",
  "<?php": "?>",
};
const BLOCKS: Readonly<Record<string, string>> = { php: "@endphp", verbatim: "@endverbatim" };

/** Writes what a directive is given as a list: that is a statement whatever it has. Of a loop only what it goes through counts. */
function directive(text: string, program: Uint16Array, start: number, close: number): void {
  const given = text.slice(start, close);
  const as = /\sas\s+[$[&]/.exec(given);
  const end = as ? start + as.index : close;
  for (let at = start; at < end; at++) {
    const unit = text.charCodeAt(at);
    if (unit !== NEWLINE) program[at] = unit === SEMICOLON ? COMMA : unit;
  }
  program[start - 1] = OPEN_LIST;
  program[close] = CLOSE_LIST;
  endStatement(program, close + 1, [SEMICOLON]);
}

/** The parenthesis that ends arguments; those in strings do not count. */
function closing(text: string, start: number): number | undefined {
  let depth = 1;
  const most = Math.min(text.length, start + MAX_ARGUMENTS);
  for (let at = start; at < most; at++) {
    const character = text[at];
    if (character === "(") depth++;
    else if (character === ")" && --depth === 0) return at;
    else if (character === '"' || character === "'") {
      at++;
      while (at < most && text[at] !== character) at += text[at] === "\\" ? 2 : 1;
    }
  }
  return undefined;
}

/** Values of the attributes of a component that are PHP: `<x-alert :type="$type">`. */
function boundAttributes(text: string, start: number, add: (start: number, end: number) => void): void {
  // The name of an attribute whose value is PHP, `:of="`, or of any other; else the end of the tag.
  const attribute = /[^"'<>]*?(?:(?<![\w:]):([\w.-]+)|[\w.:@-])\s*=\s*(["'])|[^"'<>]*>?/y;
  let at = start;
  for (let left = MAX_ATTRIBUTES; left > 0; left--) {
    attribute.lastIndex = at;
    const [, name, quote] = attribute.exec(text.slice(0, at + MAX_VALUE)) ?? [];
    if (quote === undefined) return;
    const from = attribute.lastIndex;
    const length = text.slice(from, from + MAX_VALUE).indexOf(quote);
    if (length < 0) return;
    if (name !== undefined) add(from, from + length);
    at = from + length + 1;
  }
}
