/** Grammars of Yacc and Lex: where their code in C is, and the rules between. */

/** Positions in the text; the end is exclusive. */
interface Span {
  start: number;
  end: number;
}

/** A rule of Yacc: `name: …` up to its `;` or the next rule. */
export interface GrammarRule extends Span {
  name: string;
}

export interface GrammarFile {
  /** Code in C: the prologue, the actions of Yacc with their braces, and what follows the rules. */
  code: Span[];
  rules: GrammarRule[];
}

/** The line between the sections of a grammar. */
const DIVIDER = /^%%/gm;
/** Begins a rule of Yacc, at the start of a line. A name may be given to it in brackets. */
const RULE_NAME = /([A-Za-z_.][\w.-]{0,200})(?:\[[\w.-]{1,200}\])?/y;

/** The sections of a grammar; undefined if it is of another kind, or its code is not in C. */
export function readGrammar(text: string, language: "yacc" | "lex"): GrammarFile | undefined {
  DIVIDER.lastIndex = 0;
  const first = DIVIDER.exec(text)?.index;
  if (first === undefined) return undefined;
  const rulesStart = first + 2;
  const second = DIVIDER.exec(text)?.index ?? text.length;
  const prologue = prologueOf(text, first);
  if (prologue.some(({ start, end }) => /^\s{0,100}package \w/m.test(text.slice(start, end)))) return undefined;
  const read = language === "yacc" ? readRules(text, rulesStart, second) : { code: [], rules: [] };
  const epilogue = second < text.length ? [{ start: second + 2, end: text.length }] : [];
  return { code: [...prologue, ...read.code, ...epilogue], rules: read.rules };
}

/** What is between `%{` and `%}` before a position. */
function prologueOf(text: string, end: number): Span[] {
  const spans: Span[] = [];
  for (let open = text.indexOf("%{"); open !== -1 && open < end; open = text.indexOf("%{", open)) {
    const close = text.indexOf("%}", open);
    if (close === -1 || close > end) break;
    spans.push({ start: open + 2, end: close });
    open = close + 2;
  }
  return spans;
}

/** Reads the section of rules from a position to another, in one pass. */
function readRules(text: string, from: number, to: number): GrammarFile {
  const code: Span[] = [];
  const rules: GrammarRule[] = [];
  let open: GrammarRule | undefined;
  const close = (end: number) => {
    if (open) rules.push({ ...open, end });
    open = undefined;
  };
  let isLineStart = true;
  for (let at = from; at < to;) {
    const character = text[at] as string;
    if (character === "{") {
      const end = closingBrace(text, at, to);
      code.push({ start: at, end });
      at = end;
    } else if (character === ";") {
      close(++at);
    } else if (isLineStart && /[A-Za-z_.]/.test(character)) {
      const name = ruleNameAt(text, at, to);
      if (name !== undefined) {
        close(at);
        open = { name, start: at, end: to };
      }
      at = skipWord(text, at, to);
    } else {
      isLineStart = character === "\n" || (isLineStart && character === " ");
      at = skipOne(text, at, to);
      continue;
    }
    isLineStart = false;
  }
  close(to);
  return { code, rules };
}

/** The name of the rule that begins at a position: what stands before a colon, which may be on a later line. */
function ruleNameAt(text: string, at: number, to: number): string | undefined {
  RULE_NAME.lastIndex = at;
  const [, name] = RULE_NAME.exec(text) ?? [];
  if (name === undefined) return undefined;
  let end = RULE_NAME.lastIndex;
  while (end < to && /\s/.test(text[end] as string)) end++;
  return text[end] === ":" ? name : undefined;
}

function skipWord(text: string, at: number, to: number): number {
  let end = at;
  while (end < to && /[\w.-]/.test(text[end] as string)) end++;
  return Math.max(end, at + 1);
}

/** The position behind the brace that closes the one at a position, or the end. */
function closingBrace(text: string, at: number, to: number): number {
  let depth = 0;
  for (let position = at; position < to; position = skipOne(text, position, to)) {
    if (text[position] === "{") depth++;
    else if (text[position] === "}" && --depth === 0) return position + 1;
  }
  return to;
}

/** The position behind a comment, a string or a character in quotes, or of the next character. */
function skipOne(text: string, at: number, to: number): number {
  const character = text[at];
  if (character === "/" && text[at + 1] === "*") return behind(text, "*/", at + 2, to);
  if (character === "/" && text[at + 1] === "/") return behind(text, "\n", at + 2, to);
  return behindQuoted(text, at, to);
}

/** The position behind a string or a character in quotes of C that begins at a position, else of the next character. */
export function behindQuoted(text: string, at: number, to: number): number {
  const character = text[at];
  if (character !== '"' && character !== "'") return at + 1;
  for (let end = at + 1; end < to && text[end] !== "\n"; end++) {
    if (text[end] === "\\") end++;
    else if (text[end] === character) return end + 1;
  }
  return at + 1;
}

function behind(text: string, wanted: string, from: number, to: number): number {
  const found = text.indexOf(wanted, from);
  return found === -1 || found >= to ? to : found + wanted.length;
}

/** `$$`, `$1`, `$<type>1`, `$[name]`, `@$` and the like, which stand for values in an action. */
const VALUE = /[$@](?:<\w{1,100}>)?(?:\$|-?\d{1,5}|\[[\w.-]{1,200}\])/g;

/** Writes identifiers of the same length over what is no C in the actions. `units` are those of the text. */
export function blankValues(text: string, spans: readonly Span[], units: Uint16Array): void {
  for (const { start, end } of spans)
    for (const { index, 0: value } of text.slice(start, end).matchAll(VALUE))
      units.fill("_".charCodeAt(0), start + index, start + index + value.length);
}
