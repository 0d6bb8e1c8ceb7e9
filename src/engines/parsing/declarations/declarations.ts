import { commentsOf, type Comments } from "../comments.ts";
import type { SourceText } from "../source-text.ts";
import { matched, OutlineBuilder } from "../structure/outline-builder.ts";
import type { Outline, SymbolKind } from "../types.ts";
import { BUILDS } from "./builds.ts";
import { COMPILED } from "./compiled.ts";
import { FUNCTIONAL } from "./functional.ts";
import type { DeclarationRules } from "./rules.ts";
import { SCHEMAS } from "./schemas.ts";
import { SCRIPTS } from "./scripts.ts";
import { columnsOf, tabColumns } from "./tabs.ts";

/** Kinds whose bodies have declarations of their own; those within other kinds are local. */
const CONTAINERS: ReadonlySet<SymbolKind> = new Set<SymbolKind>([
  "module",
  "namespace",
  "class",
  "interface",
  "struct",
  "enum",
  "trait",
  "object",
  "extension",
]);
/** Kinds whose functions are methods. */
const IN_TYPES: ReadonlySet<SymbolKind> = new Set(
  [...CONTAINERS].filter((kind) => kind !== "module" && kind !== "namespace"),
);
/** Lines that belong to what begins at the same indentation: brackets, and words around a body. */
const BODY = /^(?:\{|(?:begin|do|then|where|is|var|contains|rescue|ensure)\b)/i;
const CLOSING =
  /^(?:[\]}]|[.%]endm(?:acro)?\b|(?:endm|end|end ?(?:module|function|task|class|package|interface|program|if|do|subroutine|type|macro|foreach|method|form)|done)\b)/i;
/** Maximum lines of a multi-line text, and of a declaration whose name is on its last line. */
const MAX_TEXT_LINES = 1_000;
/** Maximum lines of a file that are scanned for ends of texts without finding one. */
const MAX_SCANNED_LINES = 50_000;
/** Maximum lines of the head of a declaration. */
const MAX_HEAD_LINES = 20;
/** Indentation of a section, which lines without any do not end. */
const SECTION = -1;

interface Open {
  /** In the builder; null once there are too many. */
  index: number | null;
  name: string;
  kind: SymbolKind;
  indent: number;
  /** Indentation of the first line in it. */
  inner?: number;
  /** Functions below are part of it: a `contains` was read. */
  hasInner?: boolean;
  /** It has one line: a closing word below it closes what is around. */
  isSingle?: boolean;
}

/** What the first line of a declaration says. */
interface Head extends Pick<Open, "name" | "kind" | "indent"> {
  signature: string;
}

const RULES: Readonly<Record<string, DeclarationRules>> = {
  ...SCHEMAS,
  ...BUILDS,
  ...FUNCTIONAL,
  ...COMPILED,
  ...SCRIPTS,
};

/**
 * Declarations of a language without a grammar here, found line by line. A declaration reaches as far as the lines below it are indented
 * deeper, with the line that closes it.
 */
export function declarationOutline(language: string, source: SourceText): Outline {
  const rules = RULES[language];
  if (!rules) throw new RangeError(`There are no rules for declarations of "${language}".`);
  return new DeclarationReader(rules, commentsOf(language), source).read();
}

class DeclarationReader {
  readonly #rules: DeclarationRules;
  readonly #comments: Comments;
  readonly #source: SourceText;
  readonly #builder: OutlineBuilder;
  readonly #open: Open[] = [];
  /** Determined at the first tab: most files have none. */
  #tab: number | undefined;
  /** Last row that is neither blank nor a comment. */
  #last = 0;
  /** Closing mark of the comment that is open. */
  #closing: string | undefined;
  /** Lines that were scanned for the end of a text without finding one. */
  #scanned = 0;

  constructor(rules: DeclarationRules, comments: Comments, source: SourceText) {
    this.#rules = rules;
    this.#comments = comments;
    this.#source = source;
    this.#builder = new OutlineBuilder(source);
  }

  read(): Outline {
    const { lineCount } = this.#source;
    for (let row = 0; row < lineCount; row++) {
      // A byte order mark is not indentation.
      const whole = row === 0 ? this.#source.line(row).replace(/^\u{FEFF}/u, "") : this.#source.line(row);
      const line = matched(whole);
      const content = line.trimStart();
      // Where a comment ends is looked for beyond what is matched: a line of exports or of data may be longer.
      if (content === "" || this.#isComment(whole)) continue;
      if (content === line && this.#rules.begins?.test(line) === false) continue;
      this.#line(row, line, content, this.#indent(line));
      row = this.#endOfText(row, whole) ?? row;
      this.#last = row;
    }
    this.#closeAll(SECTION - 1);
    return this.#builder.finish();
  }

  /** Columns before the first character of a line. */
  #indent(line: string): number {
    const indentation = line.slice(0, line.length - line.trimStart().length);
    if (!indentation.includes("\t")) return indentation.length;
    return columnsOf(indentation, (this.#tab ??= tabColumns(this.#source)));
  }

  #line(row: number, line: string, content: string, indent: number): void {
    if (this.#rules.closing) {
      this.#closedByWords(row, line, indent, this.#rules.closing);
      return;
    }
    if (this.#rules.section?.end?.test(line)) {
      this.#closeAll(SECTION);
      this.#endInnermost(row);
      return;
    }
    if (content.startsWith(")")) {
      // Closes a parameter list; a body may follow.
      this.#closeAll(indent);
      if (this.#open.at(-1)?.indent === indent) return;
    }
    const inner = this.#open.at(-1);
    if (inner?.indent === indent && (this.#isBody(line, content) || this.#isClause(inner, content))) return;
    if (inner && CLOSING.test(content) && inner.indent >= indent) {
      // The line that closes it is its last one.
      this.#closeAll(indent);
      const isSingle = this.#open.at(-1)?.isSingle === true;
      if (isSingle) this.#endInnermost(this.#last);
      // Behind a declaration of one line, it closes the section around.
      const closed = this.#open.at(-1)?.indent;
      if (closed === indent || (isSingle && closed === SECTION)) this.#endInnermost(row);
      return;
    }
    this.#closeAll(indent - 1);
    const around = this.#open.at(-1);
    if (around && !CONTAINERS.has(around.kind)) return;
    if (around) around.inner ??= indent;
    if (this.#declareToEnd(row, line, indent)) return;
    this.#declare(row, this.#withNext(row, line, indent), indent);
  }

  /** As `#line`, in a language whose declarations end with words: bodies need not be indented. */
  #closedByWords(row: number, line: string, indent: number, closing: NonNullable<DeclarationRules["closing"]>): void {
    const [, kinds] = closing.ends.find(([pattern]) => pattern.test(line)) ?? [];
    if (kinds) {
      const at = this.#open.findLastIndex(({ kind }) => kinds.includes(kind));
      const ended = at < 0 ? 0 : this.#open.length - at;
      for (let i = 0; i < ended; i++) this.#endInnermost(row);
      return;
    }
    const around = this.#open.at(-1);
    if (!around || CONTAINERS.has(around.kind)) {
      if (around?.kind !== "interface" || !closing.named.test(line)) this.#declare(row, line, indent);
      return;
    }
    around.hasInner ||= closing.inner.test(line);
    if (!this.#rules.patterns.some(([pattern, kind]) => kind === "function" && pattern.test(line))) return;
    if (around.hasInner) this.#declare(row, line, indent);
    else if (indent <= around.indent) {
      // Its end is missing.
      this.#endInnermost(this.#last);
      this.#closedByWords(row, line, indent, closing);
    }
  }

  /** Adds a declaration whose name is on its closing line, the first that is indented no deeper. Returns whether one was added. */
  #declareToEnd(row: number, line: string, indent: number): boolean {
    const { namedAtEnd, begins } = this.#rules;
    if (!namedAtEnd?.begins.test(line)) return false;
    const end = Math.min(this.#source.lineCount, row + MAX_TEXT_LINES);
    for (let next = row + 1; next < end; next++) {
      const below = matched(this.#source.line(next));
      const content = below.trimStart();
      if (content === "" || this.#indent(below) > indent || content.startsWith("{")) continue;
      if (this.#comments.line.test(below) || begins?.test(below) === false) continue;
      const name = namedAtEnd.ends.exec(below)?.[1];
      if (name !== undefined)
        this.#add(row, { name, kind: namedAtEnd.kind, indent, signature: `${line} ${content.charAt(0)} ${name}` });
      return name !== undefined;
    }
    return false;
  }

  /** A line joined with those that continue its head, up to `=` or `where`, or with those of its parameters. */
  #withNext(row: number, line: string, indent: number): string {
    const { goesOn, opens } = this.#rules;
    if (!goesOn) return opens?.test(line) === true ? matched(this.#withParameters(row, line)) : line;
    const isOpen = opens?.test(line) === true;
    const parts = [line.trimEnd()];
    const end = Math.min(this.#source.lineCount, row + MAX_HEAD_LINES);
    for (let next = row + 1; next < end; next++) {
      const below = matched(this.#source.line(next));
      const content = below.trim();
      if (isOpen && (content === "" || (this.#comments.line.test(below) && !goesOn.test(content)))) continue;
      const isBelow = this.#indent(below) > indent;
      if (!isBelow || (parts.length === 1 && !isOpen && !goesOn.test(content))) break;
      parts.push(content);
      if (/(?:^|\s)(?:=|where)(?:\s|$)/.test(content)) break;
    }
    return matched(parts.join(" "));
  }

  /** A line joined with those that its parameter list spans. */
  #withParameters(row: number, line: string): string {
    const { parameters = /[(,]\s*$/ } = this.#rules;
    const parts = [line];
    const end = Math.min(this.#source.lineCount, row + MAX_HEAD_LINES);
    for (let next = row + 1; next < end; next++) {
      const content = matched(this.#source.line(next)).trim();
      const isPart = parameters.test(parts.at(-1) ?? "") || (parts.length > 1 && content.startsWith(")"));
      if (!isPart) break;
      parts.push(content);
    }
    return parts.join(" ");
  }

  /** Whether a line belongs to a declaration at the same indentation: `var` begins a declaration in some languages, part of one in Pascal. */
  #isBody(line: string, content: string): boolean {
    const { body, hasOwnBraces = false } = this.#rules;
    if (hasOwnBraces && content.startsWith("{")) return false;
    return (
      (BODY.test(content) || body?.test(content) === true) &&
      !this.#rules.patterns.some(([pattern]) => pattern.test(line))
    );
  }

  /** Whether a line is a further clause of a declaration. */
  #isClause({ name, kind }: Open, content: string): boolean {
    if (this.#rules.clauses?.test(matched(this.#source.line(this.#last))) !== true) return false;
    return (
      (kind === "function" || kind === "method") && beginsWith(content, name) && content.charAt(name.length) !== "'"
    );
  }

  /** Ends what is indented deeper than `indent`. */
  #closeAll(indent: number): void {
    while ((this.#open.at(-1)?.indent ?? indent) > indent) this.#endInnermost(this.#last);
  }

  #endInnermost(row: number): void {
    const index = this.#open.pop()?.index;
    const symbol = index === undefined || index === null ? undefined : this.#builder.symbols[index];
    if (!symbol) return;
    symbol.endRow = Math.max(row, symbol.startRow);
    symbol.end = Math.max(this.#source.contentEnd(symbol.endRow), symbol.start);
  }

  #declare(row: number, line: string, indent: number): void {
    const around = this.#open.at(-1);
    const { patterns, members = [] } = this.#rules;
    for (const [pattern, kind] of around?.inner === indent ? [...members, ...patterns] : patterns) {
      const found = pattern.exec(line);
      if (!found) continue;
      this.#add(row, {
        name: found.slice(1).filter(Boolean).join("."),
        kind,
        indent,
        signature: kind === "function" ? this.#withParameters(row, line) : line,
      });
      return;
    }
  }

  #add(row: number, { name, kind, indent, signature }: Head): void {
    const { section, separator = "." } = this.#rules;
    const isSection = section?.kinds.includes(kind) === true;
    if (isSection) this.#closeAll(SECTION - 1);
    const { leadRow, doc } = this.#builder.commentAbove(row, this.#comments.line);
    const container = this.#open.at(-1);
    const index = this.#builder.add({
      kind: kind === "function" && container && IN_TYPES.has(container.kind) ? "method" : kind,
      name,
      startRow: row,
      endRow: row,
      parent: container?.index ?? null,
      separator,
      signature,
      doc,
      leadRow,
    });
    const isSingle = this.#rules.single?.test(signature) === true;
    this.#open.push({ index, name, kind, indent: isSection ? SECTION : indent, isSingle });
  }

  /** Last row of a multi-line text that begins on a row; undefined if none begins there, or if it has no end. */
  #endOfText(row: number, line: string): number | undefined {
    const { texts = [], heredoc } = this.#rules;
    const mark = texts.find((each) => line.split(each).length % 2 === 0);
    const closing = mark === undefined && heredoc ? heredoc[0].exec(matched(line))?.[0].replace(...heredoc) : undefined;
    if ((mark === undefined && closing === undefined) || this.#scanned > MAX_SCANNED_LINES) return undefined;
    const end = Math.min(this.#source.lineCount, row + MAX_TEXT_LINES);
    for (let next = row + 1; next < end; next++) {
      const below = this.#source.line(next);
      if (mark === undefined ? beginsWith(below.trimStart(), closing ?? "") : below.includes(mark)) return next;
    }
    this.#scanned += end - row;
    return undefined;
  }

  /** Whether a line is a comment, begins with one, or is within one. */
  #isComment(line: string): boolean {
    if (this.#closing !== undefined) {
      if (line.includes(this.#closing)) this.#closing = undefined;
      return true;
    }
    const content = line.trimStart();
    const isLine = this.#comments.line.test(line);
    for (const { found, closing } of this.#comments.blocks) {
      const opening = found.exec(content);
      if (!opening || (isLine && opening.index > 0)) continue;
      if (isInText(content.slice(0, opening.index), this.#rules.quote ?? '"')) continue;
      if (!content.includes(closing, opening.index + opening[0].length)) this.#closing = closing;
      break;
    }
    return isLine;
  }
}

/** Whether a text of one line is open behind `before`. */
function isInText(before: string, quote: string): boolean {
  return before.split(quote).length % 2 === 0;
}

/** Whether a line begins with a word or mark, and not with a longer word. */
function beginsWith(content: string, start: string): boolean {
  return content.startsWith(start) && !/^\w/.test(content.slice(start.length));
}
