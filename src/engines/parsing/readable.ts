import type { SyntaxResult } from "./engine.ts";
import { itemMacros, readMacros, withoutHeads } from "./item-macros.ts";
import type { LanguageId } from "./languages.ts";
import { GLUED } from "./levels.ts";
import type { SourceText } from "./source-text.ts";
import type { TriviumNode } from "./leading.ts";
import type { SyntaxTree } from "./syntax-node.ts";
import { behindQuoted } from "./yacc.ts";

/** Leaves out parts of a text behind which its grammar finds no declarations although they are there. All characters keep their positions. */

const SPACE = 32;

interface ReadableParse {
  parsed: SyntaxResult;
  /** The text that was parsed. */
  units: Uint16Array;
  /** Rows that belong to the row before them, where a part that was left out is next to what it belongs to. */
  glued: number[];
  /** Attributes that were left out. */
  attributes: TriviumNode[];
}

/** Parses a text without such parts. The tree is that of the last call of `parse`. */
export function parseReadable(
  language: LanguageId,
  source: SourceText,
  units: Uint16Array,
  parse: (units: Uint16Array) => SyntaxResult,
): ReadableParse {
  if (language === "rust") return withoutItemMacros(source, units, parse);
  if (GRAMMAR_OF_C.has(language)) {
    const bare = withoutMacroComments(source, units);
    return { parsed: parse(bare), units: bare, glued: [], attributes: [] };
  }
  const parsed = parse(units);
  if (language === "typescript" && parsed.ok && parsed.tree.root.hasError) {
    const bare = withSignaturesApart(source, units);
    if (bare) return { parsed: parse(bare), units: bare, glued: [], attributes: [] };
  }
  const attributes = language === "kotlin" && parsed.ok ? strayAnnotations(parsed.tree) : [];
  if (attributes.length === 0) return { parsed, units, glued: [], attributes };
  const bare = units.slice();
  for (const { start, end } of attributes) bare.fill(SPACE, start, end);
  return { parsed: parse(bare), units: bare, glued: [], attributes };
}

/** A line that begins with type parameters. */
const TYPE_PARAMETERS = /^[ \t]{1,200}<(?:[\w$]|\r?$)/;
/** Where a member may end. */
const MEMBER_END = /[\w$'"\])}>]\r?$/;
/** A blank line, or one of a comment. */
const BLANK_OR_COMMENT = /^[ \t]{0,200}(?:\/\/|\/?\*|\r?$)/;
const MAX_LINE = 400;

/**
 * Puts a semicolon before call signatures that have type parameters, in files that end no members by one: the grammar takes `<T>(a: T): void` below
 * `(b: B): Promise<B>` for its type arguments. Undefined if there is none.
 */
function withSignaturesApart({ text }: SourceText, units: Uint16Array): Uint16Array | undefined {
  let bare: Uint16Array | undefined;
  let isOpen = false;
  for (let start = 0; start < text.length;) {
    const newline = text.indexOf("\n", start);
    const end = newline === -1 ? text.length : newline;
    const line = text.slice(start, Math.min(end, start + MAX_LINE));
    if (isOpen && TYPE_PARAMETERS.test(line)) {
      bare ??= units.slice();
      bare[start] = SEMICOLON;
    }
    if (!BLANK_OR_COMMENT.test(line)) isOpen = MEMBER_END.test(text.slice(Math.max(start, end - 2), end));
    start = end + 1;
  }
  return bare;
}

const SEMICOLON = 59;

const GRAMMAR_OF_C: ReadonlySet<LanguageId> = new Set<LanguageId>(["c", "cpp", "yacc", "lex"]);

/** Leaves out comments within macros of several lines: for the grammars of C and C++ a comment ends the macro. */
function withoutMacroComments({ text }: SourceText, units: Uint16Array): Uint16Array {
  let bare: Uint16Array | undefined;
  const continued = /\\\r?\n/g;
  for (let first = continued.exec(text); first !== null; first = continued.exec(text)) {
    const start = text.lastIndexOf("\n", first.index - 1) + 1;
    const end = endOfContinued(text, first.index);
    continued.lastIndex = end;
    if (!/^[ \t]{0,200}#/.test(text.slice(start, start + MAX_DIRECTIVE_START))) continue;
    for (const comment of commentsBetween(text, start, end)) {
      bare ??= units.slice();
      for (let at = comment.start; at < comment.end; at++) if (!isContinuation(text, at)) bare[at] = SPACE;
    }
  }
  return bare ?? units;
}

/** Characters in which a directive begins. */
const MAX_DIRECTIVE_START = 201;

/** Where the line ends on which the lines end that are continued from a position. */
function endOfContinued(text: string, from: number): number {
  let end = text.indexOf("\n", from);
  while (end !== -1 && (text[end - 1] === "\\" || (text[end - 1] === "\r" && text[end - 2] === "\\")))
    end = text.indexOf("\n", end + 1);
  return end === -1 ? text.length : end;
}

/** Whether a character is part of a line's end, the backslash before it included. */
const isContinuation = (text: string, at: number): boolean =>
  text[at] === "\n" || text[at] === "\r" || (text[at] === "\\" && /^\r?\n/.test(text.slice(at + 1, at + 3)));

/** Whole comments between two positions, outside of strings. */
function* commentsBetween(text: string, from: number, to: number): Generator<{ start: number; end: number }> {
  for (let at = from; at < to;) {
    if (text[at] === "/" && text[at + 1] === "*") {
      const length = text.slice(at + 2, to).indexOf("*/");
      if (length === -1) return;
      const end = at + length + 4;
      yield { start: at, end };
      at = end;
    } else at = behindQuoted(text, at, to);
  }
}

function withoutItemMacros(
  source: SourceText,
  units: Uint16Array,
  parse: (units: Uint16Array) => SyntaxResult,
): ReadableParse {
  const withoutAll = (macros: ReturnType<typeof itemMacros>): ReadableParse => {
    const bare = macros.length === 0 ? units : withoutHeads(macros, source, units);
    return {
      parsed: parse(bare),
      units: bare,
      glued: macros.flatMap(({ from, to }) => [from + 1, to]),
      attributes: [],
    };
  };
  const macros = itemMacros(source);
  const first = withoutAll(macros);
  if (macros.length === 0 || !first.parsed.ok || !first.parsed.tree.root.hasError) return first;
  // Some hold what only the macro can read.
  const read = readMacros(macros, first.parsed.tree);
  return read.length === macros.length ? first : withoutAll(read);
}

/** Where declarations of Kotlin stand, and no expressions do. */
const DECLARING: ReadonlySet<string> = new Set(["source_file", "class_body", "enum_class_body"]);
/** What the declarations below an annotation are taken for, also several of them together. */
const WITHIN_ONE: ReadonlySet<string> = new Set(["annotated_expression", "infix_expression", "assignment"]);
const MAX_LEVELS = 100;

/**
 * Annotations of which the grammar takes what follows for an expression: `@Marker` on the line before `annotation class A`, or `const val A = 1`.
 * Such an expression stands where declarations do, by itself or within what the grammar takes for one expression with it.
 */
function strayAnnotations(tree: SyntaxTree): TriviumNode[] {
  const { types } = tree.grammar;
  if (!types.includes("annotated_expression")) return [];
  const declaring = types.flatMap((type, i) => (DECLARING.has(type) ? [i] : []));
  const found: TriviumNode[] = [];
  // Down from the declarations: to ask each expression for what is around it would take the square of their number.
  let level = tree.nodesOf(declaring);
  for (let depth = 0; level.length > 0 && depth < MAX_LEVELS; depth++) {
    level = level.flatMap(({ namedChildren }) => namedChildren.filter(({ type }) => WITHIN_ONE.has(type)));
    for (const { type, namedChildren } of level)
      if (type === "annotated_expression")
        for (const child of namedChildren)
          if (child.type === "annotation") found.push({ start: child.start, end: child.end, text: child.text });
  }
  return found.sort((one, other) => one.start - other.start);
}

/** Keeps what was left out together with what it belongs to. */
export function glueRows(levels: Uint8Array, rows: readonly number[]): void {
  for (const row of rows) if (row < levels.length - 1) levels[row] = GLUED;
}
